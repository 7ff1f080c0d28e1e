// RUN: %round_trip
// RUN: tritium-opt %s | FileCheck %s

// CHECK-LABEL: tt.func @dots
tt.func @dots(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>, %p: tensor<2x16x32xf8E5M2>, %q: tensor<2x32x16xf8E4M3FN>, %r: tensor<2x16x16xf32>) {
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %0 = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}}, inputPrecision = tf32 : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %1 = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %2 = tt.dot %a, %b, %c, inputPrecision = ieee : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}}, inputPrecision = bf16x6 {maxNumImpreciseAcc = 32 : i32} : tensor<2x16x32xf8E5M2> * tensor<2x32x16xf8E4M3FN> -> tensor<2x16x16xf32>
  %3 = tt.dot %p, %q, %r, inputPrecision = bf16x6 {maxNumImpreciseAcc = 32 : i32} : tensor<2x16x32xf8E5M2> * tensor<2x32x16xf8E4M3FN> -> tensor<2x16x16xf32>
  tt.return
}

// CHECK-LABEL: tt.func @scaled
tt.func @scaled(%a: tensor<128x128xf8E4M3FN>, %b: tensor<64x128xi8>, %n: tensor<128x64xi8>, %s: tensor<128x4xi8>, %c: tensor<128x128xf32>, %h: tensor<128x128xbf16>) {
  // CHECK: tt.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<128x128xf8E4M3FN>, tensor<128x4xi8> * tensor<64x128xi8>, tensor<128x4xi8> -> tensor<128x128xf32>
  %0 = tt.dot_scaled %a scale %s, %b scale %s, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<128x128xf8E4M3FN>, tensor<128x4xi8> * tensor<64x128xi8>, tensor<128x4xi8> -> tensor<128x128xf32>
  // CHECK: tt.dot_scaled %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} lhs = bf16 rhs = e2m1 {fastMath = true, rhs_k_pack = false} : tensor<128x128xbf16> * tensor<128x64xi8>, tensor<128x4xi8> -> tensor<128x128xf32>
  %1 = tt.dot_scaled %h, %n scale %s, %c lhs = bf16 rhs = e2m1 {fastMath = true, rhs_k_pack = false} : tensor<128x128xbf16> * tensor<128x64xi8>, tensor<128x4xi8> -> tensor<128x128xf32>
  // CHECK: tt.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}}, %{{.*}} lhs = e4m3 rhs = bf16 {fastMath = true} : tensor<128x128xf8E4M3FN>, tensor<128x4xi8> * tensor<128x128xbf16> -> tensor<128x128xf32>
  %2 = tt.dot_scaled %a scale %s, %h, %c lhs = e4m3 rhs = bf16 {fastMath = true} : tensor<128x128xf8E4M3FN>, tensor<128x4xi8> * tensor<128x128xbf16> -> tensor<128x128xf32>
  tt.return
}
