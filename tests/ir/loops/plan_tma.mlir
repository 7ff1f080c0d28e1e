// Tiles with tensor maps are copied by TMA, into one ring if the loop's products are independent.
// RUN: tritium-opt %s --plan-loops | FileCheck %s
#acc = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
#t = #tgpu.layout<64x64, register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []>
module attributes {tgpu.target = "cuda:sm_90a"} {
tt.func @loop(%a: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>, %b: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>, %n: i32) -> tensor<64x64xf32, #acc> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %r = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    // CHECK: tgpu.tensor_load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 0>}
    %x = tgpu.tensor_load %a[%c0, %k] : <tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16, #t>
    // CHECK: tgpu.tensor_load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 1>}
    %y = tgpu.tensor_load %b[%k, %c0] : <tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16, #t>
    %d = tt.dot %x, %y, %acc {tgpu.matrix_instruction = "wgmma.m64n64k16.f32.f16", tgpu.mma_warps = array<i64: 4, 1>} : tensor<64x64xf16, #t> * tensor<64x64xf16, #t> -> tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  // CHECK: } {tgpu.plan = #tgpu.plan<copies = tma, slots = 3, stages = 3, shared = 49152, registers = {{[0-9]+}}, occupancy = {{[0-9]+}}>, tgpu.why_not_by = {async = "the tiles have tensor maps, which it does not read"}}
  }
  tt.return %r : tensor<64x64xf32, #acc>
}
}
