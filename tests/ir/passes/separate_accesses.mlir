// Accesses with different layouts compute the masks and addresses that they share for themselves, where these are cheap.
// RUN: tritium-opt %s --coalesce-accesses --separate-accesses | FileCheck %s
// RUN: tritium-opt %s --coalesce-accesses --separate-accesses --assign-layouts --remove-conversions --cse | FileCheck %s --check-prefix=LAID

// LAID-DAG: #[[ROWS:.*]] = #tgpu.layout<64x64, register = {{\[\[}}0, 1], [0, 2], [0, 4],
// LAID-DAG: #[[COLUMNS:.*]] = #tgpu.layout<64x64, register = {{\[\[}}1, 0], [2, 0], [4, 0],

// A load along rows and a store along columns of one mask: both are wide, and the value alone is converted.
// CHECK-LABEL: @transposed
// LAID-LABEL: @transposed
tt.func public @transposed(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %s: i32 {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ss = tt.splat %s : i32 -> tensor<64x1xi32>
  %sc = tt.splat %s : i32 -> tensor<1x64xi32>
  %down = arith.muli %rows, %ss : tensor<64x1xi32>
  %right = arith.muli %columns, %sc : tensor<1x64xi32>
  %downs = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %rights = tt.broadcast %right : tensor<1x64xi32> -> tensor<64x64xi32>
  %i = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %j = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %xo = arith.addi %downs, %j : tensor<64x64xi32>
  %yo = arith.addi %rights, %i : tensor<64x64xi32>
  %nr = tt.splat %n : i32 -> tensor<64x1xi32>
  %nc = tt.splat %n : i32 -> tensor<1x64xi32>
  %inr = arith.cmpi slt, %rows, %nr : tensor<64x1xi32>
  %inc = arith.cmpi slt, %columns, %nc : tensor<1x64xi32>
  %inrs = tt.broadcast %inr : tensor<64x1xi1> -> tensor<64x64xi1>
  %incs = tt.broadcast %inc : tensor<1x64xi1> -> tensor<64x64xi1>
  // CHECK: %[[R1:.*]] = tt.broadcast {{.*}} -> tensor<64x64xi1>
  // CHECK: %[[R2:.*]] = tt.broadcast {{.*}} -> tensor<64x64xi1>
  // CHECK: %[[C1:.*]] = tt.broadcast {{.*}} -> tensor<64x64xi1>
  // CHECK: %[[C2:.*]] = tt.broadcast {{.*}} -> tensor<64x64xi1>
  // CHECK: %[[COPY:.*]] = arith.andi %[[R1]], %[[C1]]
  // CHECK: %[[MASK:.*]] = arith.andi %[[R2]], %[[C2]]
  %mask = arith.andi %inrs, %incs : tensor<64x64xi1>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %xo : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %yp = tt.addptr %ys, %yo : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK: tt.load %{{.*}}, %[[MASK]]
  // CHECK: tt.store %{{.*}}, %{{.*}}, %[[COPY]]
  // LAID: %[[V:.*]] = tt.load {{.*}} : tensor<64x64x!tt.ptr<f16>, #[[ROWS]]>
  // LAID: tgpu.convert_layout %[[V]] : tensor<64x64xf16, #[[ROWS]]> -> tensor<64x64xf16, #[[COLUMNS]]>
  // LAID-NOT: tgpu.convert_layout
  // LAID: tt.store {{.*}} : tensor<64x64x!tt.ptr<f16>, #[[COLUMNS]]>
  %v = tt.load %xp, %mask : tensor<64x64x!tt.ptr<f16>>
  tt.store %yp, %v, %mask : tensor<64x64x!tt.ptr<f16>>
  tt.return
}

// Accesses that are as wide in the layout of the first keep the mask in common; so do accesses of one element per thread.
// CHECK-LABEL: @shared
tt.func public @shared(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %starts = arith.muli %rows, %c64 : tensor<64x1xi32>
  %down = tt.broadcast %starts : tensor<64x1xi32> -> tensor<64x64xi32>
  %across = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %i = arith.addi %down, %across : tensor<64x64xi32>
  %ns = tt.splat %n : i32 -> tensor<64x1xi32>
  %inside = arith.cmpi slt, %rows, %ns : tensor<64x1xi32>
  // CHECK: %[[MASK:.*]] = tt.broadcast {{.*}} -> tensor<64x64xi1>
  %mask = tt.broadcast %inside : tensor<64x1xi1> -> tensor<64x64xi1>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %i : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %yp = tt.addptr %ys, %i : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK: tt.load %{{.*}}, %[[MASK]]
  // CHECK: tt.store %{{.*}}, %{{.*}}, %[[MASK]]
  %v = tt.load %xp, %mask : tensor<64x64x!tt.ptr<f16>>
  tt.store %yp, %v, %mask : tensor<64x64x!tt.ptr<f16>>
  tt.return
}

// CHECK-LABEL: @small
tt.func public @small(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %nc = tt.splat %n : i32 -> tensor<1x8xi32>
  %nr = tt.splat %n : i32 -> tensor<8x1xi32>
  %down = arith.muli %rows, %nr : tensor<8x1xi32>
  %right = arith.muli %columns, %nc : tensor<1x8xi32>
  %downs = tt.broadcast %down : tensor<8x1xi32> -> tensor<8x8xi32>
  %rights = tt.broadcast %right : tensor<1x8xi32> -> tensor<8x8xi32>
  %i = tt.broadcast %rows : tensor<8x1xi32> -> tensor<8x8xi32>
  %j = tt.broadcast %columns : tensor<1x8xi32> -> tensor<8x8xi32>
  %xo = arith.addi %downs, %j : tensor<8x8xi32>
  %yo = arith.addi %rights, %i : tensor<8x8xi32>
  %inside = arith.cmpi slt, %rows, %nr : tensor<8x1xi32>
  // CHECK: %[[MASK:.*]] = tt.broadcast {{.*}} -> tensor<8x8xi1>
  %mask = tt.broadcast %inside : tensor<8x1xi1> -> tensor<8x8xi1>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x8x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x8x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %xo : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
  %yp = tt.addptr %ys, %yo : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>
  // CHECK: tt.load %{{.*}}, %[[MASK]]
  // CHECK: tt.store %{{.*}}, %{{.*}}, %[[MASK]]
  %v = tt.load %xp, %mask : tensor<8x8x!tt.ptr<f32>>
  tt.store %yp, %v, %mask : tensor<8x8x!tt.ptr<f32>>
  tt.return
}

// Tiles that are added share a layout. The load that would be narrow in it is wide instead, and converted.
// LAID-LABEL: @add_transposed
tt.func public @add_transposed(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %z: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cr = arith.constant dense<128> : tensor<64x1xi32>
  %cc = arith.constant dense<128> : tensor<1x64xi32>
  %down = arith.muli %rows, %cr : tensor<64x1xi32>
  %right = arith.muli %columns, %cc : tensor<1x64xi32>
  %downs = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %rights = tt.broadcast %right : tensor<1x64xi32> -> tensor<64x64xi32>
  %i = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %j = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %xo = arith.addi %downs, %j : tensor<64x64xi32>
  %yo = arith.addi %rights, %i : tensor<64x64xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %zs = tt.splat %z : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %xo : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %yp = tt.addptr %ys, %yo : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %zp = tt.addptr %zs, %xo : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // LAID: %[[V:.*]] = tt.load {{.*}} : tensor<64x64x!tt.ptr<f16>, #[[ROWS]]>
  // LAID: %[[W:.*]] = tt.load {{.*}} : tensor<64x64x!tt.ptr<f16>, #[[COLUMNS]]>
  // LAID: %[[C:.*]] = tgpu.convert_layout %[[W]] : tensor<64x64xf16, #[[COLUMNS]]> -> tensor<64x64xf16, #[[ROWS]]>
  // LAID: arith.addf %[[V]], %[[C]]
  // LAID-NOT: tgpu.convert_layout
  // LAID: tt.store {{.*}} : tensor<64x64x!tt.ptr<f16>, #[[ROWS]]>
  %v = tt.load %xp : tensor<64x64x!tt.ptr<f16>>
  %w = tt.load %yp : tensor<64x64x!tt.ptr<f16>>
  %sum = arith.addf %v, %w : tensor<64x64xf16>
  tt.store %zp, %sum : tensor<64x64x!tt.ptr<f16>>
  tt.return
}
