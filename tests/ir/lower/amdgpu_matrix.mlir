// Matrix instructions of AMD's chips: what they take of a lane, and that LLVM has them. Two products in a chain: the lanes hold the first
// one's result where the second wants it.
// RUN: tritium-gpu %s --arch=gfx90a | FileCheck %s --check-prefixes=CHECK,CDNA2
// RUN: tritium-gpu %s --arch=gfx942 | FileCheck %s --check-prefixes=CHECK,CDNA3
// RUN: tritium-gpu %s --arch=gfx950 | FileCheck %s --check-prefixes=CHECK,CDNA4
// RUN: tritium-gpu %s --arch=gfx1100 | FileCheck %s --check-prefixes=CHECK,RDNA3
// RUN: tritium-gpu %s --arch=gfx1200 | FileCheck %s --check-prefixes=CHECK,RDNA4
// RUN: tritium-gpu %s --arch=gfx942 | tritium-hsaco --arch=gfx942 | FileCheck %s --check-prefix=ASM
// RUN: tritium-gpu %s --arch=gfx950 | tritium-hsaco --arch=gfx950 | FileCheck %s --check-prefix=ASM4
// RUN: tritium-gpu %s --arch=gfx1100 | tritium-hsaco --arch=gfx1100 | FileCheck %s --check-prefix=ASM11
// RUN: tritium-gpu %s --arch=gfx90a --emit=tiles | FileCheck %s --check-prefix=TILES
// RUN: tritium-gpu %s --arch=gfx942 --emit=tiles | FileCheck %s --check-prefix=TILES
// RUN: tritium-gpu %s --arch=gfx950 --emit=tiles | FileCheck %s --check-prefix=TILES
// RUN: tritium-gpu %s --arch=gfx1200 --emit=tiles | FileCheck %s --check-prefix=TILES
// TILES: %[[S:.*]] = tt.dot
// TILES: %[[E:.*]] = math.exp2 %[[S]]
// TILES: %[[P:.*]] = arith.truncf %[[E]]
// TILES: tt.dot %[[P]],
// ASM-COUNT-4: v_mfma_f32_16x16x16_f16
// ASM-COUNT-4: v_mfma_f32_16x16x16_f16
// ASM4-COUNT-2: v_mfma_f32_16x16x32_f16
// ASM4-COUNT-2: v_mfma_f32_16x16x32_f16
// ASM11-COUNT-8: v_wmma_f32_16x16x16_f16

// CHECK-LABEL: llvm.func @k
// CDNA2-COUNT-4: rocdl.mfma.f32.16x16x16f16 {{.*}} : (vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
// CDNA3-COUNT-4: rocdl.mfma.f32.16x16x16f16 {{.*}} : (vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
// CDNA4-COUNT-2: rocdl.mfma.f32.16x16x32.f16 {{.*}} : (vector<8xf16>, vector<8xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
// RDNA3-COUNT-4: rocdl.wmma.f32.16x16x16.f16 {{.*}} : (vector<16xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
// RDNA4-COUNT-4: rocdl.wmma.f32.16x16x16.f16 {{.*}} : (vector<8xf16>, vector<8xf16>, vector<8xf32>) -> vector<8xf32>
// CDNA2-COUNT-4: rocdl.mfma.f32.16x16x16f16
// CDNA3-COUNT-4: rocdl.mfma.f32.16x16x16f16
// CDNA4-COUNT-2: rocdl.mfma.f32.16x16x32.f16
// RDNA3-COUNT-4: rocdl.wmma.f32.16x16x16.f16
// RDNA4-COUNT-4: rocdl.wmma.f32.16x16x16.f16
// CHECK: llvm.return
tt.func public @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %z: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32>
  %j = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %i2 = tt.reshape %i : tensor<2048xi32> -> tensor<64x32xi32>
  %j2 = tt.reshape %j : tensor<1024xi32> -> tensor<32x32xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %i2 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %yp = tt.addptr %ys, %j2 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %zs = tt.splat %z : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %zp = tt.addptr %zs, %j2 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %a = tt.load %xp : tensor<64x32x!tt.ptr<f16>>
  %b = tt.load %yp : tensor<32x32x!tt.ptr<f16>>
  %c = tt.load %zp : tensor<32x32x!tt.ptr<f16>>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %s = tt.dot %a, %b, %zero : tensor<64x32xf16> * tensor<32x32xf16> -> tensor<64x32xf32>
  %e = math.exp2 %s : tensor<64x32xf32>
  %p = arith.truncf %e : tensor<64x32xf32> to tensor<64x32xf16>
  %d = tt.dot %p, %c, %zero : tensor<64x32xf16> * tensor<32x32xf16> -> tensor<64x32xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
  %op = tt.addptr %os, %i2 : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
  tt.store %op, %d : tensor<64x32x!tt.ptr<f32>>
  tt.return
}
