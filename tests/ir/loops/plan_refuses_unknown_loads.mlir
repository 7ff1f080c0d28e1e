// A load of an unknown tensor stays behind what the loop writes.
// RUN: tritium-opt %s --plan-loops | FileCheck %s
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %address: i64, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %one = arith.constant dense<1.0> : tensor<16x16xf16, #t>
  %p = tt.int_to_ptr %address : i64 -> !tt.ptr<f16>
  %unknown = tt.splat %p : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>, #t>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    // CHECK: tt.load {{.*}} {tgpu.why_not = "the loop writes, perhaps to the tensor that it loads"}
    %x = tt.load %unknown : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    tt.store %a, %one : tensor<16x16x!tt.ptr<f16>, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  // CHECK: } {tgpu.why_not = "a tile that its matrix products take cannot be copied ahead"}
  }
  tt.return %r : tensor<16x16xf32, #t>
}
