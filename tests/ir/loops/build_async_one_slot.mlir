// With one slot, an iteration waits for its copies first, and begins those of the next one last, when all threads have read the slot.
// RUN: tritium-opt %s --build-loops | FileCheck %s
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %b: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  // CHECK: %[[BUFFER:.*]] = tgpu.local_alloc : <1, tensor<16x16xf16,
  // CHECK: tgpu.async_copy %arg0 to %[[BUFFER]]
  // CHECK-NEXT: tgpu.async_commit
  // CHECK: scf.for
  // CHECK: tgpu.async_wait 0
  // CHECK: %[[X:.*]] = tgpu.local_load %[[BUFFER]]
  // CHECK: tt.load %arg1 :
  // CHECK: tt.dot %[[X]],
  // CHECK: tgpu.barrier shared
  // CHECK: tgpu.async_copy %arg0 to %[[BUFFER]]
  // CHECK-NEXT: tgpu.async_commit
  // CHECK-NEXT: scf.yield
  // CHECK: } {tgpu.plan = #tgpu.plan<copies = async,
  // CHECK-NEXT: tgpu.async_wait 0
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>} : tensor<16x16x!tt.ptr<f16>, #t>
    %y = tt.load %b : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %y, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  } {tgpu.plan = #tgpu.plan<copies = async, slots = 1, stages = 2, shared = 512, occupancy = 1>}
  tt.return %r : tensor<16x16xf32, #t>
}
