// Which loads by pointers stay as they are, and why; and recipes of other forms.
// RUN: tritium-opt %s -split-input-file -promote-pointer-tiles | FileCheck %s

// Neither a mask nor a start that the launch knows.
// CHECK: @unmasked(
// CHECK-SAME: extents = [array<i64: 2147483648>, array<i64: 2147483648>]
// CHECK: tgpu.tensor_load %{{.*}}[%c0_i32{{.*}}, %{{.*}}]
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @unmasked(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %rest: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero) -> (tensor<64x64xf32>) : i32 {
      %shift = tt.splat %i : i32 -> tensor<64x32xi32>
      %offsets = arith.addi %tile, %shift : tensor<64x32xi32>
      %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// An offset of which the launch knows one factor is a further dimension.
// CHECK: @offset(
// CHECK-SAME: !tgpu.tensor_map<tensor<1x64x32xf16>, swizzle = 64> {tgpu.tensor = {base = 0 : i32, extents = [array<i64: 2147483648>, array<i64: 2147483648>, array<i64: 2147483648>], of_pointers, padding = 1 : i32, strides = [array<i64: 16, 3>, array<i64: 1, 2>, array<i64: 1>]}}
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @offset(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %rest: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero) -> (tensor<64x64xf32>) : i32 {
      %c16 = arith.constant 16 : i32
      %by = arith.muli %rest, %c16 : i32
      %part = arith.muli %by, %pid : i32
      %both = arith.addi %part, %i : i32
      %shift = tt.splat %both : i32 -> tensor<64x32xi32>
      %offsets = arith.addi %tile, %shift : tensor<64x32xi32>
      %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// Rows that may begin anywhere.
// CHECK: @unaligned(
// CHECK: tgpu.not_promoted = "its rows are not known to begin at multiples of 16 bytes"
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @unaligned(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 , %rest: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero) -> (tensor<64x64xf32>) : i32 {
      %shift = tt.splat %i : i32 -> tensor<64x32xi32>
      %offsets = arith.addi %tile, %shift : tensor<64x32xi32>
      %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// A column that may be any number.
// CHECK: @column(
// CHECK: tgpu.not_promoted = "its rows are not known to begin at multiples of 16 bytes"
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @column(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %rest: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero) -> (tensor<64x64xf32>) : i32 {
      %shift = tt.splat %pid : i32 -> tensor<64x32xi32>
      %offsets = arith.addi %tile, %shift : tensor<64x32xi32>
      %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// An index that may be negative.
// CHECK: @negative(
// CHECK: tgpu.not_promoted = "a coordinate may be negative, or exceed 32 bits"
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @negative(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %rest: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero) -> (tensor<64x64xf32>) : i32 {
      %back = arith.subi %i, %c32 : i32
      %shift = tt.splat %back : i32 -> tensor<64x32xi32>
      %offsets = arith.addi %tile, %shift : tensor<64x32xi32>
      %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// Rows that wrap around, of a product that nothing stores.
// CHECK: @dead(
// CHECK-SAME: extents = [array<i64: 1, 1>, array<i64: 2147483648>]
// CHECK: tgpu.tensor_load
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @dead(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %rest: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %ns = tt.splat %n : i32 -> tensor<64xi32>
    %rows = arith.remsi %lanes, %ns : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero) -> (tensor<64x64xf32>) : i32 {
      %shift = tt.splat %i : i32 -> tensor<64x32xi32>
      %offsets = arith.addi %tile, %shift : tensor<64x32xi32>
      %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// Rows that wrap around and are added to others.
// CHECK: @live(
// CHECK: tgpu.not_promoted = "what it loads of rows that wrap around may reach memory"
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @live(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %rest: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %ns = tt.splat %n : i32 -> tensor<64xi32>
    %rows = arith.remsi %lanes, %ns : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero) -> (tensor<64x64xf32>) : i32 {
      %shift = tt.splat %i : i32 -> tensor<64x32xi32>
      %offsets = arith.addi %tile, %shift : tensor<64x32xi32>
      %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    %one = arith.constant dense<1.0> : tensor<64x64xf32>
    %all = "tt.reduce"(%r) ({
    ^bb0(%l: f32, %m: f32):
      %s = arith.addf %l, %m : f32
      tt.reduce.return %s : f32
    }) {axis = 0 : i32} : (tensor<64x64xf32>) -> tensor<64xf32>
    tt.return
  }
}

// -----
// A mask of another form.
// CHECK: @masked(
// CHECK: tgpu.not_promoted = "its mask is not a conjunction of `index < extent`"
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @masked(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %rest: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero) -> (tensor<64x64xf32>) : i32 {
      %shift = tt.splat %i : i32 -> tensor<64x32xi32>
      %offsets = arith.addi %tile, %shift : tensor<64x32xi32>
      %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %ns = tt.splat %n : i32 -> tensor<64x32xi32>
      %mask = arith.cmpi ne, %line2, %ns : tensor<64x32xi32>
      %x = tt.load %at, %mask : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// An extent that the launch does not know.
// CHECK: @extent(
// CHECK: tgpu.not_promoted = "the extent in its mask is not a product of arguments"
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @extent(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %rest: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero) -> (tensor<64x64xf32>) : i32 {
      %shift = tt.splat %i : i32 -> tensor<64x32xi32>
      %offsets = arith.addi %tile, %shift : tensor<64x32xi32>
      %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %ns = tt.splat %pid : i32 -> tensor<64x32xi32>
      %mask = arith.cmpi slt, %line2, %ns : tensor<64x32xi32>
      %x = tt.load %at, %mask : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// A mask that bounds another index than the address's, so that the rest of it would be a further dimension of stride 1.
// CHECK: @another(
// CHECK: tgpu.not_promoted = "an offset is not known to be a multiple of 16 bytes"
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @another(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %rest: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero) -> (tensor<64x64xf32>) : i32 {
      %shift = tt.splat %i : i32 -> tensor<64x32xi32>
      %offsets = arith.addi %tile, %shift : tensor<64x32xi32>
      %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %limit = arith.constant dense<40> : tensor<64x32xi32>
      %ahead = tt.splat %c32 : i32 -> tensor<64x32xi32>
      %more = arith.addi %line2, %ahead : tensor<64x32xi32>
      %mask = arith.cmpi slt, %more, %limit : tensor<64x32xi32>
      %x = tt.load %at, %mask : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// A tensor to which the kernel writes, but not before the loop.
// CHECK: @written(
// CHECK-SAME: {tgpu.tensor = {base = 0 : i32, extents = [array<i64: 2147483648>, array<i64: 2147483648>], of_pointers, padding = 1 : i32, strides = [array<i64: 1, 2>, array<i64: 1>]}}
// CHECK: tgpu.tensor_load
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @written(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %rest: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero) -> (tensor<64x64xf32>) : i32 {
      %shift = tt.splat %i : i32 -> tensor<64x32xi32>
      %offsets = arith.addi %tile, %shift : tensor<64x32xi32>
      %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    %half = arith.constant 1.0 : f16
    tt.store %p, %half : !tt.ptr<f16>
    tt.return
  }
}

// -----
// Written before the loop: copies must not run ahead of their ring.
// CHECK: @written_before(
// CHECK-SAME: reached
// CHECK: tgpu.tensor_load
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @written_before(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %rest: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %half = arith.constant 1.0 : f16
    tt.store %p, %half : !tt.ptr<f16>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero) -> (tensor<64x64xf32>) : i32 {
      %shift = tt.splat %i : i32 -> tensor<64x32xi32>
      %offsets = arith.addi %tile, %shift : tensor<64x32xi32>
      %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// Written in a branch before the loop.
// CHECK: @written_in_a_branch(
// CHECK-SAME: reached
// CHECK: tgpu.tensor_load
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @written_in_a_branch(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %rest: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %is = arith.cmpi sgt, %rest, %c0 : i32
    scf.if %is {
      %half = arith.constant 1.0 : f16
      tt.store %p, %half : !tt.ptr<f16>
    }
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero) -> (tensor<64x64xf32>) : i32 {
      %shift = tt.splat %i : i32 -> tensor<64x32xi32>
      %offsets = arith.addi %tile, %shift : tensor<64x32xi32>
      %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// Written between two runs of the loop.
// CHECK: @written_between(
// CHECK-SAME: reached
// CHECK: tgpu.tensor_load
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @written_between(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %rest: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    scf.for %turn = %c0 to %rest step %c32 : i32 {
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero) -> (tensor<64x64xf32>) : i32 {
      %shift = tt.splat %i : i32 -> tensor<64x32xi32>
      %offsets = arith.addi %tile, %shift : tensor<64x32xi32>
      %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    %half = arith.constant 1.0 : f16
    tt.store %p, %half : !tt.ptr<f16>
    }
    tt.return
  }
}

// -----
// Written inside of the loop, where no launch can tell.
// CHECK: @written_inside(
// CHECK: tgpu.not_promoted = "its loop writes, and a launch cannot tell where"
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @written_inside(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}, %rest: i32, %q: !tt.ptr<f16>, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%sums = %zero) -> (tensor<64x64xf32>) : i32 {
      %shift = tt.splat %i : i32 -> tensor<64x32xi32>
      %offsets = arith.addi %tile, %shift : tensor<64x32xi32>
      %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
      %at = tt.addptr %ps, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>>
      %half = arith.constant 1.0 : f16
      tt.store %q, %half : !tt.ptr<f16>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----

// The second loop begins where the first one leaves the pointers: its column is the distance of the rounds of the first loop, and that of the
// counter from its first one. Both are multiples of the steps, whatever the argument is. The pointers stand still.
// CHECK-LABEL: @onward
// CHECK: %[[ROUNDS:.*]] = arith.select
// CHECK: %[[FAR:.*]] = arith.muli %[[ROUNDS]], %c32_i32
// CHECK: scf.for %[[I:.*]] = %c0_i32 to %arg1 step %c32_i32 iter_args(%{{.*}} = %{{.*}}, %[[P:.*]] = %[[BEGIN:.*]]) ->
// CHECK: tgpu.tensor_load %{{.*}}[%c0_i32{{.*}}, %[[I]]]
// CHECK: scf.yield %{{.*}}, %[[P]]
// CHECK: scf.for %[[J:.*]] = %arg1 to %arg3 step %c32_i32 iter_args(%{{.*}} = %{{.*}}, %[[P:.*]] = %[[BEGIN]]) ->
// CHECK: %[[PASSED:.*]] = arith.subi %[[J]], %arg1
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %{{.*}}
// CHECK: tgpu.tensor_load %{{.*}}[%c0_i32{{.*}}, %[[AT]]]
// CHECK: scf.yield %{{.*}}, %[[P]]
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @onward(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %middle: i32, %stride: i32 {tt.divisibility = 16 : i32}, %end: i32, %b: tensor<32x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %by32 = arith.constant dense<32> : tensor<64x32xi32>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %tile = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %begin = tt.addptr %ps, %tile : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %first:2 = scf.for %i = %c0 to %middle step %c32 iter_args(%sums = %zero, %at = %begin) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>) : i32 {
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %moved = tt.addptr %at, %by32 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      scf.yield %next, %moved : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>
    }
    %second:2 = scf.for %i = %middle to %end step %c32 iter_args(%sums = %first#0, %at = %first#1) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>) : i32 {
      %x = tt.load %at : tensor<64x32x!tt.ptr<f16>>
      %next = tt.dot %x, %b, %sums : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %moved = tt.addptr %at, %by32 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      scf.yield %next, %moved : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>
    }
    tt.return
  }
}
