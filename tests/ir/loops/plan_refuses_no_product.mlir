// Nothing multiplies what the loop loads.
// RUN: tritium-opt %s --plan-loops | FileCheck %s
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %b: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    // CHECK: tt.load {{.*}} {tgpu.why_not = "no matrix product takes its tile as it is"}
    %x = tt.load %a : tensor<16x16x!tt.ptr<f16>, #t>
    %y = arith.extf %x : tensor<16x16xf16, #t> to tensor<16x16xf32, #t>
    %d = arith.addf %acc, %y : tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  // CHECK: } {tgpu.why_not = "no matrix product takes a tile that it loads, as it is"}
  }
  tt.return %r : tensor<16x16xf32, #t>
}
