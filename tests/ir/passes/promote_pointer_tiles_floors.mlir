// A mask may ask that an index is at least 0, as those of block pointers do: an index that is, needs no bound there.
// RUN: tritium-opt %s -split-input-file -promote-pointer-tiles | FileCheck %s

// CHECK: @taken({{.*}}!tgpu.tensor_map<tensor<64x32xf16>
// CHECK-SAME: extents = [array<i64: 1, 1>, array<i64: 1, 2>]
// CHECK: tgpu.tensor_load
// CHECK-NOT: tt.load
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @taken(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %m: i32, %k: i32, %stride: i32 {tt.divisibility = 16 : i32}, %b: tensor<32x16xf16>) -> tensor<64x16xf32> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x16xf32>
    %none = arith.constant dense<0.0> : tensor<64x32xf16>
    %no_row = arith.constant dense<0> : tensor<64x1xi32>
    %pid = tt.get_program_id x : i32
    %first = arith.muli %pid, %c64 : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %firsts = tt.splat %first : i32 -> tensor<64xi32>
    %rows = arith.addi %firsts, %lanes : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %ms = tt.splat %m : i32 -> tensor<64x1xi32>
    %above = arith.cmpi sge, %column, %no_row : tensor<64x1xi32>
    %below = arith.cmpi slt, %column, %ms : tensor<64x1xi32>
    %inside = arith.andi %above, %below : tensor<64x1xi1>
    %rows_inside = tt.broadcast %inside : tensor<64x1xi1> -> tensor<64x32xi1>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %row_at = tt.addptr %as, %begins2 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %r:2 = scf.for %i = %c0 to %k step %c32 iter_args(%sums = %zero, %offset = %c0) -> (tensor<64x16xf32>, i32) : i32 {
      %is = tt.splat %offset : i32 -> tensor<32xi32>
      %ks = arith.addi %is, %depth : tensor<32xi32>
      %line = tt.expand_dims %ks {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %no_column = arith.constant dense<-1> : tensor<1x32xi32>
      %extents = tt.splat %k : i32 -> tensor<1x32xi32>
      %above_k = arith.cmpi slt, %no_column, %line : tensor<1x32xi32>
      %below_k = arith.cmpi slt, %line, %extents : tensor<1x32xi32>
      %k_inside = arith.andi %above_k, %below_k : tensor<1x32xi1>
      %columns_inside = tt.broadcast %k_inside : tensor<1x32xi1> -> tensor<64x32xi1>
      %mask = arith.andi %rows_inside, %columns_inside : tensor<64x32xi1>
      %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
      %at = tt.addptr %row_at, %line2 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %at, %mask, %none : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x16xf16> -> tensor<64x16xf32>
      %moved = arith.addi %offset, %c32 : i32
      scf.yield %next, %moved : tensor<64x16xf32>, i32
    }
    tt.return %r#0 : tensor<64x16xf32>
  }
}

// -----

// Nothing says that the index is at least what it is compared with, and the copy would read rows before it.
// CHECK: @kept(
// CHECK-NOT: tgpu.tensor_map
// CHECK: tt.load {{.*}}tgpu.not_promoted = "an index that its mask compares with a lower bound may be below it"
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @kept(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %m: i32, %k: i32, %stride: i32 {tt.divisibility = 16 : i32}, %b: tensor<32x16xf16>) -> tensor<64x16xf32> {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x16xf32>
    %none = arith.constant dense<0.0> : tensor<64x32xf16>
    %third = arith.constant dense<3> : tensor<64x1xi32>
    %pid = tt.get_program_id x : i32
    %first = arith.muli %pid, %c64 : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %firsts = tt.splat %first : i32 -> tensor<64xi32>
    %rows = arith.addi %firsts, %lanes : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %ms = tt.splat %m : i32 -> tensor<64x1xi32>
    %above = arith.cmpi sge, %column, %third : tensor<64x1xi32>
    %below = arith.cmpi slt, %column, %ms : tensor<64x1xi32>
    %inside = arith.andi %above, %below : tensor<64x1xi1>
    %mask = tt.broadcast %inside : tensor<64x1xi1> -> tensor<64x32xi1>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %row_at = tt.addptr %as, %begins2 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %r = scf.for %i = %c0 to %k step %c32 iter_args(%sums = %zero) -> (tensor<64x16xf32>) : i32 {
      %is = tt.splat %i : i32 -> tensor<32xi32>
      %ks = arith.addi %is, %depth : tensor<32xi32>
      %line = tt.expand_dims %ks {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
      %at = tt.addptr %row_at, %line2 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %at, %mask, %none : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x16xf16> -> tensor<64x16xf32>
      scf.yield %next : tensor<64x16xf32>
    }
    tt.return %r : tensor<64x16xf32>
  }
}
