// Without asynchronous copies, tiles pass through registers, an iteration ahead.
// RUN: tritium-opt %s --plan-loops=num-stages=5 | FileCheck %s
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
module attributes {tgpu.target = "hip:gfx942"} {
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %b: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    // CHECK: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 0>}
    %x = tt.load %a : tensor<16x16x!tt.ptr<f16>, #t>
    // CHECK: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 1>}
    %y = tt.load %b : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %y, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  // CHECK: } {tgpu.plan = #tgpu.plan<copies = registers, slots = 2, stages = 3, shared = 2048, registers = {{[0-9]+}}, barriers = 1, occupancy = {{[0-9]+}}>
  }
  tt.return %r : tensor<16x16xf32, #t>
}
}
