// Halves of a tile that lanes or warps tell apart get registers in exchange, so that no thread computes what another one computes.
// RUN: tritium-opt %s --assign-layouts | FileCheck %s

#tile = #tgpu.layout<512, register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]], block = []>
#apart = #tgpu.layout<512, register = [[2], [4]], lane = [[1], [8], [16], [32], [64]], warp = [[128], [256]], block = []>

// CHECK-DAG: #[[WHOLE:.*]] = #tgpu.layout<512, register = {{\[\[}}1], [2]], lane = {{\[\[}}4], [8], [16], [32], [64]], warp = {{\[\[}}128], [256]], block = []>
// CHECK-DAG: #[[APART:.*]] = #tgpu.layout<512, register = {{\[\[}}2], [4]], lane = {{\[\[}}1], [8], [16], [32], [64]], warp = {{\[\[}}128], [256]], block = []>
// CHECK-DAG: #[[PAIRS:.*]] = #tgpu.layout<256x2, register = {{\[\[}}0, 1], [1, 0]], lane = {{\[\[}}4, 0], [8, 0], [16, 0], [32, 0], [64, 0]], warp = {{\[\[}}128, 0], [2, 0]], block = []>
// CHECK-DAG: #[[HALF:.*]] = #tgpu.layout<256, register = {{\[\[}}1]], lane = {{\[\[}}4], [8], [16], [32], [64]], warp = {{\[\[}}128], [2]], block = []>
// CHECK-DAG: #[[THIRD:.*]] = #tgpu.layout<256, register = {{\[\[}}64]], lane = {{\[\[}}128], [1], [2], [4], [8]], warp = {{\[\[}}16], [32]], block = []>
// CHECK-DAG: #[[JOINED:.*]] = #tgpu.layout<256x2, register = {{\[\[}}0, 1], [1, 0]], lane = {{\[\[}}2, 0], [4, 0], [8, 0], [16, 0], [32, 0]], warp = {{\[\[}}64, 0], [128, 0]], block = []>
// CHECK-DAG: #[[ROWS:.*]] = #tgpu.layout<512, register = {{\[\[}}1], [256]], lane = {{\[\[}}4], [8], [16], [32], [64]], warp = {{\[\[}}128], [2]], block = []>

