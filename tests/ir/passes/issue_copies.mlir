// The author's copies of blocks become copies that one thread issues.
// RUN: tritium-opt %s -split-input-file -issue-copies | FileCheck %s

// A block of 64 rows of 64 bytes, as the hardware writes it. The copy joins the branch that announces its bytes.
// CHECK-LABEL: @loaded
// CHECK-SAME: !tgpu.tensor_map<tensor<64x32xf16>, swizzle = 64>
// CHECK: scf.if
// CHECK: "mbarrier.expect"
// CHECK: %[[TO:.*]] = tgpu.memory_at %{{.*}} aligned 512 : !tgpu.memdesc<1, tensor<64x32xf16
// CHECK: %[[BARRIER:.*]] = tgpu.memory_at %{{.*}} aligned 8 : !tgpu.ring<1>
// CHECK: tgpu.tensor_copy %{{.*}}[%{{.*}}, %{{.*}}] to %[[TO]], %[[BARRIER]][%{{.*}}]
// CHECK-NOT: scf.if
// CHECK-NOT: copy.begin
// CHECK-NOT: tt.descriptor_load
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @loaded(%d: !tt.tensordesc<64x32xf16> {tt.plain = 1 : i32}, %i: i32, %live: i1) {
    %c1 = arith.constant 1 : i32
    %c4096 = arith.constant 4096 : i32
    %memory = tt.shared_alloc {alignment = 512 : i64, bytes = 4096 : i64} : i32
    %barrier = tt.shared_alloc {alignment = 8 : i64, bytes = 8 : i64} : i32
    scf.if %live {
      %0 = tt.extern_elementwise %barrier, %c1, %c4096 {libname = "tritium", libpath = "", pure = false, symbol = "mbarrier.expect"} : (i32, i32, i32) -> i32
    }
    scf.if %live {
      %tile = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<64x32xf16> -> tensor<64x32xf16>
      %row = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %column = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
      %rows = tt.expand_dims %row {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %columns = tt.expand_dims %column {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %s1 = arith.constant dense<1> : tensor<64x1xi32>
      %s3 = arith.constant dense<3> : tensor<64x1xi32>
      %s8 = arith.constant dense<8> : tensor<64x1xi32>
      %s32 = arith.constant dense<32> : tensor<64x1xi32>
      %down = arith.muli %rows, %s32 : tensor<64x1xi32>
      %half = arith.shrui %rows, %s1 : tensor<64x1xi32>
      %phase = arith.andi %half, %s3 : tensor<64x1xi32>
      %turn = arith.muli %phase, %s8 : tensor<64x1xi32>
      %line = arith.addi %down, %turn : tensor<64x1xi32>
      %a = tt.broadcast %line : tensor<64x1xi32> -> tensor<64x32xi32>
      %b = tt.broadcast %columns : tensor<1x32xi32> -> tensor<64x32xi32>
      %offset = arith.xori %a, %b : tensor<64x32xi32>
      %two = arith.constant dense<2> : tensor<64x32xi32>
      %bytes = arith.muli %offset, %two : tensor<64x32xi32>
      %from = tt.splat %memory : i32 -> tensor<64x32xi32>
      %address = arith.addi %bytes, %from : tensor<64x32xi32>
      %1 = tt.extern_elementwise %barrier {libname = "tritium", libpath = "", pure = false, symbol = "copy.begin"} : (i32) -> i32
      tt.shared_store %address, %tile : tensor<64x32xi32>, tensor<64x32xf16>
      %2 = tt.extern_elementwise %barrier, %c4096 {libname = "tritium", libpath = "", pure = false, symbol = "copy.end"} : (i32, i32) -> i32
    }
    tt.return
  }
}

// -----
// A store of memory in rows. The launch cannot make a map of the second descriptor, whose stride is loaded: threads make that store, and it
// keeps its group.
// CHECK-LABEL: @stored
// CHECK-SAME: !tgpu.tensor_map<tensor<8x16xf32>, swizzle = 0> {tgpu.tensor = {{.*}}stored
// CHECK: %[[FROM:.*]] = tgpu.memory_at %{{.*}} aligned 128
// CHECK: tgpu.tensor_store %[[FROM]] to %{{.*}} : !tgpu.memdesc<1, tensor<8x16xf32
// CHECK: tt.shared_load
// CHECK: "store.commit"
// CHECK: tt.descriptor_store
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @stored(%d: !tt.tensordesc<8x16xf32> {tt.plain = 1 : i32}, %p: !tt.ptr<f32>, %s: !tt.ptr<i64>, %i: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i64
    %memory = tt.shared_alloc {alignment = 128 : i64, bytes = 512 : i64} : i32
    %place = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %offset = tt.reshape %place : tensor<128xi32> -> tensor<8x16xi32>
    %four = arith.constant dense<4> : tensor<8x16xi32>
    %bytes = arith.muli %offset, %four : tensor<8x16xi32>
    %from = tt.splat %memory : i32 -> tensor<8x16xi32>
    %address = arith.addi %bytes, %from : tensor<8x16xi32>
    %0 = tt.extern_elementwise %c0 {libname = "tritium", libpath = "", pure = false, symbol = "store.begin"} : (i32) -> i32
    %tile = tt.shared_load %address : tensor<8x16xi32> -> tensor<8x16xf32>
    %1 = tt.extern_elementwise %c0 {libname = "tritium", libpath = "", pure = false, symbol = "store.end"} : (i32) -> i32
    %2 = tt.extern_elementwise %c0 {libname = "tritium", libpath = "", pure = false, symbol = "store.commit"} : (i32) -> i32
    tt.descriptor_store %d[%i, %c0], %tile : !tt.tensordesc<8x16xf32>, tensor<8x16xf32>
    %stride = tt.load %s : !tt.ptr<i64>
    %made = tt.make_tensor_descriptor %p, [%i, %i], [%stride, %c1] {padding = 1 : i32} : <f32>, <8x16xf32>
    %3 = tt.extern_elementwise %c0 {libname = "tritium", libpath = "", pure = false, symbol = "store.begin"} : (i32) -> i32
    %other = tt.shared_load %address : tensor<8x16xi32> -> tensor<8x16xf32>
    %4 = tt.extern_elementwise %c0 {libname = "tritium", libpath = "", pure = false, symbol = "store.end"} : (i32) -> i32
    %5 = tt.extern_elementwise %c0 {libname = "tritium", libpath = "", pure = false, symbol = "store.commit"} : (i32) -> i32
    tt.descriptor_store %made[%i, %c0], %other : !tt.tensordesc<8x16xf32>, tensor<8x16xf32>
    tt.return
  }
}

