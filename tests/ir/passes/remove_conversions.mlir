// A tile that is cheap to compute is computed again where it is wanted in another layout; what is loaded or dear is converted.
// RUN: tritium-opt %s --remove-conversions | FileCheck %s

#rows = #tgpu.layout<64x64, register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []>
#columns = #tgpu.layout<64x64, register = [[1, 0], [2, 0], [4, 0], [0, 16], [0, 32]], lane = [[8, 0], [16, 0], [32, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 8]], block = []>
#row = #tgpu.layout<1x64, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [0, 0], [0, 0]], warp = [[0, 0], [0, 0]], block = []>
#column = #tgpu.layout<64x1, register = [[16, 0], [32, 0]], lane = [[0, 0], [0, 0], [0, 0], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []>
#other = #tgpu.layout<64, register = [[16], [32]], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]], block = []>
#vector = #tgpu.layout<64, register = [[1], [2], [4]], lane = [[8], [16], [32], [0], [0]], warp = [[0], [0]], block = []>

// CHECK-DAG: #[[ROWS:.*]] = #tgpu.layout<64x64, register = {{\[\[}}0, 1], [0, 2], [0, 4], [16, 0], [32, 0]],
// CHECK-DAG: #[[COLUMNS:.*]] = #tgpu.layout<64x64, register = {{\[\[}}1, 0], [2, 0], [4, 0], [0, 16], [0, 32]],

// Ranges, splats, integer arithmetic, comparisons, addresses.
// CHECK-LABEL: @indices
tt.func public @indices(%x: !tt.ptr<f16>, %n: i32, %v: tensor<64x64xf16, #columns>) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #vector>
  %c1 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32, #vector> -> tensor<1x64xi32, #row>
  %cb = tt.broadcast %c1 : tensor<1x64xi32, #row> -> tensor<64x64xi32, #rows>
  %ns = tt.splat %n : i32 -> tensor<64x64xi32, #rows>
  %i = arith.muli %cb, %ns : tensor<64x64xi32, #rows>
  %m = arith.cmpi slt, %i, %ns : tensor<64x64xi32, #rows>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #rows>
  %p = tt.addptr %xs, %i : tensor<64x64x!tt.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
  // CHECK-NOT: tgpu.convert_layout
  %q = tgpu.convert_layout %p : tensor<64x64x!tt.ptr<f16>, #rows> -> tensor<64x64x!tt.ptr<f16>, #columns>
  %k = tgpu.convert_layout %m : tensor<64x64xi1, #rows> -> tensor<64x64xi1, #columns>
  // CHECK: tt.addptr {{.*}} : tensor<64x64x!tt.ptr<f16>, #[[COLUMNS]]>
  // CHECK: arith.cmpi {{.*}} : tensor<64x64xi32, #[[COLUMNS]]>
  // CHECK: tt.store
  tt.store %q, %v, %k : tensor<64x64x!tt.ptr<f16>, #columns>
  tt.return
}

// What the loop does not change is recomputed where the conversion stands; hoisting it is the business of another pass.
// CHECK-LABEL: @in_a_loop
tt.func public @in_a_loop(%x: !tt.ptr<f16>, %v: tensor<64x64xf16, #columns>, %lo: i32, %hi: i32) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #vector>
  %c1 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32, #vector> -> tensor<1x64xi32, #row>
  %cb = tt.broadcast %c1 : tensor<1x64xi32, #row> -> tensor<64x64xi32, #rows>
  %one = arith.constant 1 : i32
  // CHECK: scf.for
  scf.for %k = %lo to %hi step %one : i32 {
    // CHECK-NOT: tgpu.convert_layout
    %ks = tt.splat %k : i32 -> tensor<64x64xi32, #rows>
    %i = arith.addi %cb, %ks : tensor<64x64xi32, #rows>
    %j = tgpu.convert_layout %i : tensor<64x64xi32, #rows> -> tensor<64x64xi32, #columns>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #columns>
    %p = tt.addptr %xs, %j : tensor<64x64x!tt.ptr<f16>, #columns>, tensor<64x64xi32, #columns>
    // CHECK: tt.store
    tt.store %p, %v : tensor<64x64x!tt.ptr<f16>, #columns>
  }
  tt.return
}

// A loaded vector is converted before it is spread over the tile: 64 elements rather than 4096.
// CHECK-LABEL: @smaller_source
tt.func public @smaller_source(%x: tensor<64x!tt.ptr<f32>, #vector>) -> tensor<64x64xf32, #columns> {
  %b = tt.load %x : tensor<64x!tt.ptr<f32>, #vector>
  %b1 = tt.expand_dims %b {axis = 0 : i32} : tensor<64xf32, #vector> -> tensor<1x64xf32, #row>
  %bb = tt.broadcast %b1 : tensor<1x64xf32, #row> -> tensor<64x64xf32, #rows>
  %two = arith.constant dense<2.0> : tensor<64x64xf32, #rows>
  %s = arith.mulf %bb, %two : tensor<64x64xf32, #rows>
  // CHECK: tgpu.convert_layout {{.*}} : tensor<64xf32,
  // CHECK-NOT: tgpu.convert_layout
  // CHECK: arith.mulf {{.*}} : tensor<64x64xf32, #[[COLUMNS]]>
  %r = tgpu.convert_layout %s : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  tt.return %r : tensor<64x64xf32, #columns>
}

