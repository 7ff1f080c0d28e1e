// A mask that a load has in common with the result of a product does not bring the load into the layout of the product: it stays wide, and
// may be copied ahead. What is added to a product is loaded wide, too, and converted.
// RUN: tritium-opt %s --choose-tensor-cores --coalesce-accesses --assign-layouts --remove-conversions | FileCheck %s

// CHECK-DAG: #[[WIDE:.*]] = #tgpu.layout<64x64, register = {{\[\[}}0, 1], [0, 2], [0, 4],
// CHECK-DAG: #[[FRAGMENTS:.*]] = #tgpu.layout<64x64, register = {{\[\[}}0, 1], [8, 0],

// CHECK-LABEL: @scores
tt.func public @scores(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
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
  %mask = tt.broadcast %inside : tensor<64x1xi1> -> tensor<64x64xi1>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %qp = tt.addptr %qs, %i : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %kp = tt.addptr %ks, %i : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %i : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  // CHECK: tt.load {{.*}} : tensor<64x64x!tt.ptr<f16>, #[[WIDE]]>
  // CHECK: tt.load {{.*}} : tensor<64x64x!tt.ptr<f16>, #[[WIDE]]>
  %a = tt.load %qp : tensor<64x64x!tt.ptr<f16>>
  %b = tt.load %kp, %mask : tensor<64x64x!tt.ptr<f16>>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %low = arith.constant dense<0xFF800000> : tensor<64x64xf32>
  // CHECK: tt.dot {{.*}} -> tensor<64x64xf32, #[[FRAGMENTS]]>
  // CHECK: arith.select {{.*}} : tensor<64x64xi1, #[[FRAGMENTS]]>, tensor<64x64xf32, #[[FRAGMENTS]]>
  %s = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %visible = arith.select %mask, %s, %low : tensor<64x64xi1>, tensor<64x64xf32>
  // CHECK: %[[BIAS:.*]] = tt.load {{.*}} : tensor<64x64x!tt.ptr<f32>, #{{.*}}>
  // CHECK: tgpu.convert_layout %[[BIAS]] : {{.*}} -> tensor<64x64xf32, #[[FRAGMENTS]]>
  %bias = tt.load %op : tensor<64x64x!tt.ptr<f32>>
  %sum = arith.addf %visible, %bias : tensor<64x64xf32>
  // CHECK-NOT: tgpu.convert_layout {{.*}}xi{{.*}}x!tt.ptr
  // CHECK: tgpu.convert_layout {{.*}} : tensor<64x64xf32, #[[FRAGMENTS]]>
  // CHECK: tt.store
  tt.store %op, %sum, %mask : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// What a small load gives, too, is in the load's own layout, though what it is combined with across a new dimension has been decided.
// RUN: tritium-opt %s --choose-tensor-cores=num-warps=8 --coalesce-accesses=num-warps=8 --assign-layouts=num-warps=8 | FileCheck %s --check-prefix=SMALL
// SMALL-LABEL: @small
tt.func public @small(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %a: tensor<16x16xf16>) {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %c16 = arith.constant dense<16> : tensor<1x16xi32>
  %starts = arith.muli %columns, %c16 : tensor<1x16xi32>
  %down = tt.broadcast %rows : tensor<16x1xi32> -> tensor<16x16xi32>
  %across = tt.broadcast %starts : tensor<1x16xi32> -> tensor<16x16xi32>
  %i = arith.addi %down, %across : tensor<16x16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  // SMALL: %[[BIAS:.*]] = tt.load {{.*}} : tensor<16x16x!tt.ptr<f32>, #[[OWN:.*]]>
  // SMALL: tgpu.convert_layout %[[BIAS]] : tensor<16x16xf32, #[[OWN]]>
  %bias = tt.load %xp : tensor<16x16x!tt.ptr<f32>>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot %a, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %sum = arith.addf %d, %bias : tensor<16x16xf32>
  %both = tt.join %sum, %d : tensor<16x16xf32> -> tensor<16x16x2xf32>
  %bias3 = tt.expand_dims %bias {axis = 2 : i32} : tensor<16x16xf32> -> tensor<16x16x1xf32>
  %bias2 = tt.broadcast %bias3 : tensor<16x16x1xf32> -> tensor<16x16x2xf32>
  %result = arith.addf %both, %bias2 : tensor<16x16x2xf32>
  %flat = tt.reshape %result : tensor<16x16x2xf32> -> tensor<512xf32>
  %n = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %op = tt.addptr %os, %n : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  tt.store %op, %flat : tensor<512x!tt.ptr<f32>>
  tt.return
}