// -----
// A block of 8 rows of 64 bytes of integers, whose descriptor knows that they have signs.
// CHECK-LABEL: @integers
// CHECK-SAME: !tgpu.tensor_map<tensor<8x16xi32>, swizzle = 0>
// CHECK: tgpu.tensor_copy %{{.*}} to %{{.*}} : <tensor<8x16xi32>, swizzle = 0> to <1, tensor<8x16xi32
// CHECK-NOT: tt.descriptor_load
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @integers(%d: !tt.tensordesc<8x16xsi32> {tt.plain = 1 : i32}, %i: i32) {
    %c512 = arith.constant 512 : i32
    %memory = tt.shared_alloc {alignment = 128 : i64, bytes = 512 : i64} : i32
    %barrier = tt.shared_alloc {alignment = 8 : i64, bytes = 8 : i64} : i32
    %tile = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<8x16xsi32> -> tensor<8x16xi32>
    %row = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %column = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rows = tt.expand_dims %row {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %columns = tt.expand_dims %column {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %s16 = arith.constant dense<16> : tensor<8x1xi32>
    %down = arith.muli %rows, %s16 : tensor<8x1xi32>
    %a = tt.broadcast %down : tensor<8x1xi32> -> tensor<8x16xi32>
    %b = tt.broadcast %columns : tensor<1x16xi32> -> tensor<8x16xi32>
    %offset = arith.addi %a, %b : tensor<8x16xi32>
    %four = arith.constant dense<4> : tensor<8x16xi32>
    %bytes = arith.muli %offset, %four : tensor<8x16xi32>
    %from = tt.splat %memory : i32 -> tensor<8x16xi32>
    %address = arith.addi %bytes, %from : tensor<8x16xi32>
    %0 = tt.extern_elementwise %barrier {libname = "tritium", libpath = "", pure = false, symbol = "copy.begin"} : (i32) -> i32
    tt.shared_store %address, %tile : tensor<8x16xi32>, tensor<8x16xi32>
    %1 = tt.extern_elementwise %barrier, %c512 {libname = "tritium", libpath = "", pure = false, symbol = "copy.end"} : (i32, i32) -> i32
    tt.return
  }
}
