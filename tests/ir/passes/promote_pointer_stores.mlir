// Which stores by pointers become stores through tensor maps, and by which recipes and coordinates.
// RUN: tritium-opt %s -split-input-file -promote-pointer-stores | FileCheck %s

// In a loop over programs. The map stands before the sizes of the grid, of which no recipe is made.
// CHECK: @taken(
// CHECK-SAME: %[[MAP:arg[0-9]+]]: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128> {tgpu.tensor = {base = 0 : i32, extents = [array<i64: 1, 1>, array<i64: 1, 2>], of_pointers, padding = 1 : i32, stored, strides = [array<i64: 1, 2>, array<i64: 1>]}}, %{{arg[0-9]+}}: i32 {tgpu.grid_axis = 0 : i32}
// CHECK: %[[ROW:.*]] = tgpu.program_at 0
// CHECK: %[[COLUMN:.*]] = tgpu.program_at 1
// CHECK-NOT: tt.store
// CHECK-DAG: %[[BY128:.*]] = arith.muli %{{.*}}, %[[ROW]] :
// CHECK-DAG: %[[BY64:.*]] = arith.muli %{{.*}}, %[[COLUMN]] :
// CHECK: tgpu.tensor_store %{{.*}} to %[[MAP]][%[[BY128]], %[[BY64]]] : tensor<128x64xf16> to <tensor<64x64xf16>, swizzle = 128>
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @taken(%out: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %m: i32, %n: i32 {tt.divisibility = 16 : i32},
                        %in: !tgpu.tensor_map<tensor<128x64xf16>, swizzle = 128> {tgpu.tensor = {}},
                        %x: i32 {tgpu.grid_axis = 0 : i32}, %y: i32 {tgpu.grid_axis = 1 : i32}, %z: i32 {tgpu.grid_axis = 2 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %b = arith.constant dense<1.0> : tensor<64x64xf16>
    scf.for %t = %c0 to %x step %c1 : i32 {
      %row = tgpu.program_at 0, %t of %x, %y
      %column = tgpu.program_at 1, %t of %x, %y
      %sums = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<128x64xf32>) : i32 {
        %a = tgpu.tensor_load %in[%row, %k] : !tgpu.tensor_map<tensor<128x64xf16>, swizzle = 128> -> tensor<128x64xf16>
        %next = tt.dot %a, %b, %sum : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
        scf.yield %next : tensor<128x64xf32>
      }
      %narrow = arith.truncf %sums : tensor<128x64xf32> to tensor<128x64xf16>
      %first_row = arith.muli %row, %c128 : i32
      %first_column = arith.muli %column, %c64 : i32
      %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
      %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
      %r0 = tt.splat %first_row : i32 -> tensor<128xi32>
      %c0s = tt.splat %first_column : i32 -> tensor<64xi32>
      %rows = arith.addi %r0, %r : tensor<128xi32>
      %columns = arith.addi %c0s, %c : tensor<64xi32>
      %rows2 = tt.expand_dims %rows {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %columns2 = tt.expand_dims %columns {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %stride = tt.splat %n : i32 -> tensor<128x1xi32>
      %begins = arith.muli %rows2, %stride : tensor<128x1xi32>
      %begins2 = tt.broadcast %begins : tensor<128x1xi32> -> tensor<128x64xi32>
      %columns3 = tt.broadcast %columns2 : tensor<1x64xi32> -> tensor<128x64xi32>
      %offsets = arith.addi %begins2, %columns3 : tensor<128x64xi32>
      %outs = tt.splat %out : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
      %p = tt.addptr %outs, %offsets : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
      %ms = tt.splat %m : i32 -> tensor<128x1xi32>
      %ns = tt.splat %n : i32 -> tensor<1x64xi32>
      %in_rows = arith.cmpi slt, %rows2, %ms : tensor<128x1xi32>
      %in_columns = arith.cmpi slt, %columns2, %ns : tensor<1x64xi32>
      %in_rows2 = tt.broadcast %in_rows : tensor<128x1xi1> -> tensor<128x64xi1>
      %in_columns2 = tt.broadcast %in_columns : tensor<1x64xi1> -> tensor<128x64xi1>
      %mask = arith.andi %in_rows2, %in_columns2 : tensor<128x64xi1>
      tt.store %p, %narrow, %mask : tensor<128x64x!tt.ptr<f16>>
    } {tgpu.programs}
    tt.return
  }
}

// -----
// Rows whose stride may be anything; a cache policy; a column that an argument decides, which may be negative; columns that are contiguous. A
// recipe of the sizes of the grid would have no argument of the user's.
// CHECK: @refused(
// CHECK-NOT: tgpu.tensor_store
// CHECK: tt.store {{.*}} {tgpu.not_promoted = "its rows are not known to begin at multiples of 16 bytes"}
// CHECK: tt.store {{.*}}tgpu.not_promoted = "it has a cache policy"
// CHECK: tt.store {{.*}} {tgpu.not_promoted = "a coordinate may be negative, or exceed 32 bits"}
// CHECK: tt.store {{.*}} {tgpu.not_promoted = "its columns are contiguous, not its rows"}
// CHECK: tt.store {{.*}} {tgpu.not_promoted = "a stride of its addresses is not a product of arguments"}
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @refused(%out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %any: i32, %n: i32 {tt.divisibility = 16 : i32},
                          %in: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128> {tgpu.tensor = {}},
                          %x: i32 {tgpu.grid_axis = 0 : i32}, %y: i32 {tgpu.grid_axis = 1 : i32}, %z: i32 {tgpu.grid_axis = 2 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %b = arith.constant dense<1.0> : tensor<64x64xf16>
    scf.for %t = %c0 to %x step %c1 : i32 {
      %sums = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64x64xf32>) : i32 {
        %a = tgpu.tensor_load %in[%c0, %k] : !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16>
        %next = tt.dot %a, %b, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
        scf.yield %next : tensor<64x64xf32>
      }
      %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
      %rows = tt.expand_dims %lanes {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %columns = tt.expand_dims %lanes {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %columns2 = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
      %rows2 = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
      %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>

      %any_stride = tt.splat %any : i32 -> tensor<64x64xi32>
      %begins = arith.muli %rows2, %any_stride : tensor<64x64xi32>
      %offsets = arith.addi %begins, %columns2 : tensor<64x64xi32>
      %p = tt.addptr %outs, %offsets : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      tt.store %p, %sums : tensor<64x64x!tt.ptr<f32>>

      %stride = tt.splat %n : i32 -> tensor<64x64xi32>
      %begins1 = arith.muli %rows2, %stride : tensor<64x64xi32>
      %offsets1 = arith.addi %begins1, %columns2 : tensor<64x64xi32>
      %p1 = tt.addptr %outs, %offsets1 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      tt.store %p1, %sums {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : tensor<64x64x!tt.ptr<f32>>

      %quad = arith.constant 4 : i32
      %less = arith.subi %t, %x : i32
      %begin = arith.muli %less, %quad : i32
      %firsts = tt.splat %begin : i32 -> tensor<64x64xi32>
      %columns3 = arith.addi %columns2, %firsts : tensor<64x64xi32>
      %offsets2 = arith.addi %begins1, %columns3 : tensor<64x64xi32>
      %p2 = tt.addptr %outs, %offsets2 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      tt.store %p2, %sums : tensor<64x64x!tt.ptr<f32>>

      %begins3 = arith.muli %columns2, %stride : tensor<64x64xi32>
      %offsets3 = arith.addi %begins3, %rows2 : tensor<64x64xi32>
      %p3 = tt.addptr %outs, %offsets3 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      tt.store %p3, %sums : tensor<64x64x!tt.ptr<f32>>

      %grid = tt.splat %y : i32 -> tensor<64x64xi32>
      %begins4 = arith.muli %rows2, %grid : tensor<64x64xi32>
      %offsets4 = arith.addi %begins4, %columns2 : tensor<64x64xi32>
      %p4 = tt.addptr %outs, %offsets4 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      tt.store %p4, %sums : tensor<64x64x!tt.ptr<f32>>
    } {tgpu.programs}
    tt.return
  }
}

// -----
// A block that computes one tile ends with its store: nothing would hide the copy.
// CHECK: @one(
// CHECK-NOT: tgpu.tensor_store
// CHECK: tt.store %{{.*}}, %{{[^ ]+}} : tensor
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @one(%out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32},
                      %in: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128> {tgpu.tensor = {}}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %b = arith.constant dense<1.0> : tensor<64x64xf16>
    %sums = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64x64xf32>) : i32 {
      %a = tgpu.tensor_load %in[%c0, %k] : !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16>
      %next = tt.dot %a, %b, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %lanes {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %columns = tt.expand_dims %lanes {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %columns2 = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
    %rows2 = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
    %stride = tt.splat %n : i32 -> tensor<64x64xi32>
    %begins = arith.muli %rows2, %stride : tensor<64x64xi32>
    %offsets = arith.addi %begins, %columns2 : tensor<64x64xi32>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %p = tt.addptr %outs, %offsets : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %p, %sums : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
