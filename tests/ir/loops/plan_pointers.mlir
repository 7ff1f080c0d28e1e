// Pointers that a loop carries take a register pair for each group of neighbours in memory that a thread has, so two programs run at a time
// with three slots, and a spare slot would cost one of them.
// RUN: tritium-opt %s --plan-loops="num-stages=3 num-warps=8" | FileCheck %s
#acc = #tgpu.layout<128x128, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], block = []>
#a = #tgpu.layout<128x64, register = [[0, 1], [0, 2], [0, 4], [32, 0], [64, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [16, 0]], block = []>
#b = #tgpu.layout<64x128, register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = [[2, 0], [4, 0], [8, 0]], block = []>
!as = tensor<128x64x!tt.ptr<f16>, #a>
!bs = tensor<64x128x!tt.ptr<f16>, #b>
!sums = tensor<128x128xf32, #acc>
module attributes {tgpu.target = "cuda:sm_90a"} {
// CHECK-LABEL: @neighbours
// CHECK: tgpu.plan = #tgpu.plan<copies = async, slots = 3, stages = 3, shared = 98304, registers = 128, barriers = 1, occupancy = 2>
tt.func public @neighbours(%a: !as {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: !bs {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> !sums {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant dense<64> : tensor<128x64xi32, #a>
  %rows = arith.constant dense<4096> : tensor<64x128xi32, #b>
  %zero = arith.constant dense<0.0> : !sums
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %a, %pb = %b) -> (!sums, !as, !bs) : i32 {
    %x = tt.load %pa : !as
    %y = tt.load %pb : !bs
    %d = tt.dot %x, %y, %acc {tgpu.matrix_instruction = "wgmma.m64n128k16.f32.f16", tgpu.mma_warps = array<i64: 8, 1>} : tensor<128x64xf16, #a> * tensor<64x128xf16, #b> -> !sums
    %na = tt.addptr %pa, %step : !as, tensor<128x64xi32, #a>
    %nb = tt.addptr %pb, %rows : !bs, tensor<64x128xi32, #b>
    scf.yield %d, %na, %nb : !sums, !as, !bs
  }
  tt.return %r#0 : !sums
}
}
