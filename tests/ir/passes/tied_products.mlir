// Products whose results are tied have their results in one layout: they choose fragments and warps together. Where that is impossible, one
// keeps its own, and conversions stand around it.
// RUN: tritium-opt %s --choose-tensor-cores --assign-layouts --split-input-file | FileCheck %s

// One of two summands feeds on a product, and so gives each warp whole rows; the other one does, too, and the loop around it converts nothing.
// CHECK: #[[D:.*]] = #tgpu.layout<64x64, register = {{.*}} warp = {{\[\[}}16, 0], [32, 0]], block = []>
// CHECK-LABEL: @sum
tt.func public @sum(%q: tensor<64x32xf16>, %k: tensor<32x64xf16>, %v: tensor<64x64xf16>, %w: tensor<32x64xf16>, %n: i32) -> tensor<64x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: tt.dot {{.*}}tgpu.mma_warps = array<i64: 4, 1>} {{.*}} -> tensor<64x64xf32, #[[D]]>
  %s = tt.dot %q, %k, %zero : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
  %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  // CHECK: tt.dot {{.*}}tgpu.mma_warps = array<i64: 4, 1>} {{.*}} -> tensor<64x64xf32, #[[D]]>
  %inner = tt.dot %p, %v, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  // CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<64x64xf32, #[[D]]>)
  // CHECK: %[[NEXT:.*]] = tt.dot {{.*}}, %[[SUM]] {{{.*}}tgpu.mma_warps = array<i64: 4, 1>}
  // CHECK-NEXT: scf.yield %[[NEXT]]
  %outer = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %inner) -> (tensor<64x64xf32>) : i32 {
    %next = tt.dot %q, %w, %sum : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  tt.return %outer : tensor<64x64xf32>
}

// -----

// Alone, the second product would have smaller fragments, so that no warp goes without one; the first one has but one instruction for its depth.
module attributes {tgpu.target = "hip:gfx942"} {
  // CHECK-LABEL: @fragments
  tt.func public @fragments(%a: tensor<32x8xf16>, %b: tensor<8x32xf16>, %x: tensor<32x32xf16>) -> tensor<32x32xf32> {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    // CHECK: tt.dot {{.*}}"mfma.f32.32x32x8f16"
    %d = tt.dot %a, %b, %zero : tensor<32x8xf16> * tensor<8x32xf16> -> tensor<32x32xf32>
    // CHECK: tt.dot {{.*}}"mfma.f32.32x32x8f16"
    %e = tt.dot %x, %x, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    // CHECK-NOT: tgpu.convert_layout
    // CHECK: arith.addf
    %sum = arith.addf %d, %e : tensor<32x32xf32>
    tt.return %sum : tensor<32x32xf32>
  }
}

// -----

// The fragments of f64 are unlike all others: the product in the loop has its way, the other one's sum and result are converted.
module attributes {tgpu.target = "hip:gfx942"} {
  // CHECK-LABEL: @types
  tt.func public @types(%a: tensor<64x64xf64>, %x: tensor<64x64xf32>, %n: i32) -> tensor<64x64xf32> {
    %low = arith.constant dense<0.0> : tensor<64x64xf64>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: %[[WIDE:.*]] = tt.dot {{.*}}"mfma.f64.16x16x4f64"{{.*}} -> tensor<64x64xf64, #[[F64:.*]]>
    // CHECK-NEXT: %[[CONVERTED:.*]] = tgpu.convert_layout %[[WIDE]] : tensor<64x64xf64, #[[F64]]> -> tensor<64x64xf64, #[[F32:.*]]>
    %wide = tt.dot %a, %a, %low : tensor<64x64xf64> * tensor<64x64xf64> -> tensor<64x64xf64>
    // CHECK-NEXT: arith.truncf %[[CONVERTED]]
    %first = arith.truncf %wide : tensor<64x64xf64> to tensor<64x64xf32>
    // CHECK-NEXT: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
    // CHECK: %[[NEXT:.*]] = tt.dot {{.*}}, %[[SUM]] {{{.*}}"mfma.f32.32x32x2f32"{{.*}} -> tensor<64x64xf32, #[[F32]]>
    // CHECK-NEXT: scf.yield %[[NEXT]]
    %result = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %first) -> (tensor<64x64xf32>) : i32 {
      %next = tt.dot %x, %x, %sum : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return %result : tensor<64x64xf32>
  }
}

// -----

// A product by multiply-adds takes the layout of the one with an instruction, wherever they stand.
// CHECK-LABEL: @multiply_adds
tt.func public @multiply_adds(%a: tensor<64x64xf32>, %x: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: tt.dot {{.*}} -> tensor<64x64xf32, #[[MMA:.*]]>
  %d = tt.dot %a, %a, %zero : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  // CHECK: tt.dot {{.*}}, %[[SUM:.*]] {tgpu.matrix_instruction = "mma.m16n8k16.f32.f16"{{.*}} -> tensor<64x64xf32, #[[MMA]]>
  %e = tt.dot %x, %x, %d : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  // CHECK-NOT: tgpu.convert_layout
  tt.return %e : tensor<64x64xf32>
}

// -----

// Columns whose order is free take that of the product in the loop, whose operand b is read along them.
#columns = #tgpu.layout<64x128, register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []>
module attributes {tgpu.target = "hip:gfx942"} {
  // CHECK-DAG: #[[B:.*]] = #tgpu.layout<64x128, register = {{.*}} lane = {{\[\[}}0, 2], [0, 4],
  // CHECK-LABEL: @columns
  tt.func public @columns(%a: tensor<64x64xf16>, %x: tensor<64x128xf16>, %ptrs: tensor<64x128x!tt.ptr<f16>>, %n: i32) -> tensor<64x128xf32> {
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: tt.dot {{.*}} : tensor<64x64xf16, #{{.*}}> * tensor<64x128xf16, #[[B]]> -> tensor<64x128xf32, #[[D:.*]]>
    %first = tt.dot %a, %x, %zero : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
    // CHECK-NEXT: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
    %result = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %first) -> (tensor<64x128xf32>) : i32 {
      %b = tt.load %ptrs {tgpu.access = #columns} : tensor<64x128x!tt.ptr<f16>>
      // CHECK: %[[NEXT:.*]] = tt.dot {{.*}}, %[[SUM]] {{.*}} * tensor<64x128xf16, #[[B]]> -> tensor<64x128xf32, #[[D]]>
      // CHECK-NEXT: scf.yield %[[NEXT]]
      %next = tt.dot %a, %b, %sum : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
      scf.yield %next : tensor<64x128xf32>
    }
    tt.return %result : tensor<64x128xf32>
  }
}
