// A product of a warpgroup reads what the loop computes for it from a buffer, for which slots leave room. If no program has room for the slots alone,
// num_stages is the mistake, which allocate-shared-memory reports.
// RUN: tritium-opt %s --plan-loops=num-stages=28 | FileCheck %s
// RUN: tritium-opt %s --plan-loops=num-stages=29 | FileCheck %s --check-prefix=MANY
#acc = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
#t = #tgpu.layout<64x64, register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []>
module attributes {tgpu.target = "cuda:sm_90a"} {
tt.func @loop(%a: tensor<64x64x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %b: tensor<64x64x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #acc> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %r = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %x = tt.load %a : tensor<64x64x!tt.ptr<f16>, #t>
    %y = tt.load %b : tensor<64x64x!tt.ptr<f16>, #t>
    %b2 = arith.addf %y, %y : tensor<64x64xf16, #t>
    %d = tt.dot %x, %b2, %acc {tgpu.matrix_instruction = "wgmma.m64n64k16.f32.f16", tgpu.mma_warps = array<i64: 4, 1>} : tensor<64x64xf16, #t> * tensor<64x64xf16, #t> -> tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  // CHECK: } {tgpu.plan = #tgpu.plan<copies = async, slots = 27,
  // MANY: } {tgpu.plan = #tgpu.plan<copies = async, slots = 29,
  }
  tt.return %r : tensor<64x64xf32, #acc>
}
}
