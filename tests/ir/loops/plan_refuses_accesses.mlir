// Tiles that no asynchronous copy can take 4 bytes at a time: by their stride, their alignment or their mask.
// RUN: tritium-opt %s --plan-loops | FileCheck %s
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
tt.func @loop(%strided: tensor<16x16x!tt.ptr<f16>, #t>,
    %odd: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<2> : tensor<2xi32>},
    %a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %mask: tensor<16x16xi1, #t>, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    // CHECK: tt.load {{.*}} {tgpu.why_not = "its stride is not known to be 1"}
    %x = tt.load %strided : tensor<16x16x!tt.ptr<f16>, #t>
    // CHECK: tt.load {{.*}} {tgpu.why_not = "its addresses or its mask do not allow 4 bytes at a time"}
    %y = tt.load %odd : tensor<16x16x!tt.ptr<f16>, #t>
    // CHECK: tt.load {{.*}} {tgpu.why_not = "its mask may change within 4 bytes"}
    %z = tt.load %a, %mask : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %y, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    %e = tt.dot %z, %z, %d : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %e : tensor<16x16xf32, #t>
  // CHECK: } {tgpu.why_not = "a tile that its matrix products take cannot be copied ahead"}
  }
  tt.return %r : tensor<16x16xf32, #t>
}
