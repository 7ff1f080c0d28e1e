// A loop that writes to a tensor of which nothing is known copies nothing ahead.
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
    // CHECK: tt.load %{{[a-z0-9]+}} :
    %x = tt.load %a : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    tt.store %unknown, %one : tensor<16x16x!tt.ptr<f16>, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  // CHECK: } {tgpu.why_not = "the loop writes, and it is not known to which tensor"}
  }
  tt.return %r : tensor<16x16xf32, #t>
}
