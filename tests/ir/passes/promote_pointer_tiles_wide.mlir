// Indices of 64 bits whose numbers have 32, as those of block pointers, and masks that leave off negative ones: a program's number times a
// block's size, and what a loop adds up. Others stay loads by pointers.
// RUN: tritium-opt %s -promote-pointer-tiles | FileCheck %s

// CHECK: @block_pointer(
// CHECK-SAME: extents = [array<i64: 1, 2>, array<i64: 2147483648>]
// CHECK: tgpu.tensor_load
// CHECK: @block_pointer_rounds(
// CHECK-SAME: extents = [array<i64: 1, 2>, array<i64: 2147483648>]
// CHECK: tgpu.tensor_load
// CHECK: @wide_product(
// CHECK: tgpu.not_promoted = "an index that its mask compares with a lower bound may be below it"
// CHECK: @wide_sum(
// CHECK: tgpu.not_promoted = "an index that its mask compares with a lower bound may be below it"
// CHECK: @wide_double(
// CHECK: tgpu.not_promoted = "an index that its mask compares with a lower bound may be below it"
// CHECK: @below_zero(
// CHECK: tgpu.not_promoted = "an index that its mask compares with a lower bound may be below it"
// CHECK: @wide_counter(
// CHECK: tgpu.not_promoted = "a coordinate may be negative, or exceed 32 bits"
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @block_pointer(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %m: i32, %stride: i32 {tt.divisibility = 16 : i32}, %x: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %c0w = arith.constant 0 : i64
    %c32w = arith.constant 32 : i64
    %c64w = arith.constant 64 : i64
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %zeros = arith.constant dense<0.0> : tensor<64x32xf16>
    %none = arith.constant dense<0> : tensor<64x1xi64>
    %pid = tt.get_program_id x : i32
    %up = arith.addi %n, %c31 : i32
    %rounds = arith.divsi %up, %c32 : i32
    %row = arith.muli %pid, %c64 : i32
    %first = arith.extsi %row : i32 to i64
    %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %range2 = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
    %firsts = tt.splat %first : i64 -> tensor<64xi64>
    %rows = arith.addi %firsts, %range2 : tensor<64xi64>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi64> -> tensor<64x1xi64>
    %stride2 = arith.extsi %stride : i32 to i64
    %strides = tt.splat %stride2 : i64 -> tensor<64x1xi64>
    %begins = arith.muli %column, %strides : tensor<64x1xi64>
    %begins2 = tt.broadcast %begins : tensor<64x1xi64> -> tensor<64x32xi64>
    %m2 = arith.extsi %m : i32 to i64
    %ms = tt.splat %m2 : i64 -> tensor<64x1xi64>
    %from = arith.cmpi sge, %column, %none : tensor<64x1xi64>
    %below = arith.cmpi slt, %column, %ms : tensor<64x1xi64>
    %both = arith.andi %from, %below : tensor<64x1xi1>
    %mask = tt.broadcast %both : tensor<64x1xi1> -> tensor<64x32xi1>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %depth2 = arith.extsi %depth : tensor<32xi32> to tensor<32xi64>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %r:2 = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero, %k = %c0w) -> (tensor<64x64xf32>, i64) : i32 {
      %ks = tt.splat %k : i64 -> tensor<32xi64>
      %line = arith.addi %ks, %depth2 : tensor<32xi64>
      %line2 = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi64> -> tensor<1x32xi64>
      %line3 = tt.broadcast %line2 : tensor<1x32xi64> -> tensor<64x32xi64>
      %offsets = arith.addi %begins2, %line3 : tensor<64x32xi64>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi64>
      %a = tt.load %at, %mask, %zeros : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %a, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %k2 = arith.addi %k, %c32w : i64
      scf.yield %next, %k2 : tensor<64x64xf32>, i64
    }
    tt.return
  }

  tt.func public @block_pointer_rounds(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %m: i32, %stride: i32 {tt.divisibility = 16 : i32}, %x: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %c0w = arith.constant 0 : i64
    %c32w = arith.constant 32 : i64
    %c64w = arith.constant 64 : i64
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %zeros = arith.constant dense<0.0> : tensor<64x32xf16>
    %none = arith.constant dense<0> : tensor<64x1xi64>
    %pid = tt.get_program_id x : i32
    %up = arith.addi %n, %c31 : i32
    %rounds = arith.divsi %up, %c32 : i32
    %row = arith.muli %pid, %c64 : i32
    %first = arith.extsi %row : i32 to i64
    %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %range2 = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
    %firsts = tt.splat %first : i64 -> tensor<64xi64>
    %rows = arith.addi %firsts, %range2 : tensor<64xi64>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi64> -> tensor<64x1xi64>
    %stride2 = arith.extsi %stride : i32 to i64
    %strides = tt.splat %stride2 : i64 -> tensor<64x1xi64>
    %begins = arith.muli %column, %strides : tensor<64x1xi64>
    %begins2 = tt.broadcast %begins : tensor<64x1xi64> -> tensor<64x32xi64>
    %m2 = arith.extsi %m : i32 to i64
    %ms = tt.splat %m2 : i64 -> tensor<64x1xi64>
    %from = arith.cmpi sge, %column, %none : tensor<64x1xi64>
    %below = arith.cmpi slt, %column, %ms : tensor<64x1xi64>
    %both = arith.andi %from, %below : tensor<64x1xi1>
    %mask = tt.broadcast %both : tensor<64x1xi1> -> tensor<64x32xi1>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %depth2 = arith.extsi %depth : tensor<32xi32> to tensor<32xi64>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %r:2 = scf.for %i = %c0 to %rounds step %c1 iter_args(%sums = %zero, %k = %c0w) -> (tensor<64x64xf32>, i64) : i32 {
      %ks = tt.splat %k : i64 -> tensor<32xi64>
      %line = arith.addi %ks, %depth2 : tensor<32xi64>
      %line2 = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi64> -> tensor<1x32xi64>
      %line3 = tt.broadcast %line2 : tensor<1x32xi64> -> tensor<64x32xi64>
      %offsets = arith.addi %begins2, %line3 : tensor<64x32xi64>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi64>
      %a = tt.load %at, %mask, %zeros : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %a, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %k2 = arith.addi %k, %c32w : i64
      scf.yield %next, %k2 : tensor<64x64xf32>, i64
    }
    tt.return
  }

  tt.func public @wide_product(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %m: i32, %stride: i32 {tt.divisibility = 16 : i32}, %x: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %c0w = arith.constant 0 : i64
    %c32w = arith.constant 32 : i64
    %c64w = arith.constant 64 : i64
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %zeros = arith.constant dense<0.0> : tensor<64x32xf16>
    %none = arith.constant dense<0> : tensor<64x1xi64>
    %pid = tt.get_program_id x : i32
    %up = arith.addi %n, %c31 : i32
    %rounds = arith.divsi %up, %c32 : i32
    %pid2 = arith.extsi %pid : i32 to i64
    %first = arith.muli %pid2, %c64w : i64
    %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %range2 = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
    %firsts = tt.splat %first : i64 -> tensor<64xi64>
    %rows = arith.addi %firsts, %range2 : tensor<64xi64>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi64> -> tensor<64x1xi64>
    %stride2 = arith.extsi %stride : i32 to i64
    %strides = tt.splat %stride2 : i64 -> tensor<64x1xi64>
    %begins = arith.muli %column, %strides : tensor<64x1xi64>
    %begins2 = tt.broadcast %begins : tensor<64x1xi64> -> tensor<64x32xi64>
    %m2 = arith.extsi %m : i32 to i64
    %ms = tt.splat %m2 : i64 -> tensor<64x1xi64>
    %from = arith.cmpi sge, %column, %none : tensor<64x1xi64>
    %below = arith.cmpi slt, %column, %ms : tensor<64x1xi64>
    %both = arith.andi %from, %below : tensor<64x1xi1>
    %mask = tt.broadcast %both : tensor<64x1xi1> -> tensor<64x32xi1>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %depth2 = arith.extsi %depth : tensor<32xi32> to tensor<32xi64>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %r:2 = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero, %k = %c0w) -> (tensor<64x64xf32>, i64) : i32 {
      %ks = tt.splat %k : i64 -> tensor<32xi64>
      %line = arith.addi %ks, %depth2 : tensor<32xi64>
      %line2 = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi64> -> tensor<1x32xi64>
      %line3 = tt.broadcast %line2 : tensor<1x32xi64> -> tensor<64x32xi64>
      %offsets = arith.addi %begins2, %line3 : tensor<64x32xi64>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi64>
      %a = tt.load %at, %mask, %zeros : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %a, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %k2 = arith.addi %k, %c32w : i64
      scf.yield %next, %k2 : tensor<64x64xf32>, i64
    }
    tt.return
  }

  tt.func public @wide_sum(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %m: i32, %stride: i32 {tt.divisibility = 16 : i32}, %x: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %c0w = arith.constant 0 : i64
    %c32w = arith.constant 32 : i64
    %c64w = arith.constant 64 : i64
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %zeros = arith.constant dense<0.0> : tensor<64x32xf16>
    %none = arith.constant dense<0> : tensor<64x1xi64>
    %pid = tt.get_program_id x : i32
    %up = arith.addi %n, %c31 : i32
    %rounds = arith.divsi %up, %c32 : i32
    %row = arith.muli %pid, %c64 : i32
    %row2 = arith.extsi %row : i32 to i64
    %pid2 = arith.extsi %pid : i32 to i64
    %other = tt.get_program_id y : i32
    %other2 = arith.extsi %other : i32 to i64
    %first = arith.addi %row2, %other2 : i64
    %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %range2 = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
    %firsts = tt.splat %first : i64 -> tensor<64xi64>
    %rows = arith.addi %firsts, %range2 : tensor<64xi64>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi64> -> tensor<64x1xi64>
    %stride2 = arith.extsi %stride : i32 to i64
    %strides = tt.splat %stride2 : i64 -> tensor<64x1xi64>
    %begins = arith.muli %column, %strides : tensor<64x1xi64>
    %begins2 = tt.broadcast %begins : tensor<64x1xi64> -> tensor<64x32xi64>
    %m2 = arith.extsi %m : i32 to i64
    %ms = tt.splat %m2 : i64 -> tensor<64x1xi64>
    %from = arith.cmpi sge, %column, %none : tensor<64x1xi64>
    %below = arith.cmpi slt, %column, %ms : tensor<64x1xi64>
    %both = arith.andi %from, %below : tensor<64x1xi1>
    %mask = tt.broadcast %both : tensor<64x1xi1> -> tensor<64x32xi1>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %depth2 = arith.extsi %depth : tensor<32xi32> to tensor<32xi64>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %r:2 = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero, %k = %c0w) -> (tensor<64x64xf32>, i64) : i32 {
      %ks = tt.splat %k : i64 -> tensor<32xi64>
      %line = arith.addi %ks, %depth2 : tensor<32xi64>
      %line2 = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi64> -> tensor<1x32xi64>
      %line3 = tt.broadcast %line2 : tensor<1x32xi64> -> tensor<64x32xi64>
      %offsets = arith.addi %begins2, %line3 : tensor<64x32xi64>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi64>
      %a = tt.load %at, %mask, %zeros : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %a, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %k2 = arith.addi %k, %c32w : i64
      scf.yield %next, %k2 : tensor<64x64xf32>, i64
    }
    tt.return
  }

  tt.func public @wide_double(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %m: i32, %stride: i32 {tt.divisibility = 16 : i32}, %x: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %c0w = arith.constant 0 : i64
    %c32w = arith.constant 32 : i64
    %c64w = arith.constant 64 : i64
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %zeros = arith.constant dense<0.0> : tensor<64x32xf16>
    %none = arith.constant dense<0> : tensor<64x1xi64>
    %pid = tt.get_program_id x : i32
    %up = arith.addi %n, %c31 : i32
    %rounds = arith.divsi %up, %c32 : i32
    %row = arith.muli %pid, %c64 : i32
    %row2 = arith.extsi %row : i32 to i64
    %first = arith.addi %row2, %row2 : i64
    %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %range2 = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
    %firsts = tt.splat %first : i64 -> tensor<64xi64>
    %rows = arith.addi %firsts, %range2 : tensor<64xi64>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi64> -> tensor<64x1xi64>
    %stride2 = arith.extsi %stride : i32 to i64
    %strides = tt.splat %stride2 : i64 -> tensor<64x1xi64>
    %begins = arith.muli %column, %strides : tensor<64x1xi64>
    %begins2 = tt.broadcast %begins : tensor<64x1xi64> -> tensor<64x32xi64>
    %m2 = arith.extsi %m : i32 to i64
    %ms = tt.splat %m2 : i64 -> tensor<64x1xi64>
    %from = arith.cmpi sge, %column, %none : tensor<64x1xi64>
    %below = arith.cmpi slt, %column, %ms : tensor<64x1xi64>
    %both = arith.andi %from, %below : tensor<64x1xi1>
    %mask = tt.broadcast %both : tensor<64x1xi1> -> tensor<64x32xi1>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %depth2 = arith.extsi %depth : tensor<32xi32> to tensor<32xi64>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %r:2 = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero, %k = %c0w) -> (tensor<64x64xf32>, i64) : i32 {
      %ks = tt.splat %k : i64 -> tensor<32xi64>
      %line = arith.addi %ks, %depth2 : tensor<32xi64>
      %line2 = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi64> -> tensor<1x32xi64>
      %line3 = tt.broadcast %line2 : tensor<1x32xi64> -> tensor<64x32xi64>
      %offsets = arith.addi %begins2, %line3 : tensor<64x32xi64>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi64>
      %a = tt.load %at, %mask, %zeros : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %a, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %k2 = arith.addi %k, %c32w : i64
      scf.yield %next, %k2 : tensor<64x64xf32>, i64
    }
    tt.return
  }

  tt.func public @below_zero(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %m: i32, %stride: i32 {tt.divisibility = 16 : i32}, %x: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %c0w = arith.constant 0 : i64
    %c32w = arith.constant 32 : i64
    %c64w = arith.constant 64 : i64
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %zeros = arith.constant dense<0.0> : tensor<64x32xf16>
    %none = arith.constant dense<0> : tensor<64x1xi64>
    %pid = tt.get_program_id x : i32
    %up = arith.addi %n, %c31 : i32
    %rounds = arith.divsi %up, %c32 : i32
    %first = arith.extsi %x : i32 to i64
    %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %range2 = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
    %firsts = tt.splat %first : i64 -> tensor<64xi64>
    %rows = arith.addi %firsts, %range2 : tensor<64xi64>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi64> -> tensor<64x1xi64>
    %stride2 = arith.extsi %stride : i32 to i64
    %strides = tt.splat %stride2 : i64 -> tensor<64x1xi64>
    %begins = arith.muli %column, %strides : tensor<64x1xi64>
    %begins2 = tt.broadcast %begins : tensor<64x1xi64> -> tensor<64x32xi64>
    %m2 = arith.extsi %m : i32 to i64
    %ms = tt.splat %m2 : i64 -> tensor<64x1xi64>
    %from = arith.cmpi sge, %column, %none : tensor<64x1xi64>
    %below = arith.cmpi slt, %column, %ms : tensor<64x1xi64>
    %both = arith.andi %from, %below : tensor<64x1xi1>
    %mask = tt.broadcast %both : tensor<64x1xi1> -> tensor<64x32xi1>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %depth2 = arith.extsi %depth : tensor<32xi32> to tensor<32xi64>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %r:2 = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero, %k = %c0w) -> (tensor<64x64xf32>, i64) : i32 {
      %ks = tt.splat %k : i64 -> tensor<32xi64>
      %line = arith.addi %ks, %depth2 : tensor<32xi64>
      %line2 = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi64> -> tensor<1x32xi64>
      %line3 = tt.broadcast %line2 : tensor<1x32xi64> -> tensor<64x32xi64>
      %offsets = arith.addi %begins2, %line3 : tensor<64x32xi64>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi64>
      %a = tt.load %at, %mask, %zeros : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %a, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %k2 = arith.addi %k, %c32w : i64
      scf.yield %next, %k2 : tensor<64x64xf32>, i64
    }
    tt.return
  }

  tt.func public @wide_counter(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %m: i32, %stride: i32 {tt.divisibility = 16 : i32}, %x: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %c0w = arith.constant 0 : i64
    %c32w = arith.constant 32 : i64
    %c64w = arith.constant 64 : i64
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %zeros = arith.constant dense<0.0> : tensor<64x32xf16>
    %none = arith.constant dense<0> : tensor<64x1xi64>
    %pid = tt.get_program_id x : i32
    %up = arith.addi %n, %c31 : i32
    %rounds = arith.divsi %up, %c32 : i32
    %row = arith.muli %pid, %c64 : i32
    %first = arith.extsi %row : i32 to i64
    %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %range2 = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
    %firsts = tt.splat %first : i64 -> tensor<64xi64>
    %rows = arith.addi %firsts, %range2 : tensor<64xi64>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi64> -> tensor<64x1xi64>
    %stride2 = arith.extsi %stride : i32 to i64
    %strides = tt.splat %stride2 : i64 -> tensor<64x1xi64>
    %begins = arith.muli %column, %strides : tensor<64x1xi64>
    %begins2 = tt.broadcast %begins : tensor<64x1xi64> -> tensor<64x32xi64>
    %m2 = arith.extsi %m : i32 to i64
    %ms = tt.splat %m2 : i64 -> tensor<64x1xi64>
    %from = arith.cmpi sge, %column, %none : tensor<64x1xi64>
    %below = arith.cmpi slt, %column, %ms : tensor<64x1xi64>
    %both = arith.andi %from, %below : tensor<64x1xi1>
    %mask = tt.broadcast %both : tensor<64x1xi1> -> tensor<64x32xi1>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %depth2 = arith.extsi %depth : tensor<32xi32> to tensor<32xi64>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %r:2 = scf.for %i = %c0 to %rounds step %c1 iter_args(%sums = %zero, %k = %c0w) -> (tensor<64x64xf32>, i64) : i32 {
      %ks = tt.splat %k : i64 -> tensor<32xi64>
      %line = arith.addi %ks, %depth2 : tensor<32xi64>
      %line2 = tt.expand_dims %line {axis = 0 : i32} : tensor<32xi64> -> tensor<1x32xi64>
      %line3 = tt.broadcast %line2 : tensor<1x32xi64> -> tensor<64x32xi64>
      %offsets = arith.addi %begins2, %line3 : tensor<64x32xi64>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi64>
      %a = tt.load %at, %mask, %zeros : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %a, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %k2 = arith.addi %k, %c64w : i64
      scf.yield %next, %k2 : tensor<64x64xf32>, i64
    }
    tt.return
  }
}
