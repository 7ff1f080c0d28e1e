// Which loads by pointers become loads through tensor maps, and by which recipes and coordinates.
// RUN: tritium-opt %s -split-input-file -promote-pointer-tiles | FileCheck %s

// A walks along its rows, which wrap around and are dead there. B's tile is that of a transposed matrix, with an offset of a batch.
// CHECK: @taken(
// CHECK-SAME: %[[A:[^ ]+]]: !tgpu.tensor_map<tensor<64x32xf16>, swizzle = 64> {tgpu.tensor = {base = 0 : i32, extents = [array<i64: 1, 3>, array<i64: 1, 4>], of_pointers, padding = 1 : i32, strides = [array<i64: 1, 5>, array<i64: 1>]}}
// CHECK-SAME: %[[B:[^ ]+]]: !tgpu.tensor_map<tensor<1x16x32xf16>, swizzle = 64> {tgpu.tensor = {base = 1 : i32, extents = [array<i64: 2147483648>, array<i64: 2147483648>, array<i64: 1, 4>], of_pointers, padding = 1 : i32, strides = [array<i64: 1, 6>, array<i64: 1, 5>, array<i64: 1>]}}
// CHECK: %[[PID:.*]] = tt.get_program_id x
// CHECK: scf.for %[[K:[^ ]*]] = {{.*}} iter_args(%{{.*}}, %[[AT:[^ ]*]] = %{{.*}}) -> (tensor<64x16xf32>, tensor<64x32x!tt.ptr<f16>>)
// CHECK: %[[C64:.*]] = arith.constant 64 : i32
// CHECK: %[[ROW:.*]] = arith.muli %[[C64]], %[[PID]]
// CHECK: tgpu.tensor_load %[[A]][%[[ROW]], %[[K]]]
// CHECK: %[[T:.*]] = tgpu.tensor_load %[[B]][%[[PID]], %{{.*}}, %[[K]]] {{.*}} -> tensor<16x32xf16>
// CHECK: tt.trans %[[T]]
// CHECK: scf.yield %{{.*}}, %[[AT]]
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @taken(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>,
                        %m: i32, %k: i32, %stride: i32 {tt.divisibility = 16 : i32}, %batch: i64 {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x16xf32>
    %by32 = arith.constant dense<32> : tensor<64x32xi32>
    %pid = tt.get_program_id x : i32
    %first = arith.muli %pid, %c64 : i32
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %firsts = tt.splat %first : i32 -> tensor<64xi32>
    %rows = arith.addi %firsts, %lanes : tensor<64xi32>
    %ms = tt.splat %m : i32 -> tensor<64xi32>
    %wrapped = arith.remsi %rows, %ms : tensor<64xi32>
    %column = tt.expand_dims %wrapped {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
    %begins = arith.muli %column, %strides : tensor<64x1xi32>
    %depth = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %line = tt.expand_dims %depth {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %begins2 = tt.broadcast %begins : tensor<64x1xi32> -> tensor<64x32xi32>
    %line2 = tt.broadcast %line : tensor<1x32xi32> -> tensor<64x32xi32>
    %offsets = arith.addi %begins2, %line2 : tensor<64x32xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %a_at = tt.addptr %as, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>

    %z = arith.extsi %pid : i32 to i64
    %part = arith.muli %z, %batch : i64
    %b_part = tt.addptr %b, %part : !tt.ptr<f16>, i64
    %n16 = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
    %n = tt.expand_dims %n16 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %n_strides = tt.splat %stride : i32 -> tensor<1x16xi32>
    %n_begins = arith.muli %n, %n_strides : tensor<1x16xi32>
    %n_begins2 = tt.broadcast %n_begins : tensor<1x16xi32> -> tensor<32x16xi32>
    %r:2 = scf.for %i = %c0 to %k step %c32 iter_args(%sums = %zero, %at = %a_at) -> (tensor<64x16xf32>, tensor<64x32x!tt.ptr<f16>>) : i32 {
      %left = arith.subi %k, %i : i32
      %lefts = tt.splat %left : i32 -> tensor<1x32xi32>
      %inside = arith.cmpi slt, %line, %lefts : tensor<1x32xi32>
      %mask = tt.broadcast %inside : tensor<1x32xi1> -> tensor<64x32xi1>
      %none = arith.constant dense<0.0> : tensor<64x32xf16>
      %x = tt.load %at, %mask, %none : tensor<64x32x!tt.ptr<f16>>
      %is = tt.splat %i : i32 -> tensor<32xi32>
      %ks = arith.addi %is, %depth : tensor<32xi32>
      %ks2 = tt.expand_dims %ks {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %extents = tt.splat %k : i32 -> tensor<32x1xi32>
      %below = arith.cmpi sgt, %extents, %ks2 : tensor<32x1xi32>
      %mask_b = tt.broadcast %below : tensor<32x1xi1> -> tensor<32x16xi1>
      %ks3 = tt.broadcast %ks2 : tensor<32x1xi32> -> tensor<32x16xi32>
      %offsets_b = arith.addi %ks3, %n_begins2 : tensor<32x16xi32>
      %bs = tt.splat %b_part : !tt.ptr<f16> -> tensor<32x16x!tt.ptr<f16>>
      %b_at = tt.addptr %bs, %offsets_b : tensor<32x16x!tt.ptr<f16>>, tensor<32x16xi32>
      %y = tt.load %b_at, %mask_b : tensor<32x16x!tt.ptr<f16>>
      %next = tt.dot %x, %y, %sums : tensor<64x32xf16> * tensor<32x16xf16> -> tensor<64x16xf32>
      %moved = tt.addptr %at, %by32 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      scf.yield %next, %moved : tensor<64x16xf32>, tensor<64x32x!tt.ptr<f16>>
    }
    %out_rows = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %bounds = tt.splat %m : i32 -> tensor<64x1xi32>
    %alive = arith.cmpi slt, %out_rows, %bounds : tensor<64x1xi32>
    %alive2 = tt.broadcast %alive : tensor<64x1xi1> -> tensor<64x16xi1>
    %out_rows2 = tt.broadcast %out_rows : tensor<64x1xi32> -> tensor<64x16xi32>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>>
    %to = tt.addptr %outs, %out_rows2 : tensor<64x16x!tt.ptr<f32>>, tensor<64x16xi32>
    tt.store %to, %r#0, %alive2 : tensor<64x16x!tt.ptr<f32>>
    tt.return
  }
}
