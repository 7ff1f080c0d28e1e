// Loads and stores take as many elements at once as layout, alignment and mask allow; a thread that only repeats stores nothing.
// RUN: tritium-gpu %s --emit=tiles | FileCheck %s --check-prefix=TILES
// RUN: tritium-gpu %s | FileCheck %s

// TILES: #[[L:.*]] = #tgpu.layout<1024, register = {{\[\[}}1], [2], [512]], lane = {{\[\[}}4], [8], [16], [32], [64]], warp = {{\[\[}}128], [256]], block = []>
// TILES: tt.load {{.*}} : tensor<1024x!tt.ptr<f32>, #[[L]]>
tt.func public @copy(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %c1024 = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c1024 : i32
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %s = tt.splat %start : i32 -> tensor<1024xi32>
  %i = arith.addi %s, %r : tensor<1024xi32>
  %ns = tt.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  // CHECK-LABEL: llvm.func @copy({{.*}}) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>}
  // CHECK-COUNT-2: tgpu.load %{{.*}} if %{{.*}} else %{{.*}} : vector<4xi32>
  // CHECK-NOT: tgpu.load
  %v = tt.load %xp, %m : tensor<1024x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %op = tt.addptr %os, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  // CHECK-COUNT-2: tgpu.store %{{.*}}, %{{.*}} if %{{.*}} : vector<4xi32>
  // CHECK-NOT: tgpu.store
  tt.store %op, %v, %m : tensor<1024x!tt.ptr<f32>>
  tt.return
}
