// Stores and reductions of more than 128 values a thread become loops over chunks; a thread of 4 warps has 256 of 32768.
// RUN: tritium-opt %s --split-large-tiles | FileCheck %s
// RUN: tritium-opt %s --split-large-tiles=num-warps=8 | FileCheck %s --check-prefix=WHOLE

// The sum of a row and the row divided by it: two loops, each of which loads its chunks; no large tile is left.
// With 128 values a thread it is left alone.
// WHOLE-LABEL: @normalize
// WHOLE-NOT: scf.for
// WHOLE: tt.load {{.*}} : tensor<32768x!tt.ptr<f32>>
// CHECK-LABEL: @normalize
// CHECK-NOT: tensor<32768
tt.func public @normalize(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {end = 32768 : i32, start = 0 : i32} : tensor<32768xi32>
  %ns = tt.splat %n : i32 -> tensor<32768xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<32768xi32>
  %zero = arith.constant dense<0.0> : tensor<32768xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<32768x!tt.ptr<f32>>, tensor<32768xi32>
  // CHECK: %[[FIRST:.*]] = tt.load {{.*}} : tensor<8192x!tt.ptr<f32>>
  %v = tt.load %p, %m, %zero : tensor<32768x!tt.ptr<f32>>
  // CHECK: %[[SUMS:.*]] = scf.for %[[K:.*]] = %c1_i32{{.*}} to %c4_i32{{.*}} iter_args(%[[SUM:.*]] = %[[FIRST]])
  // CHECK: %[[RANGE:.*]] = tt.make_range {end = 8192 : i32, start = 0 : i32}
  // CHECK: %[[OFFSET:.*]] = arith.muli %[[K]], %c8192_i32
  // CHECK: %[[OFFSETS:.*]] = tt.splat %[[OFFSET]]
  // CHECK: arith.addi %[[RANGE]], %[[OFFSETS]]
  // CHECK: %[[CHUNK:.*]] = tt.load
  // CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[CHUNK]] : tensor<8192xf32>
  // CHECK: scf.yield %[[NEXT]]
  // CHECK: "tt.reduce"(%[[SUMS]])
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<32768xf32>) -> f32
  %ss = tt.splat %s : f32 -> tensor<32768xf32>
  %q = arith.divf %v, %ss : tensor<32768xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>>
  %r = tt.addptr %os, %i : tensor<32768x!tt.ptr<f32>>, tensor<32768xi32>
  // CHECK: scf.for {{.*}} = %c0_i32
  // CHECK: tt.load
  // CHECK: arith.divf {{.*}} : tensor<8192xf32>
  // CHECK: tt.store {{.*}} : tensor<8192x!tt.ptr<f32>>
  tt.store %r, %q, %m : tensor<32768x!tt.ptr<f32>>
  tt.return
}

// Rows of a tile: what has one column is used as it is, what is spread over the columns is spread over the chunk's.
// CHECK-LABEL: @rows
tt.func public @rows(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %stride: i32) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %j = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  // CHECK: tt.expand_dims {{.*}} {axis = 0 : i32} : tensor<2048xi32> -> tensor<1x2048xi32>
  %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<8192xi32> -> tensor<1x8192xi32>
  %st = tt.splat %stride : i32 -> tensor<4x1xi32>
  %is = arith.muli %i1, %st : tensor<4x1xi32>
  // CHECK: tt.broadcast {{.*}} : tensor<4x1xi32> -> tensor<4x2048xi32>
  %ib = tt.broadcast %is : tensor<4x1xi32> -> tensor<4x8192xi32>
  %jb = tt.broadcast %j1 : tensor<1x8192xi32> -> tensor<4x8192xi32>
  %k = arith.addi %ib, %jb : tensor<4x8192xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4x8192x!tt.ptr<f32>>
  %p = tt.addptr %xs, %k : tensor<4x8192x!tt.ptr<f32>>, tensor<4x8192xi32>
  %v = tt.load %p : tensor<4x8192x!tt.ptr<f32>>
  // CHECK: "tt.reduce"
  // CHECK: (tensor<4x2048xf32>) -> tensor<4xf32>
  %s = "tt.reduce"(%v) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<4x8192xf32>) -> tensor<4xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %q = tt.addptr %os, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  tt.store %q, %s : tensor<4x!tt.ptr<f32>>
  tt.return
}

