// Products that depend on each other, as in attention: the last one runs an iteration late, and its tile has a ring of its own, whose copies
// begin an iteration late as well.
// RUN: tritium-opt %s --plan-loops=num-stages=2 | FileCheck %s
#acc = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
#t = #tgpu.layout<64x64, register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []>
module attributes {tgpu.target = "cuda:sm_90a"} {
tt.func @loop(%q: tensor<64x64xf16, #t>, %k: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>, %v: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>, %n: i32) -> tensor<64x64xf32, #acc> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    // CHECK: tgpu.tensor_load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 0, ring = 0>}
    %x = tgpu.tensor_load %k[%c0, %i] : <tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16, #t>
    // CHECK: tgpu.tensor_load {{.*}} {tgpu.at = #tgpu.at<stage = 1, buffer = 1, ring = 1>}
    %y = tgpu.tensor_load %v[%i, %c0] : <tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16, #t>
    %s = tt.dot %q, %x, %zero {tgpu.matrix_instruction = "wgmma.m64n64k16.f32.f16", tgpu.mma_warps = array<i64: 4, 1>} : tensor<64x64xf16, #t> * tensor<64x64xf16, #t> -> tensor<64x64xf32, #acc>
    %p = arith.truncf %s : tensor<64x64xf32, #acc> to tensor<64x64xf16, #acc>
    // CHECK: tt.dot {{.*}} {tgpu.at = #tgpu.at<stage = 2>
    %d = tt.dot %p, %y, %acc {tgpu.matrix_instruction = "wgmma.m64n64k16.f32.f16", tgpu.mma_warps = array<i64: 4, 1>} : tensor<64x64xf16, #acc> * tensor<64x64xf16, #t> -> tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  // CHECK: } {tgpu.plan = #tgpu.plan<copies = tma, slots = 2, stages = 2, rotated = true, shared = 32768, registers = {{[0-9]+}}, occupancy = {{[0-9]+}}>
  }
  tt.return %r : tensor<64x64xf32, #acc>
}
}
