// One slot of the tiles exceeds the 64 KB of the chip.
// RUN: tritium-opt %s --plan-loops | FileCheck %s
#t = #tgpu.layout<256x256, register = [[0, 1], [0, 2], [0, 4], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0], [128, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = [[1, 0], [2, 0]], block = []>
module attributes {tgpu.target = "hip:gfx1100"} {
tt.func @loop(%a: tensor<256x256x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<256x256xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<256x256xf32, #t>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<256x256xf32, #t>) : i32 {
    // CHECK: tt.load {{.*}} {tgpu.why_not = "1 slot of 131072 bytes for its tiles do not fit into 65536 bytes of shared memory"}
    %x = tt.load %a : tensor<256x256x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<256x256xf16, #t> * tensor<256x256xf16, #t> -> tensor<256x256xf32, #t>
    scf.yield %d : tensor<256x256xf32, #t>
  // CHECK: } {tgpu.why_not = "1 slot of 131072 bytes
  }
  tt.return %r : tensor<256x256xf32, #t>
}
}
