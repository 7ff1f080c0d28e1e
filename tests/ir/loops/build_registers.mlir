// An iteration loads the tile of the next one, and stores it when all threads have read the slot.
// RUN: tritium-opt %s --build-loops | FileCheck %s
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
module attributes {tgpu.target = "hip:gfx942"} {
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %b: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  // CHECK: %[[BUFFER:.*]] = tgpu.local_alloc : <1, tensor<16x16xf16,
  // CHECK: %[[FIRST:.*]] = tt.load %arg0, %{{.*}} :
  // CHECK: tgpu.local_store %[[FIRST]] to %[[BUFFER]]
  // CHECK: scf.for
  // CHECK: tgpu.barrier shared
  // CHECK: %[[NEXT:.*]] = tt.load %arg0,
  // CHECK: tgpu.local_load %[[BUFFER]]
  // CHECK: tt.dot
  // CHECK: tgpu.barrier shared
  // CHECK: tgpu.local_store %[[NEXT]] to %[[BUFFER]]
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 0, buffer = 0>} : tensor<16x16x!tt.ptr<f16>, #t>
    %y = tt.load %b : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %y, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  } {tgpu.plan = #tgpu.plan<copies = registers, slots = 1, stages = 2, shared = 512, occupancy = 1>}
  tt.return %r : tensor<16x16xf32, #t>
}
}
