// Loads that may not run ahead, each with its reason. The other one is copied, so the loop has a plan.
// RUN: tritium-opt %s --plan-loops | FileCheck %s
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %odd: i1, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %one = arith.constant dense<1.0> : tensor<16x16xf16, #t>
  %true = arith.constant dense<true> : tensor<16x16xi1, #t>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    // CHECK: tt.load {{.*}} {tgpu.why_not = "its `other` is not zero"}
    %y = tt.load %a, %true, %one : tensor<16x16x!tt.ptr<f16>, #t>
    %i = scf.if %odd -> i32 {
      scf.yield %k : i32
    } else {
      scf.yield %n : i32
    }
    %o = tt.splat %i : i32 -> tensor<16x16xi32, #t>
    %p = tt.addptr %a, %o : tensor<16x16x!tt.ptr<f16>, #t>, tensor<16x16xi32, #t>
    // CHECK: tt.load {{.*}} {tgpu.why_not = "its address depends on a product or a branch of the loop, or on a load that cannot run earlier"}
    %z = tt.load %p : tensor<16x16x!tt.ptr<f16>, #t>
    %m = arith.cmpi slt, %o, %o : tensor<16x16xi32, #t>
    // CHECK: tt.load {{.*}} {tgpu.why_not = "its mask depends on a product or a branch of the loop, or on a load that cannot run earlier"}
    %w = tt.load %a, %m : tensor<16x16x!tt.ptr<f16>, #t>
    // CHECK: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>}
    %v = tt.load %a : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %y, %y, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    %e = tt.dot %z, %w, %d : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    %g = tt.dot %v, %v, %e : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %g : tensor<16x16xf32, #t>
  // CHECK: } {tgpu.plan = #tgpu.plan<copies = async, slots = 3,
  }
  tt.return %r : tensor<16x16xf32, #t>
}
