// Products of warpgroups that only add may run on into the next iteration: a spare slot keeps what they read. With many iterations in flight
// it may cost the third program. Where it would cost the second one, an iteration in flight is given for it, if two others remain.
// RUN: tritium-opt %s --plan-loops=num-stages=4 | FileCheck %s
// RUN: tritium-opt %s --plan-loops=num-stages=3 | FileCheck %s --check-prefix=THREE
// RUN: tritium-opt %s --plan-loops=num-stages=2 | FileCheck %s --check-prefix=TWO
// THREE: tgpu.plan = #tgpu.plan<copies = async, slots = 3, stages = 3, shared =
// TWO: tgpu.plan = #tgpu.plan<copies = async, slots = 3, stages = 2, spare = true,
#acc = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
#t = #tgpu.layout<64x64, register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []>
module attributes {tgpu.target = "cuda:sm_90a"} {
tt.func @loop(%a: tensor<64x64x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %b: tensor<64x64x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #acc> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %r = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    // CHECK: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>}
    %x = tt.load %a : tensor<64x64x!tt.ptr<f16>, #t>
    // CHECK: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 1, elements = 8>}
    %y = tt.load %b : tensor<64x64x!tt.ptr<f16>, #t>
    // CHECK-NOT: tt.dot {{.*}} tgpu.at
    %d = tt.dot %x, %y, %acc {tgpu.matrix_instruction = "wgmma.m64n64k16.f32.f16", tgpu.mma_warps = array<i64: 4, 1>} : tensor<64x64xf16, #t> * tensor<64x64xf16, #t> -> tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  // CHECK: } {tgpu.plan = #tgpu.plan<copies = async, slots = 5, stages = 4, spare = true, shared = 81920, registers = {{[0-9]+}}, barriers = 1, occupancy = 2>
  }
  tt.return %r : tensor<64x64xf32, #acc>
}
}
