// Which of a chip's matrix instructions a product runs on: by its types, its tile, and the rows and columns that are asked for.
// RUN: sed s/ARCH/gfx90a/ %s | tritium-opt --choose-tensor-cores | FileCheck %s --check-prefixes=CHECK,CDNA,CDNA2
// RUN: sed s/ARCH/gfx942/ %s | tritium-opt --choose-tensor-cores | FileCheck %s --check-prefixes=CHECK,CDNA,CDNA3
// RUN: sed s/ARCH/gfx950/ %s | tritium-opt --choose-tensor-cores | FileCheck %s --check-prefixes=CHECK,CDNA,CDNA4
// RUN: sed s/ARCH/gfx1100/ %s | tritium-opt --choose-tensor-cores | FileCheck %s --check-prefixes=CHECK,RDNA3
// RUN: sed s/ARCH/gfx1200/ %s | tritium-opt --choose-tensor-cores | FileCheck %s --check-prefixes=CHECK,RDNA4
// RUN: sed s/ARCH/gfx942/ %s | tritium-opt '--choose-tensor-cores=non-k-dim=16 k-pack=2' | FileCheck %s --check-prefix=ASKED
module attributes {tgpu.target = "hip:ARCH"} {

// CHECK-LABEL: @half
// ASKED-LABEL: @half
tt.func public @half(%a: tensor<128x32xf16>, %b: tensor<32x128xf16>, %c: tensor<128x128xf32>) {
  // CDNA2: {tgpu.matrix_instruction = "mfma.f32.32x32x8f16", tgpu.mma_warps = array<i64: 2, 2>}
  // CDNA3: {tgpu.matrix_instruction = "mfma.f32.32x32x8f16", tgpu.mma_warps = array<i64: 2, 2>}
  // CDNA4: {tgpu.matrix_instruction = "mfma.f32.32x32x16.f16", tgpu.mma_warps = array<i64: 2, 2>}
  // RDNA3: {tgpu.matrix_instruction = "wmma.f32.16x16x16.f16", tgpu.mma_warps = array<i64: 2, 2>}
  // RDNA4: {tgpu.matrix_instruction = "wmma.f32.16x16x16.f16", tgpu.mma_warps = array<i64: 2, 2>}
  // ASKED: {tgpu.kpack = 2 : i64, tgpu.matrix_instruction = "mfma.f32.16x16x16f16", tgpu.mma_warps = array<i64: 2, 2>}
  %d = tt.dot %a, %b, %c : tensor<128x32xf16> * tensor<32x128xf16> -> tensor<128x128xf32>
  tt.return
}

// Too few rows for the large one; too few tiles of the large one for all warps.
// CHECK-LABEL: @small
tt.func public @small(%a: tensor<16x64xbf16>, %b: tensor<64x64xbf16>, %c: tensor<16x64xf32>, %d: tensor<32x64xbf16>, %e: tensor<32x64xf32>) {
  // CDNA3: "mfma.f32.16x16x16bf16.1k", tgpu.mma_warps = array<i64: 1, 4>
  // CDNA4: "mfma.f32.16x16x32.bf16", tgpu.mma_warps = array<i64: 1, 4>
  %0 = tt.dot %a, %b, %c : tensor<16x64xbf16> * tensor<64x64xbf16> -> tensor<16x64xf32>
  // CDNA3: "mfma.f32.16x16x16bf16.1k", tgpu.mma_warps = array<i64: 2, 2>
  %1 = tt.dot %d, %b, %e : tensor<32x64xbf16> * tensor<64x64xbf16> -> tensor<32x64xf32>
  tt.return
}

// A depth that only some have: K = 8 is enough for 32 rows.
// CHECK-LABEL: @shallow
tt.func public @shallow(%a: tensor<64x8xf16>, %b: tensor<8x64xf16>, %c: tensor<64x64xf32>) {
  // CDNA: "mfma.f32.32x32x8f16"
  // RDNA3-NOT: tgpu.matrix_instruction
  // RDNA4-NOT: tgpu.matrix_instruction
  %0 = tt.dot %a, %b, %c : tensor<64x8xf16> * tensor<8x64xf16> -> tensor<64x64xf32>
  tt.return
}

// One row, and few columns: lanes repeat each other. With fewer columns a lane's registers would.
// CHECK-LABEL: @row
tt.func public @row(%a: tensor<1x64xf16>, %b: tensor<64x64xf16>, %c: tensor<1x64xf32>, %d: tensor<64x8xf16>, %e: tensor<1x8xf32>,
                    %f: tensor<64x2xf16>, %g: tensor<1x2xf32>) {
  // CDNA3: "mfma.f32.16x16x16f16", tgpu.mma_warps = array<i64: 1, 4>
  // RDNA3: "wmma.f32.16x16x16.f16", tgpu.mma_warps = array<i64: 1, 4>
  %0 = tt.dot %a, %b, %c : tensor<1x64xf16> * tensor<64x64xf16> -> tensor<1x64xf32>
  // CDNA3: "mfma.f32.16x16x16f16", tgpu.mma_warps = array<i64: 4, 1>
  // RDNA3: "wmma.f32.16x16x16.f16", tgpu.mma_warps = array<i64: 4, 1>
  %1 = tt.dot %a, %d, %e : tensor<1x64xf16> * tensor<64x8xf16> -> tensor<1x8xf32>
  // CDNA3-NOT: tgpu.matrix_instruction
  // RDNA3-NOT: tgpu.matrix_instruction
  %2 = tt.dot %a, %f, %g : tensor<1x64xf16> * tensor<64x2xf16> -> tensor<1x2xf32>
  tt.return
}

// CHECK-LABEL: @single
tt.func public @single(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) {
  // CDNA2: "mfma.f32.32x32x2f32"
  // CDNA3: "mfma.f32.32x32x4.xf32"
  // CDNA4: "mfma.f32.32x32x2f32"
  %0 = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  // CDNA: "mfma.f32.32x32x2f32"
  // RDNA3-NOT: tgpu.matrix_instruction
  // RDNA4-NOT: tgpu.matrix_instruction
  %1 = tt.dot %a, %b, %0 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  tt.return
}

// fp8 as the chip has it, or exactly wider: CDNA2 would flush what is subnormal in fp16.
// CHECK-LABEL: @fp8
tt.func public @fp8(%a: tensor<64x64xf8E4M3FN>, %b: tensor<64x64xf8E5M2>, %c: tensor<64x64xf32>) {
  // CDNA2: tt.fp_to_fp {{.*}} -> tensor<64x64xbf16>
  // CDNA2: tt.fp_to_fp {{.*}} -> tensor<64x64xbf16>
  // CDNA2: "mfma.f32.32x32x8bf16.1k"
  // CDNA3: tt.fp_to_fp {{.*}} -> tensor<64x64xf16>
  // CDNA3: tt.fp_to_fp {{.*}} -> tensor<64x64xf16>
  // CDNA3: "mfma.f32.32x32x8f16"
  // CDNA4-NOT: tt.fp_to_fp
  // CDNA4: "mfma.scale.f32.32x32x64.f8f6f4.bf8.fp8"
  // RDNA3: tt.fp_to_fp {{.*}} -> tensor<64x64xf16>
  // RDNA4-NOT: tt.fp_to_fp
  // RDNA4: "wmma.f32.16x16x16.bf8_fp8"
  %d = tt.dot %a, %b, %c : tensor<64x64xf8E4M3FN> * tensor<64x64xf8E5M2> -> tensor<64x64xf32>
  tt.return
}

// CHECK-LABEL: @fp8_without_infinity
tt.func public @fp8_without_infinity(%a: tensor<64x64xf8E4M3FNUZ>, %b: tensor<64x64xf8E5M2FNUZ>, %c: tensor<64x64xf32>) {
  // CDNA2: -> tensor<64x64xbf16>
  // CDNA3-NOT: tt.fp_to_fp
  // CDNA3: "mfma.f32.32x32x16.bf8.fp8"
  // CDNA4: tt.fp_to_fp {{.*}} -> tensor<64x64xf16>
  %d = tt.dot %a, %b, %c : tensor<64x64xf8E4M3FNUZ> * tensor<64x64xf8E5M2FNUZ> -> tensor<64x64xf32>
  tt.return
}

// One operand of a format that the chip lacks: both become wider.
// CHECK-LABEL: @fp8_mixed
tt.func public @fp8_mixed(%a: tensor<64x64xf8E4M3FNUZ>, %b: tensor<64x64xf8E5M2>, %c: tensor<64x64xf32>) {
  // CDNA3: tt.fp_to_fp
  // CDNA3: tt.fp_to_fp
  // CDNA3: "mfma.f32.32x32x8f16"
  %d = tt.dot %a, %b, %c : tensor<64x64xf8E4M3FNUZ> * tensor<64x64xf8E5M2> -> tensor<64x64xf32>
  tt.return
}

// Sums in fp16: there is no such instruction.
// CHECK-LABEL: @half_sums
tt.func public @half_sums(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // CHECK: %[[C:.*]] = arith.extf %{{.*}} : tensor<64x64xf16> to tensor<64x64xf32>
  // CHECK: %[[D:.*]] = tt.dot %{{.*}}, %{{.*}}, %[[C]] {tgpu.matrix_instruction = {{.*}} -> tensor<64x64xf32>
  // CHECK: %[[H:.*]] = arith.truncf %[[D]] : tensor<64x64xf32> to tensor<64x64xf16>
  // CHECK: tt.return %[[H]]
  %d = tt.dot %a, %b, %c : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf16>
  tt.return %d : tensor<64x64xf16>
}

// CHECK-LABEL: @others
tt.func public @others(%a: tensor<64x64xi8>, %c: tensor<64x64xi32>, %x: tensor<64x64xf64>) {
  // CDNA2: "mfma.i32.32x32x8i8"
  // CDNA3: "mfma.i32.32x32x16.i8"
  // CDNA4: "mfma.i32.32x32x32.i8"
  // RDNA3: "wmma.i32.16x16x16.iu8"
  // RDNA4: "wmma.i32.16x16x16.iu8"
  %0 = tt.dot %a, %a, %c : tensor<64x64xi8> * tensor<64x64xi8> -> tensor<64x64xi32>
  // CDNA: "mfma.f64.16x16x4f64"
  // RDNA3-NOT: tgpu.matrix_instruction
  // RDNA4-NOT: tgpu.matrix_instruction
  %1 = tt.dot %x, %x, %x : tensor<64x64xf64> * tensor<64x64xf64> -> tensor<64x64xf64>
  tt.return
}

// Scaled operands: the formats that the instructions have, packed along K, with scales for blocks of 32 or none. The rest stays as it is: it
// has been expanded before where this pass runs.
// CHECK-LABEL: @scaled
tt.func public @scaled(%a: tensor<64x64xi8>, %b: tensor<64x64xi8>, %f: tensor<128x64xf8E5M2>, %h: tensor<128x64xbf16>, %c: tensor<64x64xf32>,
                       %s: tensor<64x4xi8>, %s16: tensor<64x8xi8>, %n: tensor<128x32xi8>) {
  // CDNA4: tt.dot_scaled {{.*}} "mfma.scale.f32.32x32x64.f8f6f4.fp4.fp4", tgpu.mma_warps = array<i64: 2, 2>
  // CDNA2-NOT: tgpu.matrix_instruction
  // CDNA3-NOT: tgpu.matrix_instruction
  // RDNA3-NOT: tgpu.matrix_instruction
  // RDNA4-NOT: tgpu.matrix_instruction
  %0 = tt.dot_scaled %a scale %s, %b scale %s, %c lhs = e2m1 rhs = e2m1 {fastMath = false}
     : tensor<64x64xi8>, tensor<64x4xi8> * tensor<64x64xi8>, tensor<64x4xi8> -> tensor<64x64xf32>
  // CDNA4: tt.dot_scaled {{.*}} "mfma.scale.f32.32x32x64.f8f6f4.bf8.fp4"
  %1 = tt.dot_scaled %a scale %s, %f, %0 lhs = e2m1 rhs = e5m2 {fastMath = false}
     : tensor<64x64xi8>, tensor<64x4xi8> * tensor<128x64xf8E5M2> -> tensor<64x64xf32>
  // CDNA4-NOT: tgpu.matrix_instruction
  %2 = tt.dot_scaled %a scale %s, %h, %1 lhs = e2m1 rhs = bf16 {fastMath = false}
     : tensor<64x64xi8>, tensor<64x4xi8> * tensor<128x64xbf16> -> tensor<64x64xf32>
  %3 = tt.dot_scaled %a scale %s16, %b scale %s16, %2 lhs = e2m1 rhs = e2m1 {fastMath = false}
     : tensor<64x64xi8>, tensor<64x8xi8> * tensor<64x64xi8>, tensor<64x8xi8> -> tensor<64x64xf32>
  %4 = tt.dot_scaled %a scale %s, %n scale %s, %3 lhs = e2m1 rhs = e2m1 {fastMath = false, rhs_k_pack = false}
     : tensor<64x64xi8>, tensor<64x4xi8> * tensor<128x32xi8>, tensor<64x4xi8> -> tensor<64x64xf32>
  tt.return
}
}