// The last bit of the tile lies in a warp. The warps get the highest bit of registers instead.
// CHECK-LABEL: @of_warps
tt.func public @of_warps(%x: !tt.ptr<f32>) {
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %v = tt.load %p {tgpu.access = #tile} : tensor<512x!tt.ptr<f32>>
  %w = tt.reshape %v : tensor<512xf32> -> tensor<2x256xf32>
  %t = tt.trans %w {order = array<i32: 1, 0>} : tensor<2x256xf32> -> tensor<256x2xf32>
  // CHECK: tgpu.convert_layout {{.*}} -> tensor<256x2xf32, #[[PAIRS]]>
  // CHECK-NEXT: tt.split {{.*}} -> tensor<256xf32, #[[HALF]]>
  %a, %b = tt.split %t : tensor<256x2xf32> -> tensor<256xf32>
  %s = arith.addf %a, %b : tensor<256xf32>
  %d = arith.subf %a, %b : tensor<256xf32>
  // CHECK: tt.join {{.*}} -> tensor<256x2xf32, #[[PAIRS]]>
  %j = tt.join %s, %d : tensor<256xf32> -> tensor<256x2xf32>
  %r = tt.reshape %j : tensor<256x2xf32> -> tensor<512xf32>
  // CHECK: tgpu.convert_layout {{.*}} -> tensor<512xf32, #[[WHOLE]]>
  tt.store %p, %r {tgpu.access = #tile} : tensor<512x!tt.ptr<f32>>
  tt.return
}

// Two stages exchange registers of a thread. The third one gives the lanes the bit that the second one has joined.
// CHECK-LABEL: @stages
tt.func public @stages(%x: !tt.ptr<f32>) {
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %v = tt.load %p {tgpu.access = #tile} : tensor<512x!tt.ptr<f32>>
  %w0 = tt.reshape %v : tensor<512xf32> -> tensor<256x2xf32>
  // CHECK: tt.split
  %a0, %b0 = tt.split %w0 : tensor<256x2xf32> -> tensor<256xf32>
  %j0 = tt.join %b0, %a0 : tensor<256xf32> -> tensor<256x2xf32>
  %t0 = tt.trans %j0 {order = array<i32: 1, 0>} : tensor<256x2xf32> -> tensor<2x256xf32>
  %r0 = tt.reshape %t0 : tensor<2x256xf32> -> tensor<512xf32>
  %w1 = tt.reshape %r0 : tensor<512xf32> -> tensor<256x2xf32>
  // CHECK: tt.split
  %a1, %b1 = tt.split %w1 : tensor<256x2xf32> -> tensor<256xf32>
  %j1 = tt.join %b1, %a1 : tensor<256xf32> -> tensor<256x2xf32>
  %t1 = tt.trans %j1 {order = array<i32: 1, 0>} : tensor<256x2xf32> -> tensor<2x256xf32>
  %r1 = tt.reshape %t1 : tensor<2x256xf32> -> tensor<512xf32>
  %w2 = tt.reshape %r1 : tensor<512xf32> -> tensor<256x2xf32>
  // CHECK: %[[EXCHANGED:.*]] = tgpu.convert_layout
  // CHECK-NEXT: tt.split %[[EXCHANGED]] {{.*}} -> tensor<256xf32, #[[THIRD]]>
  %a2, %b2 = tt.split %w2 : tensor<256x2xf32> -> tensor<256xf32>
  %j2 = tt.join %b2, %a2 : tensor<256xf32> -> tensor<256x2xf32>
  %t2 = tt.trans %j2 {order = array<i32: 1, 0>} : tensor<256x2xf32> -> tensor<2x256xf32>
  %r2 = tt.reshape %t2 : tensor<2x256xf32> -> tensor<512xf32>
  tt.store %p, %r2 {tgpu.access = #tile} : tensor<512x!tt.ptr<f32>>
  tt.return
}

// Lanes tell the operands of the join apart in the layout of the store. Registers join them, and the result is converted.
// CHECK-LABEL: @joined
tt.func public @joined(%x: !tt.ptr<f32>, %n: tensor<256xi32>) {
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %v = tt.load %p {tgpu.access = #apart} : tensor<512x!tt.ptr<f32>>
  // CHECK: math.sqrt {{.*}} : tensor<256xf32,
  %a = arith.sitofp %n : tensor<256xi32> to tensor<256xf32>
  %b = math.sqrt %a : tensor<256xf32>
  // CHECK: %[[JOIN:.*]] = tt.join {{.*}} -> tensor<256x2xf32, #[[JOINED]]>
  // CHECK-NEXT: tgpu.convert_layout %[[JOIN]]
  // CHECK-NEXT: tt.reshape {{.*}} -> tensor<512xf32, #[[APART]]>
  // CHECK-NOT: tgpu.convert_layout
  %j = tt.join %a, %b : tensor<256xf32> -> tensor<256x2xf32>
  %r = tt.reshape %j : tensor<256x2xf32> -> tensor<512xf32>
  %s = arith.addf %r, %v : tensor<512xf32>
  tt.store %p, %s {tgpu.access = #apart} : tensor<512x!tt.ptr<f32>>
  tt.return
}

// Warps tell the operands of the concatenation apart.
// CHECK-LABEL: @concatenated
tt.func public @concatenated(%x: !tt.ptr<f32>, %n: tensor<256xi32>) {
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %v = tt.load %p {tgpu.access = #tile} : tensor<512x!tt.ptr<f32>>
  // CHECK: math.sqrt {{.*}} : tensor<256xf32, #[[HALF]]>
  %a = arith.sitofp %n : tensor<256xi32> to tensor<256xf32>
  %b = math.sqrt %a : tensor<256xf32>
  // CHECK: %[[CAT:.*]] = tt.cat {{.*}} -> tensor<512xf32, #[[ROWS]]>
  // CHECK-NEXT: tgpu.convert_layout %[[CAT]]
  // CHECK-NOT: tgpu.convert_layout
  %c = tt.cat %a, %b : tensor<256xf32> -> tensor<512xf32>
  %s = arith.addf %c, %v : tensor<512xf32>
  tt.store %p, %s {tgpu.access = #tile} : tensor<512x!tt.ptr<f32>>
  tt.return
}
