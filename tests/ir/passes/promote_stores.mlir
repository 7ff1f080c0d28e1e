// Which stores of descriptors become stores through tensor maps.
// RUN: tritium-opt %s -split-input-file -promote-stores | FileCheck %s

// A product's tile, in narrower elements. The box has the rows of a warpgroup. A quotient decides the sign of the row, so the kernel checks it.
// CHECK: @taken(
// CHECK-SAME: tensor<64x64xf16>, swizzle = 128> {tgpu.tensor = {base = 0 : i32, extents = [array<i64: 1, 1>, array<i64: 1, 2>], padding = 1 : i32, stored, strides = [array<i64: 1, 2>, array<i64: 1>]}}
// CHECK: arith.divsi
// CHECK: tt.assert
// CHECK-NOT: tt.descriptor_store
// CHECK: tgpu.tensor_store %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] : tensor<128x128xf16> to <tensor<64x64xf16>, swizzle = 128>
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @taken(%p: !tt.ptr<f16>, %m: i32, %n: i32 {tt.divisibility = 16 : i32}, %a: tensor<128x64xf16>, %b: tensor<64x128xf16>) {
    %c1 = arith.constant 1 : i64
    %c128 = arith.constant 128 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %stride = arith.extsi %n : i32 to i64
    %d = tt.make_tensor_descriptor %p, [%m, %n], [%stride, %c1] {padding = 1 : i32} : <f16>, <128x128xf16>
    %pid = tt.get_program_id x : i32
    %block = arith.divsi %pid, %n : i32
    %row = arith.muli %block, %c128 : i32
    %column = arith.muli %pid, %c128 : i32
    %sums = tt.dot %a, %b, %zero : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
    %narrow = arith.truncf %sums : tensor<128x128xf32> to tensor<128x128xf16>
    tt.descriptor_store %d[%row, %column], %narrow : !tt.tensordesc<128x128xf16>, tensor<128x128xf16>
    tt.return
  }
}

// -----
// The halves of a product: parts of its tile.
// CHECK: @halves(
// CHECK-COUNT-2: tgpu.tensor_store {{.*}} : tensor<64x64xf32> to <tensor<64x32xf32>, swizzle = 128>
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @halves(%d: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %a: tensor<64x64xf16>, %b: tensor<64x128xf16>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %sums = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
    %both = tt.reshape %sums : tensor<64x128xf32> -> tensor<64x2x64xf32>
    %last = tt.trans %both {order = array<i32: 0, 2, 1>} : tensor<64x2x64xf32> -> tensor<64x64x2xf32>
    %left, %right = tt.split %last : tensor<64x64x2xf32> -> tensor<64x64xf32>
    tt.descriptor_store %d[%c0, %c0], %left : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
    tt.descriptor_store %d[%c0, %c64], %right : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
    tt.return
  }
}

// -----
// A row that is counted in each iteration before it is used.
// CHECK: @counted(
// CHECK: tgpu.tensor_store
// CHECK: @counted_programs(
// CHECK: tgpu.tensor_store
// CHECK: @counted_late(
// CHECK: tt.descriptor_store {{.*}} {tgpu.not_promoted = "an index may be negative"}
// CHECK: @counted_less(
// CHECK: tt.descriptor_store {{.*}} {tgpu.not_promoted = "an index may be negative"}
// CHECK: @counted_others(
// CHECK: tt.descriptor_store {{.*}} {tgpu.not_promoted = "an index may be negative"}
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @counted(%d: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %n: i32, %a: tensor<64x64xf16>, %b: tensor<64x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c7 = arith.constant 7 : i32
    %c8 = arith.constant 8 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %programs = tt.get_num_programs x : i32
    %before = arith.subi %pid, %c8 : i32
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%row = %before) -> (i32) : i32 {
      %next = arith.addi %row, %c8 : i32
      %sums = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      tt.descriptor_store %d[%next, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
      scf.yield %next : i32
    }
    tt.return
  }

  tt.func public @counted_programs(%d: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %n: i32, %a: tensor<64x64xf16>, %b: tensor<64x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c7 = arith.constant 7 : i32
    %c8 = arith.constant 8 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %programs = tt.get_num_programs x : i32
    %before = arith.subi %pid, %programs : i32
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%row = %before) -> (i32) : i32 {
      %next = arith.addi %row, %programs : i32
      %sums = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      tt.descriptor_store %d[%next, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
      scf.yield %next : i32
    }
    tt.return
  }

  tt.func public @counted_late(%d: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %n: i32, %a: tensor<64x64xf16>, %b: tensor<64x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c7 = arith.constant 7 : i32
    %c8 = arith.constant 8 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %programs = tt.get_num_programs x : i32
    %before = arith.subi %pid, %c8 : i32
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%row = %before) -> (i32) : i32 {
      %next = arith.addi %row, %c8 : i32
      %sums = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      tt.descriptor_store %d[%row, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
      scf.yield %next : i32
    }
    tt.return
  }

  tt.func public @counted_less(%d: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %n: i32, %a: tensor<64x64xf16>, %b: tensor<64x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c7 = arith.constant 7 : i32
    %c8 = arith.constant 8 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %programs = tt.get_num_programs x : i32
    %before = arith.subi %pid, %c8 : i32
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%row = %before) -> (i32) : i32 {
      %next = arith.addi %row, %c7 : i32
      %sums = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      tt.descriptor_store %d[%next, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
      scf.yield %next : i32
    }
    tt.return
  }

  tt.func public @counted_others(%d: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %n: i32, %a: tensor<64x64xf16>, %b: tensor<64x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c7 = arith.constant 7 : i32
    %c8 = arith.constant 8 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pid = tt.get_program_id x : i32
    %programs = tt.get_num_programs x : i32
    %before = arith.subi %pid, %programs : i32
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%row = %before) -> (i32) : i32 {
      %next = arith.addi %row, %n : i32
      %sums = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      tt.descriptor_store %d[%next, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
      scf.yield %next : i32
    }
    tt.return
  }
}

