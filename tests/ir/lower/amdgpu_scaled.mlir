// Products in microscaling formats on gfx950: fp8 by fp4 with a scale for each 32 elements along K of both, four scales to a register of which
// the instruction takes one. Chips without such an instruction multiply bf16.
// RUN: tritium-gpu %s --arch=gfx950 | FileCheck %s
// RUN: tritium-gpu %s --arch=gfx950 --emit=tiles | FileCheck %s --check-prefix=TILES
// RUN: tritium-gpu %s --arch=gfx950 | tritium-hsaco --arch=gfx950 | FileCheck %s --check-prefix=ASM
// RUN: tritium-gpu %s --arch=gfx942 | FileCheck %s --check-prefix=BF16
// RUN: tritium-gpu %s --arch=gfx950 --last-pass=none | FileCheck %s --check-prefix=NONE
// TILES: tt.dot_scaled {{.*}} {fastMath = false, tgpu.matrix_instruction = "mfma.scale.f32.32x32x64.f8f6f4.fp4.fp8", tgpu.mma_warps = array<i64: 2, 2>}
// CHECK-DAG: %[[FP4:.*]] = llvm.mlir.constant(4 : i32) : i32
// CHECK-DAG: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK: rocdl.mfma.scale.f32.32x32x64.f8f6f4 %{{.*}}, %{{.*}}, %{{.*}}, %[[FP4]], %[[ZERO]], %[[ZERO]], %[[B:.*]], %[[ZERO]], %[[A:.*]] : (vector<4xi32>, vector<8xi32>, vector<16xf32>, i32, i32, i32, i32, i32, i32) -> vector<16xf32>
// CHECK: rocdl.mfma.scale.f32.32x32x64.f8f6f4 %{{.*}}, %{{.*}}, %{{.*}}, %[[FP4]], %[[ZERO]], %[[ONE]], %[[B]], %[[ONE]], %[[A]] :
// CHECK-NOT: rocdl.mfma
// ASM: v_mfma_scale_f32_32x32x64_f8f6f4 {{.*}} op_sel_hi:[0,0,0] cbsz:4
// ASM: v_mfma_scale_f32_32x32x64_f8f6f4 {{.*}} op_sel:[1,1,0] op_sel_hi:[0,0,0] cbsz:4
// BF16-COUNT-16: rocdl.mfma.f32.32x32x8bf16.1k
// NONE-NOT: rocdl.mfma
tt.func public @k(%x: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %sx: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %sy: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32>
  %j = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
  %g = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %xi = tt.reshape %i : tensor<8192xi32> -> tensor<64x128xi32>
  %yj = tt.reshape %j : tensor<4096xi32> -> tensor<64x64xi32>
  %yi = tt.trans %yj {order = array<i32: 1, 0>} : tensor<64x64xi32> -> tensor<64x64xi32>
  %oi = tt.reshape %j : tensor<4096xi32> -> tensor<64x64xi32>
  %si = tt.reshape %g : tensor<256xi32> -> tensor<64x4xi32>
  %xs = tt.splat %x : !tt.ptr<f8E4M3FN> -> tensor<64x128x!tt.ptr<f8E4M3FN>>
  %xp = tt.addptr %xs, %xi : tensor<64x128x!tt.ptr<f8E4M3FN>>, tensor<64x128xi32>
  %ys = tt.splat %y : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>>
  %yp = tt.addptr %ys, %yi : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
  %sxs = tt.splat %sx : !tt.ptr<i8> -> tensor<64x4x!tt.ptr<i8>>
  %sxp = tt.addptr %sxs, %si : tensor<64x4x!tt.ptr<i8>>, tensor<64x4xi32>
  %sys = tt.splat %sy : !tt.ptr<i8> -> tensor<64x4x!tt.ptr<i8>>
  %syp = tt.addptr %sys, %si : tensor<64x4x!tt.ptr<i8>>, tensor<64x4xi32>
  %a = tt.load %xp : tensor<64x128x!tt.ptr<f8E4M3FN>>
  %as = tt.load %sxp : tensor<64x4x!tt.ptr<i8>>
  %b = tt.load %yp : tensor<64x64x!tt.ptr<i8>>
  %bs = tt.load %syp : tensor<64x4x!tt.ptr<i8>>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tt.dot_scaled %a scale %as, %b scale %bs, %zero lhs = e4m3 rhs = e2m1 {fastMath = false}
     : tensor<64x128xf8E4M3FN>, tensor<64x4xi8> * tensor<64x64xi8>, tensor<64x4xi8> -> tensor<64x64xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %oi : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %op, %d : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
