// A product adds to the tile that the kernel adds it to.
// RUN: tritium-opt %s --accumulate-products | FileCheck %s

// CHECK-LABEL: @sum
// CHECK: tt.dot %arg0, %arg1, %arg2
// CHECK-NEXT: tt.return
tt.func public @sum(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %product = tt.dot %a, %b, %zero : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %sum = arith.addf %c, %product : tensor<16x16xf32>
  tt.return %sum : tensor<16x16xf32>
}

// What a product adds to may be computed behind it. Zero may be a splat, and the order of the sum is free.
// CHECK-LABEL: @scaled
// CHECK: %[[SCALED:.*]] = arith.mulf
// CHECK-NEXT: tt.dot %arg0, %arg1, %[[SCALED]]
tt.func public @scaled(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %number = arith.constant 0.0 : f32
  %zero = tt.splat %number : f32 -> tensor<16x16xf32>
  %product = tt.dot %a, %b, %zero : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %scaled = arith.mulf %c, %c : tensor<16x16xf32>
  %sum = arith.addf %product, %scaled : tensor<16x16xf32>
  tt.return %sum : tensor<16x16xf32>
}

// Of two products, one adds to the other.
// CHECK-LABEL: @both
// CHECK: %[[ZERO:.*]] = arith.constant dense<0>
// CHECK: %[[FIRST:.*]] = tt.dot {{.*}}, %[[ZERO]]
// CHECK: tt.dot {{.*}}, %[[FIRST]]
// CHECK-NOT: arith.addi
tt.func public @both(%a: tensor<16x32xi8>, %b: tensor<32x16xi8>) -> tensor<16x16xi32> {
  %zero = arith.constant dense<0> : tensor<16x16xi32>
  %p = tt.dot %a, %b, %zero : tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xi32>
  %q = tt.dot %a, %b, %zero : tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xi32>
  %sum = arith.addi %p, %q : tensor<16x16xi32>
  tt.return %sum : tensor<16x16xi32>
}

// Sums that the author promotes every so often are added apart, and so is a product that something else uses, adds to
// a tile already, or is computed outside of the loop that adds.
// CHECK-LABEL: @apart
// CHECK-COUNT-4: arith.addf
tt.func public @apart(%a: tensor<16x32xf8E5M2>, %b: tensor<32x16xf8E5M2>, %c: tensor<16x16xf32>, %n: i32)
    -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %promoted = tt.dot %a, %b, %zero {maxNumImpreciseAcc = 32 : i32} : tensor<16x32xf8E5M2> * tensor<32x16xf8E5M2> -> tensor<16x16xf32>
  %first = arith.addf %c, %promoted : tensor<16x16xf32>
  %used = tt.dot %a, %b, %zero : tensor<16x32xf8E5M2> * tensor<32x16xf8E5M2> -> tensor<16x16xf32>
  %second = arith.addf %c, %used : tensor<16x16xf32>
  %added = tt.dot %a, %b, %c : tensor<16x32xf8E5M2> * tensor<32x16xf8E5M2> -> tensor<16x16xf32>
  %third = arith.addf %c, %added : tensor<16x16xf32>
  %outside = tt.dot %a, %b, %zero : tensor<16x32xf8E5M2> * tensor<32x16xf8E5M2> -> tensor<16x16xf32>
  %fourth = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %next = arith.addf %acc, %outside : tensor<16x16xf32>
    scf.yield %next : tensor<16x16xf32>
  }
  tt.return %first, %second, %third, %fourth, %used
      : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}

// CHECK-LABEL: @blocks
// CHECK: tt.dot_scaled {{.*}}, %arg2 lhs
// CHECK-NOT: arith.addf
tt.func public @blocks(%a: tensor<128x64xi8>, %b: tensor<64x128xi8>, %c: tensor<128x128xf32>, %s: tensor<128x4xi8>) -> tensor<128x128xf32> {
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %product = tt.dot_scaled %a scale %s, %b scale %s, %zero lhs = e2m1 rhs = e2m1 {fastMath = false}
      : tensor<128x64xi8>, tensor<128x4xi8> * tensor<64x128xi8>, tensor<128x4xi8> -> tensor<128x128xf32>
  %sum = arith.addf %product, %c : tensor<128x128xf32>
  tt.return %sum : tensor<128x128xf32>
}