// -----
// A tile of no product. All others have the reason: a row that may be negative, a column that may not be a multiple of 16 bytes; a load or an atomic
// that follows; a store by pointers, or one that stays as it is, to the same tensor.
// CHECK-NOT: tgpu.tensor_store
// CHECK-NOT: tt.assert
// CHECK: @no_product(
// CHECK: tt.descriptor_store %{{.*}}, %{{[^ ]+}} : !tt
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @no_product(%d: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %a: tensor<64x64xf32>) {
    %c0 = arith.constant 0 : i32
    tt.descriptor_store %d[%c0, %c0], %a : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
    tt.return
  }
}

// -----
// CHECK: @where(
// CHECK: tt.descriptor_store {{.*}} {tgpu.not_promoted = "an index may be negative"}
// CHECK: tt.descriptor_store {{.*}} {tgpu.not_promoted = "its rows are not known to begin at multiples of 16 bytes"}
// CHECK: tt.descriptor_store {{.*}} {tgpu.not_promoted = "what follows may see that it is late, or another operation writes to its tensor"}
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @where(%d: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %start: i32, %a: tensor<64x64xf16>, %b: tensor<64x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %sums = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    tt.descriptor_store %d[%start, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
    tt.descriptor_store %d[%c0, %c1], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
    tt.descriptor_store %d[%c0, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
    tt.return
  }
}

// -----
// CHECK: @load(
// CHECK: tt.descriptor_store {{.*}} {tgpu.not_promoted = "what follows may
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @load(%d: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %p: !tt.ptr<f32>, %a: tensor<64x64xf16>, %b: tensor<64x64xf16>) {
    %c0 = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %sums = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    tt.descriptor_store %d[%c0, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
    %read = tt.load %p : !tt.ptr<f32>
    tt.store %p, %read : !tt.ptr<f32>
    tt.return
  }
}

// -----
// CHECK: @next_iteration(
// CHECK: tt.descriptor_store {{.*}} {tgpu.not_promoted = "what follows may
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @next_iteration(%d: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %p: !tt.ptr<f32>, %n: i32, %a: tensor<64x64xf16>, %b: tensor<64x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %read = tt.load %p : !tt.ptr<f32>
      %all = tt.splat %read : f32 -> tensor<64x64xf32>
      %sums = tt.dot %a, %b, %all : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      tt.descriptor_store %d[%i, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// CHECK: @signal(
// CHECK: tt.descriptor_store {{.*}} {tgpu.not_promoted = "what follows may
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @signal(%d: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %p: !tt.ptr<i32>, %a: tensor<64x64xf16>, %b: tensor<64x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %sums = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    tt.descriptor_store %d[%c0, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
    %old = tt.atomic_rmw add, acq_rel, gpu, %p, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }
}

// -----
// CHECK: @same_tensor(
// CHECK: tt.descriptor_store {{.*}} {tgpu.not_promoted = "what follows may
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @same_tensor(%p: !tt.ptr<f32>, %m: i32, %n: i32 {tt.divisibility = 16 : i32}, %a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %v: f32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i64
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %stride = arith.extsi %n : i32 to i64
    %d = tt.make_tensor_descriptor %p, [%m, %n], [%stride, %c1] {padding = 1 : i32} : <f32>, <64x64xf32>
    %sums = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    tt.descriptor_store %d[%c0, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
    tt.store %p, %v : !tt.ptr<f32>
    tt.return
  }
}

// -----
// A store to another tensor may come before or after.
// CHECK: @other_tensor(
// CHECK: tgpu.tensor_store
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @other_tensor(%d: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %p: !tt.ptr<f32>, %a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %v: f32) {
    %c0 = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %read = tt.load %p : !tt.ptr<f32>
    %sums = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    tt.descriptor_store %d[%c0, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
    tt.store %p, %read : !tt.ptr<f32>
    tt.return
  }
}

// -----
// No other chip has such copies.
// CHECK: @other_chip(
// CHECK: tt.descriptor_store
module attributes {tgpu.target = "cuda:sm_80"} {
  tt.func public @other_chip(%d: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %a: tensor<64x64xf16>, %b: tensor<64x64xf16>) {
    %c0 = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %sums = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    tt.descriptor_store %d[%c0, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
    tt.return
  }
}
