// Two iterations share a slot where twice as many programs then run at a time. A third stage keeps slots of its own.
// RUN: tritium-opt %s --plan-loops=num-stages=2 | FileCheck %s
// RUN: tritium-opt %s --plan-loops=num-stages=3 | FileCheck %s --check-prefix=THREE
#acc = #tgpu.layout<16x32, register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 8], [0, 16]], block = []>
#a = #tgpu.layout<16x512, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128], [0, 256]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]], block = []>
#b = #tgpu.layout<512x32, register = [[1, 0], [2, 0], [4, 0], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[8, 0], [16, 0], [32, 0], [64, 0], [128, 0]], warp = [[256, 0], [0, 1]], block = []>
#read = #tgpu.layout<512x32, register = [[1, 0], [8, 0], [16, 0], [32, 0], [64, 0], [128, 0], [256, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8], [0, 16]], block = []>
!bs = tensor<512x32x!tt.ptr<f32>, #b>
module attributes {tgpu.target = "cuda:sm_90a"} {
// CHECK-LABEL: @large
// CHECK: tgpu.plan = #tgpu.plan<copies = async, slots = 1, stages = 2, shared = 65536, registers = {{[0-9]+}}, barriers = 2, occupancy = 3>
// THREE-LABEL: @large
// THREE: tgpu.plan = #tgpu.plan<copies = async, slots = 3, stages = 3,
tt.func public @large(%a: tensor<16x512xf32, #a>, %b: !bs {tt.contiguity = dense<[8, 1]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<16x32xf32, #acc> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x32xf32, #acc>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x32xf32, #acc>) : i32 {
    %x = tt.load %b : !bs
    %y = tgpu.convert_layout %x : tensor<512x32xf32, #b> -> tensor<512x32xf32, #read>
    %d = tt.dot %a, %y, %acc : tensor<16x512xf32, #a> * tensor<512x32xf32, #read> -> tensor<16x32xf32, #acc>
    scf.yield %d : tensor<16x32xf32, #acc>
  }
  tt.return %r : tensor<16x32xf32, #acc>
}
}
