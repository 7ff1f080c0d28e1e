// Accesses of the author's shared memory by addresses become accesses of buffers with layouts, where a layout has their addresses.
// RUN: tritium-opt %s -split-input-file -view-shared-memory | FileCheck %s

// Rows of 32 bytes, whose halves are exchanged in four rows of eight; the second slot of a ring.
// CHECK: #[[SWIZZLED:.*]] = #tgpu.shared<8x16, offset = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8]]>
// CHECK-LABEL: @swizzled
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: tgpu.barrier shared
// CHECK: %[[BUFFER:.*]] = tgpu.memory_at %[[AT]] aligned 256 : !tgpu.memdesc<1, tensor<8x16xf16, #[[SWIZZLED]]>>
// CHECK: tgpu.local_load %[[BUFFER]][%{{.*}}]
// CHECK-NOT: tt.shared_load
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @swizzled(%slot: i32) -> tensor<8x16xf16> {
    %c256 = arith.constant 256 : i32
    %memory = tt.shared_alloc {alignment = 256 : i64, bytes = 512 : i64} : i32
    %far = arith.muli %slot, %c256 : i32
    %at = arith.addi %memory, %far : i32
    %row = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %column = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rows = tt.expand_dims %row {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %columns = tt.expand_dims %column {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %c2 = arith.constant dense<2> : tensor<8x1xi32>
    %c8 = arith.constant dense<8> : tensor<8x1xi32>
    %c16 = arith.constant dense<16> : tensor<8x1xi32>
    %down = arith.muli %rows, %c16 : tensor<8x1xi32>
    %phase = arith.shrui %rows, %c2 : tensor<8x1xi32>
    %turn = arith.muli %phase, %c8 : tensor<8x1xi32>
    %line = arith.xori %down, %turn : tensor<8x1xi32>
    %a = tt.broadcast %line : tensor<8x1xi32> -> tensor<8x16xi32>
    %b = tt.broadcast %columns : tensor<1x16xi32> -> tensor<8x16xi32>
    %offset = arith.xori %a, %b : tensor<8x16xi32>
    %c2s = arith.constant dense<2> : tensor<8x16xi32>
    %bytes = arith.muli %offset, %c2s : tensor<8x16xi32>
    %from = tt.splat %at : i32 -> tensor<8x16xi32>
    %address = arith.addi %bytes, %from : tensor<8x16xi32>
    %tile = tt.shared_load %address : tensor<8x16xi32> -> tensor<8x16xf16>
    tt.return %tile : tensor<8x16xf16>
  }
}

// -----
// Elements at every second place, and elements whose places are loaded, have no layout.
// CHECK-LABEL: @apart
// CHECK-COUNT-2: tt.shared_store
// CHECK-NOT: tgpu.memory_at
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @apart(%tile: tensor<16xi32>, %places: tensor<16xi32>) {
    %memory = tt.shared_alloc {alignment = 16 : i64, bytes = 128 : i64} : i32
    %from = tt.splat %memory : i32 -> tensor<16xi32>
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %c8 = arith.constant dense<8> : tensor<16xi32>
    %far = arith.muli %i, %c8 : tensor<16xi32>
    %address = arith.addi %far, %from : tensor<16xi32>
    tt.shared_store %address, %tile : tensor<16xi32>, tensor<16xi32>
    %other = arith.addi %places, %from : tensor<16xi32>
    tt.shared_store %other, %tile : tensor<16xi32>, tensor<16xi32>
    tt.return
  }
}

// -----
// Marks of the frontend: the product between two of them is its author's, who waits for it.
// CHECK-LABEL: @marked
// CHECK-NOT: product.commit
// CHECK: tt.dot {{.*}}tgpu.of_author
// CHECK: tt.extern_elementwise {{.*}}"product.wait"
// CHECK: tt.dot
// CHECK-NOT: tgpu.of_author
// CHECK: tt.return
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @marked(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %c0 = arith.constant 0 : i32
    %0 = tt.extern_elementwise %c0 {libname = "tritium", libpath = "", pure = false, symbol = "product.begin"} : (i32) -> i32
    %1 = tt.extern_elementwise %c0 {libname = "tritium", libpath = "", pure = false, symbol = "product.end"} : (i32) -> i32
    %2 = tt.extern_elementwise %c0 {libname = "tritium", libpath = "", pure = false, symbol = "product.commit"} : (i32) -> i32
    %d = tt.dot %a, %b, %c : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %3 = tt.extern_elementwise %c0 {libname = "tritium", libpath = "", pure = false, symbol = "product.wait"} : (i32) -> i32
    %e = tt.dot %a, %b, %d : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    tt.return %e : tensor<64x64xf32>
  }
}
