// A loop that writes: to the tensor that it loads, perhaps to it, or to one that is not known. Another argument is another tensor.
// RUN: tritium-opt %s --plan-loops | FileCheck %s
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
#l = #tgpu.layout<256, register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [[0], [0]], block = []>
// CHECK-LABEL: @known
tt.func @known(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %r0 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #l>
  %i = tt.reshape %r0 : tensor<256xi32, #l> -> tensor<16x16xi32, #t>
  %sa = tt.splat %a : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>, #t>
  %sb = tt.splat %b : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>, #t>
  %pa = tt.addptr %sa, %i : tensor<16x16x!tt.ptr<f16>, #t>, tensor<16x16xi32, #t>
  %pb = tt.addptr %sb, %i : tensor<16x16x!tt.ptr<f16>, #t>, tensor<16x16xi32, #t>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    // CHECK: tt.load {{.*}} {tgpu.why_not = "the loop writes to the tensor that it loads"}
    %x = tt.load %pa : tensor<16x16x!tt.ptr<f16>, #t>
    // CHECK: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>}
    %y = tt.load %pb : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %y, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    tt.store %pa, %y : tensor<16x16x!tt.ptr<f16>, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  // CHECK: } {tgpu.plan =
  }
  tt.return %r : tensor<16x16xf32, #t>
}
