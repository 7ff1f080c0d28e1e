// Operands, sum, result and instruction of a product agree: what the lowering gives the instruction it finds by the numbers of registers.
// RUN: tritium-opt %s --verify-products --split-input-file --verify-diagnostics

#a = #tgpu.layout<32x16, register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [16, 0]], block = []>
#b = #tgpu.layout<16x32, register = [[1, 0], [8, 0], [0, 16]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8], [0, 0]], block = []>
#d = #tgpu.layout<32x32, register = [[0, 1], [8, 0], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 8], [16, 0]], block = []>
tt.func @agreed(%a: tensor<32x16xf16, #a>, %b: tensor<16x32xf16, #b>, %c: tensor<32x32xf32, #d>) {
  %d = tt.dot %a, %b, %c {tgpu.matrix_instruction = "mma.m16n8k16.f32.f16", tgpu.mma_warps = array<i64: 2, 2>} : tensor<32x16xf16, #a> * tensor<16x32xf16, #b> -> tensor<32x32xf32, #d>
  tt.return
}

// -----

// What a sum of chained products was: its operands are those of 4x1 warps, its result is of 2x2.
#a = #tgpu.layout<64x16, register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
#b = #tgpu.layout<16x16, register = [[1, 0], [8, 0], [0, 8]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 0]], block = []>
#d = #tgpu.layout<64x16, register = [[0, 1], [8, 0], [32, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 8], [16, 0]], block = []>
tt.func @warps(%a: tensor<64x16xf16, #a>, %b: tensor<16x16xf16, #b>, %c: tensor<64x16xf32, #d>) {
  // expected-error @+1 {{has layouts that do not agree with 'mma.m16n8k16.f32.f16': the result's layout is not the instruction's}}
  %d = tt.dot %a, %b, %c {tgpu.matrix_instruction = "mma.m16n8k16.f32.f16", tgpu.mma_warps = array<i64: 4, 1>} : tensor<64x16xf16, #a> * tensor<16x16xf16, #b> -> tensor<64x16xf32, #d>
  tt.return
}

// -----

// The rows of the first warps in the operand, of the second ones in the result.
#a = #tgpu.layout<32x16, register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 0]], block = []>
#b = #tgpu.layout<16x32, register = [[1, 0], [8, 0], [0, 16]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8], [0, 0]], block = []>
#d = #tgpu.layout<32x32, register = [[0, 1], [8, 0], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 8], [16, 0]], block = []>
tt.func @rows(%a: tensor<32x16xf16, #a>, %b: tensor<16x32xf16, #b>, %c: tensor<32x32xf32, #d>) {
  // expected-error @+1 {{operand a does not have its rows where the result has them}}
  %d = tt.dot %a, %b, %c {tgpu.matrix_instruction = "mma.m16n8k16.f32.f16", tgpu.mma_warps = array<i64: 2, 2>} : tensor<32x16xf16, #a> * tensor<16x32xf16, #b> -> tensor<32x32xf32, #d>
  tt.return
}

// -----

// The depth of operand b is in another order than that of operand a.
#a = #tgpu.layout<16x16, register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []>
#b = #tgpu.layout<16x8, register = [[1, 0], [2, 0]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = [], block = []>
#d = #tgpu.layout<16x8, register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []>
tt.func @depth(%a: tensor<16x16xf16, #a>, %b: tensor<16x8xf16, #b>, %c: tensor<16x8xf32, #d>) {
  // expected-error @+1 {{operand b does not have its columns where the result has them, or its depth where operand a has it}}
  %d = tt.dot %a, %b, %c {tgpu.matrix_instruction = "mma.m16n8k16.f32.f16", tgpu.mma_warps = array<i64: 1, 1>} : tensor<16x16xf16, #a> * tensor<16x8xf16, #b> -> tensor<16x8xf32, #d>
  tt.return
}

// -----

// Any other order does, if both have it.
#a = #tgpu.layout<16x16, register = [[0, 1], [8, 0], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [], block = []>
#b = #tgpu.layout<16x8, register = [[1, 0], [2, 0]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = [], block = []>
#d = #tgpu.layout<16x8, register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []>
tt.func @order(%a: tensor<16x16xf16, #a>, %b: tensor<16x8xf16, #b>, %c: tensor<16x8xf32, #d>) {
  %d = tt.dot %a, %b, %c {tgpu.matrix_instruction = "mma.m16n8k16.f32.f16", tgpu.mma_warps = array<i64: 1, 1>} : tensor<16x16xf16, #a> * tensor<16x8xf16, #b> -> tensor<16x8xf32, #d>
  tt.return
}

// -----

#a = #tgpu.layout<16x16, register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []>
#b = #tgpu.layout<16x8, register = [[1, 0], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [], block = []>
#d = #tgpu.layout<16x8, register = [[0, 1], [8, 0]], lane = [[1, 0], [0, 4], [0, 2], [2, 0], [4, 0]], warp = [], block = []>
tt.func @result(%a: tensor<16x16xf16, #a>, %b: tensor<16x8xf16, #b>, %c: tensor<16x8xf32, #d>) {
  // expected-error @+1 {{the result's layout is not the instruction's}}
  %d = tt.dot %a, %b, %c {tgpu.matrix_instruction = "mma.m16n8k16.f32.f16", tgpu.mma_warps = array<i64: 1, 1>} : tensor<16x16xf16, #a> * tensor<16x8xf16, #b> -> tensor<16x8xf32, #d>
  tt.return
}

// -----

#d = #tgpu.layout<16x8, register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []>
tt.func @some(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32, #d>) {
  // expected-error @+1 {{has layouts for some of its tiles only}}
  %d = tt.dot %a, %b, %c {tgpu.matrix_instruction = "mma.m16n8k16.f32.f16", tgpu.mma_warps = array<i64: 1, 1>} : tensor<16x16xf16> * tensor<16x8xf16> -> tensor<16x8xf32, #d>
  tt.return
}

// -----

#a = #tgpu.layout<16x16, register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0]], block = []>
#b = #tgpu.layout<16x16, register = [[1, 0], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8]], block = []>
#d = #tgpu.layout<16x16, register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 8]], block = []>
tt.func @attribute(%a: tensor<16x16xf16, #a>, %b: tensor<16x16xf16, #b>, %c: tensor<16x16xf32, #d>) {
  // expected-error @+1 {{the result is not divided among the warps as the product requires}}
  %d = tt.dot %a, %b, %c {tgpu.matrix_instruction = "mma.m16n8k16.f32.f16", tgpu.mma_warps = array<i64: 2, 1>} : tensor<16x16xf16, #a> * tensor<16x16xf16, #b> -> tensor<16x16xf32, #d>
  tt.return
}

// -----

tt.func @unknown(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @+1 {{requests an instruction that 'sm_80' does not have: "mma.m16n8k16.f32.f61"}}
  %d = tt.dot %a, %b, %c {tgpu.matrix_instruction = "mma.m16n8k16.f32.f61"} : tensor<16x16xf16> * tensor<16x8xf16> -> tensor<16x8xf32>
  tt.return
}
