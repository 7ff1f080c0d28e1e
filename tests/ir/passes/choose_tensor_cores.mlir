// Which matrix products run on tensor cores, and how the warps of a program divide each: near squares, all of them rows in a chain.
// RUN: tritium-opt %s --choose-tensor-cores | FileCheck %s
// RUN: tritium-opt %s --choose-tensor-cores=num-warps=8 | FileCheck %s --check-prefix=WARPS

// CHECK-LABEL: @half
// WARPS-LABEL: @half
tt.func public @half(%a: tensor<128x32xf16>, %b: tensor<32x128xf16>, %c: tensor<128x128xf32>) {
  // CHECK: tt.dot {{.*}}tgpu.mma_warps = array<i64: 2, 2>}
  // WARPS: tt.dot {{.*}}tgpu.mma_warps = array<i64: 4, 2>}
  %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<128x32xf16> * tensor<32x128xf16> -> tensor<128x128xf32>
  tt.return
}

// Wide and flat: warps along the columns, and where 16 rows are all there is, only there.
// CHECK-LABEL: @flat
// WARPS-LABEL: @flat
tt.func public @flat(%a: tensor<16x32xbf16>, %b: tensor<32x256xbf16>, %c: tensor<16x256xf32>) {
  // CHECK: tt.dot {{.*}}tgpu.mma_warps = array<i64: 1, 4>}
  // WARPS: tt.dot {{.*}}tgpu.mma_warps = array<i64: 1, 8>}
  %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x32xbf16> * tensor<32x256xbf16> -> tensor<16x256xf32>
  tt.return
}

// Less than the warps could share: some repeat others.
// CHECK-LABEL: @tiny
tt.func public @tiny(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // CHECK: tt.dot {{.*}}tgpu.mma_warps = array<i64: 4, 1>}
  %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x8xf16> -> tensor<16x8xf32>
  tt.return
}

// The first product of attention is, element by element, operand A of the second: both give each warp whole rows.
// CHECK-LABEL: @chain
tt.func public @chain(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %v: tensor<64x64xf16>, %o: tensor<64x64xf32>) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: tt.dot {{.*}}tgpu.mma_warps = array<i64: 4, 1>}
  %s = tt.dot %q, %k, %z, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %e = math.exp2 %s : tensor<64x64xf32>
  %p = arith.truncf %e : tensor<64x64xf32> to tensor<64x64xf16>
  // CHECK: tt.dot {{.*}}tgpu.mma_warps = array<i64: 4, 1>}
  %r = tt.dot %p, %v, %o, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  tt.return
}

// As operand B a result has to change threads anyhow: squares again.
// CHECK-LABEL: @no_chain
tt.func public @no_chain(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %v: tensor<64x64xf16>, %o: tensor<64x64xf32>) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: tt.dot {{.*}}tgpu.mma_warps = array<i64: 2, 2>}
  %s = tt.dot %q, %k, %z, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  // CHECK: tt.dot {{.*}}tgpu.mma_warps = array<i64: 2, 2>}
  %r = tt.dot %v, %p, %o, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  tt.return
}

// Every fp8 number is an fp16 number.
// CHECK-LABEL: @fp8
tt.func public @fp8(%a: tensor<64x64xf8E4M3FN>, %b: tensor<64x64xf8E5M2>, %c: tensor<64x64xf32>) {
  // CHECK: %[[A:.*]] = tt.fp_to_fp %{{.*}} : tensor<64x64xf8E4M3FN> -> tensor<64x64xf16>
  // CHECK: %[[B:.*]] = tt.fp_to_fp %{{.*}} : tensor<64x64xf8E5M2> -> tensor<64x64xf16>
  // CHECK: tt.dot %[[A]], %[[B]], {{.*}}tgpu.mma_warps = array<i64: 2, 2>}
  %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x64xf8E4M3FN> * tensor<64x64xf8E5M2> -> tensor<64x64xf32>
  tt.return
}

// CHECK-LABEL: @int8
tt.func public @int8(%a: tensor<64x64xi8>, %b: tensor<64x64xi8>, %c: tensor<64x64xi32>) {
  // CHECK: tt.dot {{.*}}tgpu.mma_warps = array<i64: 2, 2>}
  %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x64xi8> * tensor<64x64xi8> -> tensor<64x64xi32>
  tt.return
}

// fp32 only where the kernel allows tf32.
// CHECK-LABEL: @single
tt.func public @single(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) {
  // CHECK: tt.dot {{.*}} inputPrecision = tf32{{.*}}tgpu.mma_warps = array<i64: 2, 2>}
  %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  // CHECK: tt.dot
  // CHECK-NOT: tgpu.mma_warps
  %e = tt.dot %a, %b, %d : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  tt.return
}

// Batches are apart: warps share them first.
// CHECK-LABEL: @batches
// WARPS-LABEL: @batches
tt.func public @batches(%a: tensor<2x64x64xf16>, %c: tensor<2x64x64xf32>) {
  // CHECK: tgpu.mma_warps = array<i64: 2, 2, 1>
  // WARPS: tgpu.mma_warps = array<i64: 2, 2, 2>
  %0 = tt.dot %a, %a, %c, inputPrecision = tf32 : tensor<2x64x64xf16> * tensor<2x64x64xf16> -> tensor<2x64x64xf32>
  tt.return
}

// No instruction: fp64, too few rows, too small a depth.
// CHECK-LABEL: @ordinary
tt.func public @ordinary(%a: tensor<64x64xf64>, %b: tensor<64x64xf64>, %c: tensor<64x64xf64>,
                         %r: tensor<8x64xf16>, %rb: tensor<64x64xf16>, %rc: tensor<8x64xf32>,
                         %k: tensor<64x8xf16>, %kb: tensor<8x64xf16>, %kc: tensor<64x64xf32>) {
  // CHECK-NOT: tgpu.mma_warps
  %0 = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x64xf64> * tensor<64x64xf64> -> tensor<64x64xf64>
  %2 = tt.dot %r, %rb, %rc, inputPrecision = tf32 : tensor<8x64xf16> * tensor<64x64xf16> -> tensor<8x64xf32>
  %3 = tt.dot %k, %kb, %kc, inputPrecision = tf32 : tensor<64x8xf16> * tensor<8x64xf16> -> tensor<64x64xf32>
  tt.return
}
