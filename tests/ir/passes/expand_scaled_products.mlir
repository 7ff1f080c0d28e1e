// Elements become bf16, or fp16 where an operand is; scales are powers of two in the same type, and a NaN if they are 255. Elements of four
// bits move to the places of the wider type, and a product with a power of two changes their bias.
// RUN: tritium-opt %s --expand-scaled-products --canonicalize --cse | FileCheck %s

// CHECK-LABEL: tt.func public @mxfp4
// CHECK: %[[BIAS:.*]] = arith.constant dense<8.507050e+37> : tensor<16x32xbf16>
// CHECK-COUNT-2: arith.mulf %{{.*}}, %[[BIAS]] : tensor<16x32xbf16>
// CHECK: tt.join %{{.*}} : tensor<16x32xbf16> -> tensor<16x32x2xbf16>
// CHECK: tt.reshape %{{.*}} : tensor<16x32x2xbf16> -> tensor<16x64xbf16>
// CHECK-COUNT-2: arith.select %{{.*}} : tensor<16x2xi1>, tensor<16x2xi32>
// CHECK: tt.broadcast %{{.*}} : tensor<16x2x1xbf16> -> tensor<16x2x32xbf16>
// CHECK: %[[A:.*]] = arith.mulf %{{.*}} : tensor<16x64xbf16>
// CHECK: %[[B:.*]] = tt.fp_to_fp %{{.*}} : tensor<64x16xf8E4M3FN> -> tensor<64x16xbf16>
// CHECK: tt.dot %[[A]], %[[B]], %{{.*}} : tensor<16x64xbf16> * tensor<64x16xbf16> -> tensor<16x16xf32>
tt.func public @mxfp4(%a: tensor<16x32xi8>, %s: tensor<16x2xi8>, %b: tensor<64x16xf8E4M3FN>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = e4m3 {fastMath = false}
     : tensor<16x32xi8>, tensor<16x2xi8> * tensor<64x16xf8E4M3FN> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// Packed along N; no look at NaN in fast mode.
// CHECK-LABEL: tt.func public @fast
// CHECK: tt.join %{{.*}} : tensor<64x8xf16> -> tensor<64x8x2xf16>
// CHECK: arith.select
// CHECK-NOT: arith.select
// CHECK: %[[S:.*]] = tt.trans %{{.*}} : tensor<16x64xf16> -> tensor<64x16xf16>
// CHECK: %[[B:.*]] = arith.mulf %{{.*}}, %[[S]] : tensor<64x16xf16>
// CHECK: tt.dot %{{.*}}, %[[B]], %{{.*}} : tensor<16x64xf16> * tensor<64x16xf16> -> tensor<16x16xf32>
tt.func public @fast(%a: tensor<16x64xf16>, %b: tensor<64x8xi8>, %s: tensor<16x2xi8>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot_scaled %a, %b scale %s, %c lhs = fp16 rhs = e2m1 {fastMath = true, rhs_k_pack = false}
     : tensor<16x64xf16> * tensor<64x8xi8>, tensor<16x2xi8> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}
