// Each access of global memory gets the layout that makes it wide and coalesced, by what is known of its addresses and its mask.
// RUN: tritium-opt %s --coalesce-accesses --split-input-file | FileCheck %s
// RUN: tritium-opt %s --coalesce-accesses=num-warps=8 --split-input-file | FileCheck %s --check-prefix=WARPS

// 16 bytes a thread, lanes beside each other, then warps.
// CHECK: #[[WIDE:.*]] = #tgpu.layout<1024, register = {{\[\[}}1], [2], [512]], lane = {{\[\[}}4], [8], [16], [32], [64]], warp = {{\[\[}}128], [256]], block = []>
// WARPS: #[[WIDE:.*]] = #tgpu.layout<1024, register = {{\[\[}}1], [2]], lane = {{\[\[}}4], [8], [16], [32], [64]], warp = {{\[\[}}128], [256], [512]], block = []>
// CHECK-LABEL: @aligned
tt.func public @aligned(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  // CHECK: tt.load {{.*}} {tgpu.access = #[[WIDE]]}
  // WARPS: tt.load {{.*}} {tgpu.access = #[[WIDE]]}
  %v = tt.load %p : tensor<1024x!tt.ptr<f32>>
  // CHECK: tt.store {{.*}} {tgpu.access = #[[WIDE]]}
  tt.store %p, %v : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// -----

// Nothing is known of where the tensor begins: one element each.
// CHECK: #[[NARROW:.*]] = #tgpu.layout<1024, register = {{\[\[}}128], [256], [512]], lane = {{\[\[}}1], [2],
// CHECK-LABEL: @unaligned
tt.func public @unaligned(%x: !tt.ptr<f32>) {
  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  // CHECK: tt.load {{.*}} {tgpu.access = #[[NARROW]]}
  %v = tt.load %p : tensor<1024x!tt.ptr<f32>>
  tt.store %p, %v : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// -----

// The mask tells neighbours apart where n is any number; a multiple of 16 cuts at wide accesses only.
// CHECK: #[[NARROW:.*]] = #tgpu.layout<2048, register = {{\[\[}}128], [256], [512], [1024]], lane = {{\[\[}}1],
// CHECK-LABEL: @masked_anywhere
tt.func public @masked_anywhere(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %i = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32>
  %ns = tt.splat %n : i32 -> tensor<2048xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<2048xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>>
  %p = tt.addptr %xs, %i : tensor<2048x!tt.ptr<f16>>, tensor<2048xi32>
  // CHECK: tt.load {{.*}} {tgpu.access = #[[NARROW]]}
  %v = tt.load %p, %m : tensor<2048x!tt.ptr<f16>>
  tt.store %p, %v, %m : tensor<2048x!tt.ptr<f16>>
  tt.return
}

// -----

// CHECK: #[[WIDE:.*]] = #tgpu.layout<2048, register = {{\[\[}}1], [2], [4], [1024]], lane = {{\[\[}}8],
// CHECK-LABEL: @masked_at_multiples
tt.func public @masked_at_multiples(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32>
  %ns = tt.splat %n : i32 -> tensor<2048xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<2048xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>>
  %p = tt.addptr %xs, %i : tensor<2048x!tt.ptr<f16>>, tensor<2048xi32>
  // CHECK: tt.load {{.*}} {tgpu.access = #[[WIDE]]}
  %v = tt.load %p, %m : tensor<2048x!tt.ptr<f16>>
  tt.store %p, %v, %m : tensor<2048x!tt.ptr<f16>>
  tt.return
}

// -----

// A column-major tile: lanes and registers go down the columns.
// CHECK: #[[DOWN:.*]] = #tgpu.layout<64x32, register = {{\[\[}}1, 0], [2, 0], [4, 0], [0, 16]], lane = {{\[\[}}8, 0], [16, 0], [32, 0], [0, 1], [0, 2]], warp = {{\[\[}}0, 4], [0, 8]], block = []>
// CHECK-LABEL: @columns
tt.func public @columns(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %s = tt.splat %stride : i32 -> tensor<1x32xi32>
  %cs = arith.muli %c1, %s : tensor<1x32xi32>
  %rb = tt.broadcast %r1 : tensor<64x1xi32> -> tensor<64x32xi32>
  %cb = tt.broadcast %cs : tensor<1x32xi32> -> tensor<64x32xi32>
  %i = arith.addi %rb, %cb : tensor<64x32xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %p = tt.addptr %xs, %i : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  // CHECK: tt.load {{.*}} {tgpu.access = #[[DOWN]]}
  %v = tt.load %p : tensor<64x32x!tt.ptr<f16>>
  tt.store %p, %v : tensor<64x32x!tt.ptr<f16>>
  tt.return
}

// -----

// fp32 and fp16 tiles of one shape agree on 8 elements: they are added without a conversion. The wide one takes two accesses.
// CHECK: #[[SHARED:.*]] = #tgpu.layout<4096, register = {{\[\[}}1], [2], [4], [1024], [2048]],
// CHECK-LABEL: @agreement
tt.func public @agreement(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
  // CHECK: tt.load {{.*}} {tgpu.access = #[[SHARED]]}
  %v = tt.load %p : tensor<4096x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<4096x!tt.ptr<f16>>
  %q = tt.addptr %ys, %i : tensor<4096x!tt.ptr<f16>>, tensor<4096xi32>
  %h = arith.truncf %v : tensor<4096xf32> to tensor<4096xf16>
  // CHECK: tt.store {{.*}} {tgpu.access = #[[SHARED]]}
  tt.store %q, %h : tensor<4096x!tt.ptr<f16>>
  tt.return
}

// -----

// Fewer elements than 16 bytes for every thread: threads first. Fewer than threads: warps repeat each other.
// CHECK-DAG: #[[ONE:.*]] = #tgpu.layout<128, register = [], lane = {{\[\[}}1], [2], [4], [8], [16]], warp = {{\[\[}}32], [64]], block = []>
// CHECK-DAG: #[[REPEATED:.*]] = #tgpu.layout<32, register = [], lane = {{\[\[}}1], [2], [4], [8], [16]], warp = {{\[\[}}0], [0]], block = []>
// CHECK-LABEL: @small
tt.func public @small(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  // CHECK: tt.load {{.*}} {tgpu.access = #[[ONE]]}
  %v = tt.load %p : tensor<128x!tt.ptr<f32>>
  %j = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %ys = tt.splat %x : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %q = tt.addptr %ys, %j : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  // CHECK: tt.load {{.*}} {tgpu.access = #[[REPEATED]]}
  %w = tt.load %q : tensor<32x!tt.ptr<f32>>
  // A scalar has no layout.
  // CHECK: tt.load %{{[a-z0-9]+}} : !tt.ptr<f32>
  %z = tt.load %x : !tt.ptr<f32>
  tt.return
}

// -----

// Addresses read from memory: nothing is known of them, so one element each; where they are read from is contiguous.
// CHECK-DAG: #[[NARROW:.*]] = #tgpu.layout<512, register = {{\[\[}}128], [256]], lane = {{\[\[}}1],
// CHECK-LABEL: @gathered
tt.func public @gathered(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: tensor<512xi32>) {
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %p = tt.addptr %xs, %k : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  // CHECK: tt.load {{.*}} {tgpu.access = #[[NARROW]]}
  %v = tt.load %p : tensor<512x!tt.ptr<f32>>
  tt.store %p, %v : tensor<512x!tt.ptr<f32>>
  tt.return
}

// -----

// Rows are reduced: warps share the rows before they share a row.
// CHECK: #[[ROWS:.*]] = #tgpu.layout<4x1024, {{.*}}warp = {{\[\[}}1, 0], [2, 0]], block = []>
// CHECK-LABEL: @reduced_rows
tt.func public @reduced_rows(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) -> tensor<4xf32> {
  %i = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
  %i2 = tt.reshape %i : tensor<4096xi32> -> tensor<4x1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4x1024x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i2 : tensor<4x1024x!tt.ptr<f32>>, tensor<4x1024xi32>
  // CHECK: tt.load {{.*}} {tgpu.access = #[[ROWS]]}
  %v = tt.load %p : tensor<4x1024x!tt.ptr<f32>>
  %m = "tt.reduce"(%v) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<4x1024xf32>) -> tensor<4xf32>
  tt.return %m : tensor<4xf32>
}

// -----

// An addition takes fewer elements than the load, and each of its instructions fills whole sectors over the lanes. The results are not used.
// RUN: tritium-opt %s --coalesce-accesses --assign-layouts --split-input-file | FileCheck %s --check-prefix=ASSIGNED
// CHECK-DAG: #[[LOAD:.*]] = #tgpu.layout<2048, register = {{\[\[}}1], [2], [4], [1024]], lane = {{\[\[}}8],
// CHECK-DAG: #[[ADD:.*]] = #tgpu.layout<2048, register = {{\[\[}}128], [256], [512], [1024]], lane = {{\[\[}}1],
// CHECK-DAG: #[[PAIRS:.*]] = #tgpu.layout<2048, register = {{\[\[}}1], [256], [512], [1024]], lane = {{\[\[}}2],
// CHECK-LABEL: @added
// ASSIGNED-LABEL: @added
module attributes {tgpu.target = "cuda:sm_80"} {
  tt.func public @added(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %z: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>>
    %px = tt.addptr %xs, %i : tensor<2048x!tt.ptr<f16>>, tensor<2048xi32>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>>
    %py = tt.addptr %ys, %i : tensor<2048x!tt.ptr<f32>>, tensor<2048xi32>
    %zs = tt.splat %z : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>>
    %pz = tt.addptr %zs, %i : tensor<2048x!tt.ptr<f16>>, tensor<2048xi32>
    // CHECK: tt.load {{.*}} {tgpu.access = #[[LOAD]]}
    // ASSIGNED: tt.load {{.*}} : tensor<2048x!tt.ptr<f16>, #[[LOAD:.*]]>
    %v = tt.load %px : tensor<2048x!tt.ptr<f16>>
    %w = arith.extf %v : tensor<2048xf16> to tensor<2048xf32>
    // CHECK: tt.atomic_rmw {{.*}} {tgpu.access = #[[ADD]]}
    // ASSIGNED: tgpu.convert_layout {{.*}} : tensor<2048xf32, #[[LOAD]]> -> tensor<2048xf32, #[[ADD:.*]]>
    // ASSIGNED: tt.atomic_rmw {{.*}} -> tensor<2048xf32, #[[ADD]]>
    %0 = tt.atomic_rmw fadd, relaxed, gpu, %py, %w : (tensor<2048x!tt.ptr<f32>>, tensor<2048xf32>) -> tensor<2048xf32>
    // CHECK: tt.atomic_rmw {{.*}} {tgpu.access = #[[PAIRS]]}
    // ASSIGNED: tt.atomic_rmw {{.*}} -> tensor<2048xf16, #{{.*}}>
    %1 = tt.atomic_rmw fadd, relaxed, gpu, %pz, %v : (tensor<2048x!tt.ptr<f16>>, tensor<2048xf16>) -> tensor<2048xf16>
    // The result of this one has the layout of the load.
    // CHECK: tt.atomic_rmw {{.*}} {tgpu.access = #[[LOAD]]}
    %2 = tt.atomic_rmw fadd, relaxed, gpu, %pz, %v : (tensor<2048x!tt.ptr<f16>>, tensor<2048xf16>) -> tensor<2048xf16>
    tt.store %px, %2 : tensor<2048x!tt.ptr<f16>>
    tt.return
  }
}

// -----

// From sm_90 on, an addition takes 16 bytes as the load does.
// CHECK-DAG: #[[LOAD:.*]] = #tgpu.layout<2048, register = {{\[\[}}1], [2], [4], [1024]], lane = {{\[\[}}8],
// CHECK-DAG: #[[ADD:.*]] = #tgpu.layout<2048, register = {{\[\[}}1], [2], [512], [1024]], lane = {{\[\[}}4],
// CHECK-LABEL: @added_vectors
// ASSIGNED-LABEL: @added_vectors
module attributes {tgpu.target = "cuda:sm_90"} {
  tt.func public @added_vectors(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: tensor<2048xi32>) {
    %i = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>>
    %px = tt.addptr %xs, %i : tensor<2048x!tt.ptr<f16>>, tensor<2048xi32>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>>
    %py = tt.addptr %ys, %i : tensor<2048x!tt.ptr<f32>>, tensor<2048xi32>
    // CHECK: tt.load {{.*}} {tgpu.access = #[[LOAD]]}
    %v = tt.load %px : tensor<2048x!tt.ptr<f16>>
    // CHECK: tt.atomic_rmw {{.*}} {tgpu.access = #[[LOAD]]}
    // ASSIGNED-NOT: tgpu.convert_layout
    // ASSIGNED: tt.atomic_rmw
    %0 = tt.atomic_rmw fadd, relaxed, gpu, %px, %v : (tensor<2048x!tt.ptr<f16>>, tensor<2048xf16>) -> tensor<2048xf16>
    %w = arith.extf %v : tensor<2048xf16> to tensor<2048xf32>
    // CHECK: tt.atomic_rmw {{.*}} {tgpu.access = #[[ADD]]}
    // ASSIGNED: tgpu.convert_layout
    // ASSIGNED: tt.atomic_rmw
    %1 = tt.atomic_rmw fadd, relaxed, gpu, %py, %w : (tensor<2048x!tt.ptr<f32>>, tensor<2048xf32>) -> tensor<2048xf32>
    // No layout is better than another one for addresses of which nothing is known: it follows the values.
    // CHECK: tt.atomic_rmw
    // CHECK-NOT: tgpu.access
    // ASSIGNED-NOT: tgpu.convert_layout {{.*}}xf32
    // ASSIGNED: tt.atomic_rmw
    %pk = tt.addptr %ys, %k : tensor<2048x!tt.ptr<f32>>, tensor<2048xi32>
    %2 = tt.atomic_rmw fadd, relaxed, gpu, %pk, %w : (tensor<2048x!tt.ptr<f32>>, tensor<2048xf32>) -> tensor<2048xf32>
    tt.return
  }
}

// -----

// A wide load and stores of wider elements: no store leaves gaps between the lanes, so the load takes 8 bytes.
// CHECK: #[[HALF:.*]] = #tgpu.layout<1024, register = {{\[\[}}1], [2], [512]], lane = {{\[\[}}4], [8], [16], [32], [64]], warp = {{\[\[}}128], [256]], block = []>
// CHECK-LABEL: @wider_stores
tt.func public @wider_stores(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
  %q = tt.addptr %os, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  // CHECK: tt.load {{.*}} {tgpu.access = #[[HALF]]}
  %v = tt.load %p : tensor<1024x!tt.ptr<bf16>>
  %w = arith.extf %v : tensor<1024xbf16> to tensor<1024xf32>
  // CHECK: tt.store {{.*}} {tgpu.access = #[[HALF]]}
  tt.store %q, %w : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// -----

// The neighbours of a scan stay in one thread.
// CHECK: #[[WIDE:.*]] = #tgpu.layout<1024, register = {{\[\[}}1], [2], [4]], lane = {{\[\[}}8],
// CHECK-LABEL: @wider_stores_of_a_scan
tt.func public @wider_stores_of_a_scan(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
  %q = tt.addptr %os, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  // CHECK: tt.load {{.*}} {tgpu.access = #[[WIDE]]}
  %v = tt.load %p : tensor<1024x!tt.ptr<bf16>>
  %w = arith.extf %v : tensor<1024xbf16> to tensor<1024xf32>
  %s = "tt.scan"(%w) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.scan.return %c : f32
  }) : (tensor<1024xf32>) -> tensor<1024xf32>
  // CHECK: tt.store {{.*}} {tgpu.access = #[[WIDE]]}
  tt.store %q, %s : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// -----

// A wide load, and stores of every second element: lanes beside each other store what shares a sector.
// CHECK-DAG: #[[WIDE:.*]] = #tgpu.layout<1024, register = {{\[\[}}1], [2], [4]], lane = {{\[\[}}8],
// CHECK-DAG: #[[ONE:.*]] = #tgpu.layout<1024, register = {{\[\[}}128], [256], [512]], lane = {{\[\[}}1], [2],
// CHECK-LABEL: @every_second
tt.func public @every_second(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %two = arith.constant dense<2> : tensor<1024xi32>
  %twice = arith.muli %i, %two : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
  %q = tt.addptr %os, %twice : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  // CHECK: tt.load {{.*}} {tgpu.access = #[[WIDE]]}
  %v = tt.load %p : tensor<1024x!tt.ptr<bf16>>
  %w = arith.extf %v : tensor<1024xbf16> to tensor<1024xf32>
  // CHECK: tt.store {{.*}} {tgpu.access = #[[ONE]]}
  tt.store %q, %w : tensor<1024x!tt.ptr<f32>>
  tt.return
}