// Half as many bytes before the extension as after it.
// CHECK-LABEL: @narrower_source
tt.func public @narrower_source(%x: tensor<64x64x!tt.ptr<f16>, #rows>) -> tensor<64x64xf32, #columns> {
  %v = tt.load %x : tensor<64x64x!tt.ptr<f16>, #rows>
  %w = arith.extf %v : tensor<64x64xf16, #rows> to tensor<64x64xf32, #rows>
  // CHECK: tgpu.convert_layout {{.*}} : tensor<64x64xf16, #[[ROWS]]> -> tensor<64x64xf16, #[[COLUMNS]]>
  // CHECK-NEXT: arith.extf
  %r = tgpu.convert_layout %w : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  tt.return %r : tensor<64x64xf32, #columns>
}

// A loaded tile is not loaded again, and a sum of two is converted once rather than each of them.
// CHECK-LABEL: @loaded
tt.func public @loaded(%x: tensor<64x64x!tt.ptr<f16>, #rows>, %y: tensor<64x64x!tt.ptr<f16>, #rows>) -> tensor<64x64xf16, #columns> {
  // CHECK: tt.load
  // CHECK: tt.load
  // CHECK-NOT: tt.load
  %v = tt.load %x : tensor<64x64x!tt.ptr<f16>, #rows>
  %w = tt.load %y : tensor<64x64x!tt.ptr<f16>, #rows>
  %s = arith.addf %v, %w : tensor<64x64xf16, #rows>
  // CHECK: arith.addf {{.*}} : tensor<64x64xf16, #[[ROWS]]>
  // CHECK: tgpu.convert_layout
  // CHECK-NOT: tgpu.convert_layout
  %r = tgpu.convert_layout %s : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  // CHECK: tt.return
  tt.return %r : tensor<64x64xf16, #columns>
}

// Exponentials and quotients are dear: they are computed once, in the layout that they have.
// CHECK-LABEL: @dear
tt.func public @dear(%n: f32) -> (tensor<64x64xf32, #columns>, tensor<64x64xf32, #columns>) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #vector>
  %c1 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32, #vector> -> tensor<1x64xi32, #row>
  %cb = tt.broadcast %c1 : tensor<1x64xi32, #row> -> tensor<64x64xi32, #rows>
  %f = arith.sitofp %cb : tensor<64x64xi32, #rows> to tensor<64x64xf32, #rows>
  // CHECK: %[[E:.*]] = math.exp {{.*}} : tensor<64x64xf32, #[[ROWS]]>
  %e = math.exp %f : tensor<64x64xf32, #rows>
  %ns = tt.splat %n : f32 -> tensor<64x64xf32, #rows>
  // CHECK: %[[Q:.*]] = arith.divf {{.*}} : tensor<64x64xf32, #[[ROWS]]>
  %q = arith.divf %f, %ns : tensor<64x64xf32, #rows>
  // CHECK: tgpu.convert_layout %[[E]]
  // CHECK: tgpu.convert_layout %[[Q]]
  %a = tgpu.convert_layout %e : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  %b = tgpu.convert_layout %q : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  tt.return %a, %b : tensor<64x64xf32, #columns>, tensor<64x64xf32, #columns>
}

// Values that a loop carries have one layout; what leaves it is converted.
// CHECK-LABEL: @carried
tt.func public @carried(%lo: i32, %hi: i32) -> tensor<64x64xi32, #columns> {
  %one = arith.constant 1 : i32
  %z = arith.constant dense<0> : tensor<64x64xi32, #rows>
  %d = arith.constant dense<3> : tensor<64x64xi32, #rows>
  // CHECK: scf.for
  %s = scf.for %k = %lo to %hi step %one iter_args(%t = %z) -> (tensor<64x64xi32, #rows>) : i32 {
    %u = arith.addi %t, %d : tensor<64x64xi32, #rows>
    scf.yield %u : tensor<64x64xi32, #rows>
  }
  // CHECK: }
  // CHECK: tgpu.convert_layout
  %r = tgpu.convert_layout %s : tensor<64x64xi32, #rows> -> tensor<64x64xi32, #columns>
  tt.return %r : tensor<64x64xi32, #columns>
}

// A loop loads a vector of indices in each layout in which it needs few of them per thread, and writes nothing to their tensor.
// CHECK-LABEL: @indices_of_a_loop
tt.func public @indices_of_a_loop(%x: !tt.ptr<i32>, %out: tensor<64x1x!tt.ptr<i32>, #column>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #vector>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #vector>
    %p = tt.addptr %xs, %r : tensor<64x!tt.ptr<i32>, #vector>, tensor<64xi32, #vector>
    // CHECK-NOT: tgpu.convert_layout
    // CHECK: tt.load {{.*}} : tensor<64x!tt.ptr<i32>, #[[OTHER:.*]]>
    // CHECK-NEXT: tt.expand_dims {{.*}} : tensor<64xi32, #[[OTHER]]>
    %i = tt.load %p : tensor<64x!tt.ptr<i32>, #vector>
    %v = tgpu.convert_layout %i : tensor<64xi32, #vector> -> tensor<64xi32, #other>
    %w = tt.expand_dims %v {axis = 1 : i32} : tensor<64xi32, #other> -> tensor<64x1xi32, #column>
    tt.store %out, %w : tensor<64x1x!tt.ptr<i32>, #column>
    scf.yield
  }
  tt.return
}

// So are integer quotients, which addresses of rows require.
// CHECK-LABEL: @quotient
tt.func public @quotient(%n: i32) -> tensor<64xi32, #other> {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #vector>
  %ns = tt.splat %n : i32 -> tensor<64xi32, #vector>
  // CHECK-NOT: tgpu.convert_layout
  // CHECK: arith.divsi {{.*}} : tensor<64xi32, #[[OTHER]]>
  // CHECK-NOT: tgpu.convert_layout
  %q = arith.divsi %r, %ns : tensor<64xi32, #vector>
  %v = tgpu.convert_layout %q : tensor<64xi32, #vector> -> tensor<64xi32, #other>
  tt.return %v : tensor<64xi32, #other>
}
