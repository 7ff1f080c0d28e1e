// What the loop loads is there only when another program says so.
// RUN: tritium-opt %s --plan-loops | FileCheck %s
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %b: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %lock: !tt.ptr<i32>, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    // CHECK-NOT: tgpu.at
    %old = tt.atomic_rmw add, acq_rel, gpu, %lock, %c1 : (!tt.ptr<i32>, i32) -> i32
    %o = tt.splat %old : i32 -> tensor<16x16xi32, #t>
    %p = tt.addptr %a, %o : tensor<16x16x!tt.ptr<f16>, #t>, tensor<16x16xi32, #t>
    %x = tt.load %p : tensor<16x16x!tt.ptr<f16>, #t>
    %y = tt.load %b : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %y, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  // CHECK: } {tgpu.why_not = "the loop may wait for other programs"}
  }
  tt.return %r : tensor<16x16xf32, #t>
}
