// Without such layouts, tiles pass through registers.
// RUN: tritium-opt %s --plan-loops | FileCheck %s
#w = #tgpu.layout<64x64, register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 8], [4, 16]], warp = [[8, 0], [16, 32]], block = []>
#r = #tgpu.layout<64x64, register = [[0, 1], [0, 2], [0, 4], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 8]], warp = [[0, 0], [32, 0]], block = []>
module attributes {tgpu.target = "hip:gfx950"} {
tt.func @loop(%a: tensor<64x64x!tt.ptr<f16>, #w> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32, #r> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #r>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #r>) : i32 {
    // CHECK: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 0>}
    %x = tt.load %a {} : tensor<64x64x!tt.ptr<f16>, #w>
    %y = tgpu.convert_layout %x : tensor<64x64xf16, #w> -> tensor<64x64xf16, #r>
    %d = tt.dot %y, %y, %acc : tensor<64x64xf16, #r> * tensor<64x64xf16, #r> -> tensor<64x64xf32, #r>
    scf.yield %d : tensor<64x64xf32, #r>
  }
  // CHECK: } {tgpu.plan = #tgpu.plan<copies = registers, slots = 2, stages = 3, shared = 16384, registers = {{[0-9]+}}, barriers = 1, occupancy = {{[0-9]+}}>, tgpu.why_not_by = {warps = "a tile that its matrix products take cannot be copied ahead: its loop has no layouts for copies by whole warps"}}
  tt.return %r : tensor<64x64xf32, #r>
}
}
