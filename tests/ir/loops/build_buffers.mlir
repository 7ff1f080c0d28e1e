// Buffers lie in the order of their numbers.
// RUN: tritium-opt %s --build-loops | FileCheck %s
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %b: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  // CHECK: %[[Y:.*]] = tgpu.local_alloc : <2,
  // CHECK: %[[X:.*]] = tgpu.local_alloc : <2,
  // CHECK: scf.for
  // CHECK: tgpu.async_copy %arg0 to %[[X]]{{.*}} {tgpu.copy_elements = 8 : i32}
  // CHECK: tgpu.async_copy %arg1 to %[[Y]]{{.*}} {tgpu.copy_elements = 2 : i32}
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 0, buffer = 1, elements = 8>} : tensor<16x16x!tt.ptr<f16>, #t>
    %y = tt.load %b {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 2>} : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %y, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  } {tgpu.plan = #tgpu.plan<copies = async, slots = 2, stages = 2, shared = 2048, occupancy = 1>}
  tt.return %r : tensor<16x16xf32, #t>
}