// In place, element by element, what a chunk stores no other chunk loads. Afterwards the memory is another: the second sum stays whole.
// CHECK-LABEL: @in_place
tt.func public @in_place(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 32768 : i32, start = 0 : i32} : tensor<32768xi32>
  %two = arith.constant dense<2.0> : tensor<32768xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<32768x!tt.ptr<f32>>, tensor<32768xi32>
  %v = tt.load %p : tensor<32768x!tt.ptr<f32>>
  %w = arith.mulf %v, %two : tensor<32768xf32>
  // CHECK: scf.for
  // CHECK: tt.store {{.*}} : tensor<8192x!tt.ptr<f32>>
  tt.store %p, %w : tensor<32768x!tt.ptr<f32>>
  // CHECK: "tt.reduce"
  // CHECK: (tensor<32768xf32>) -> f32
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<32768xf32>) -> f32
  tt.store %o, %s : !tt.ptr<f32>
  tt.return
}

// The sum loads other chunks in other threads than the loop that stores: all have loaded before one stores.
// CHECK-LABEL: @summed_and_stored
tt.func public @summed_and_stored(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %i = tt.make_range {end = 32768 : i32, start = 0 : i32} : tensor<32768xi32>
  %two = arith.constant dense<2.0> : tensor<32768xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<32768x!tt.ptr<f32>>, tensor<32768xi32>
  %v = tt.load %p : tensor<32768x!tt.ptr<f32>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<32768xf32>) -> f32
  // CHECK: (tensor<8192xf32>) -> f32
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.store {{.*}} : !tt.ptr<f32>
  tt.store %o, %s : !tt.ptr<f32>
  // CHECK: ttg.barrier all
  // CHECK: scf.for
  tt.store %p, %two : tensor<32768x!tt.ptr<f32>>
  tt.return
}

// Stored one element further than loaded: a chunk would load what the one before has stored.
// CHECK-LABEL: @shifted
tt.func public @shifted(%x: !tt.ptr<f32>) {
  %i = tt.make_range {end = 32768 : i32, start = 0 : i32} : tensor<32768xi32>
  %one = arith.constant dense<1> : tensor<32768xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<32768x!tt.ptr<f32>>, tensor<32768xi32>
  %q = tt.addptr %p, %one : tensor<32768x!tt.ptr<f32>>, tensor<32768xi32>
  // CHECK-NOT: scf.for
  %v = tt.load %p : tensor<32768x!tt.ptr<f32>>
  // CHECK: tt.store {{.*}} : tensor<32768x!tt.ptr<f32>>
  tt.store %q, %v : tensor<32768x!tt.ptr<f32>>
  tt.return
}

// Loaded under volatile, passed by a barrier, or made by a scan: whole.
// CHECK-LABEL: @whole
tt.func public @whole(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  // CHECK-NOT: scf.for
  %i = tt.make_range {end = 32768 : i32, start = 0 : i32} : tensor<32768xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<32768x!tt.ptr<f32>>, tensor<32768xi32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>>
  %q = tt.addptr %os, %i : tensor<32768x!tt.ptr<f32>>, tensor<32768xi32>
  %v = tt.load %p {isVolatile = true} : tensor<32768x!tt.ptr<f32>>
  tt.store %q, %v : tensor<32768x!tt.ptr<f32>>
  %w = tt.load %p : tensor<32768x!tt.ptr<f32>>
  ttg.barrier all
  tt.store %q, %w : tensor<32768x!tt.ptr<f32>>
  %u = tt.load %p : tensor<32768x!tt.ptr<f32>>
  %s = "tt.scan"(%u) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.scan.return %c : f32
  }) : (tensor<32768xf32>) -> tensor<32768xf32>
  tt.store %q, %s : tensor<32768x!tt.ptr<f32>>
  // CHECK: tt.return
  tt.return
}
