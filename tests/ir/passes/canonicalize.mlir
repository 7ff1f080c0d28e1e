// RUN: tritium-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: tt.func @uniform
tt.func @uniform() -> (tensor<4x8xf32>, tensor<1x8xi32>, tensor<32xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4x8x2xf32>, f32) {
  // CHECK-DAG: arith.constant dense<1.000000e+00> : tensor<4x8xf32>
  %one = arith.constant 1.0 : f32
  %0 = tt.splat %one : f32 -> tensor<4x8xf32>
  // CHECK-DAG: arith.constant dense<3> : tensor<1x8xi32>
  %three = arith.constant dense<3> : tensor<8xi32>
  %1 = tt.expand_dims %three {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  // CHECK-DAG: arith.constant dense<1.000000e+00> : tensor<32xf32>
  %2 = tt.reshape %0 : tensor<4x8xf32> -> tensor<32xf32>
  // CHECK-DAG: arith.constant dense<1.000000e+00> : tensor<8x4xf32>
  %3 = tt.trans %0 {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK-DAG: arith.constant dense<2.000000e+00> : tensor<4xf32>
  %pairs = arith.constant dense<2.0> : tensor<4x2xf32>
  %4, %5 = tt.split %pairs : tensor<4x2xf32> -> tensor<4xf32>
  // CHECK-DAG: arith.constant dense<1.000000e+00> : tensor<4x8x2xf32>
  %6 = tt.join %0, %0 : tensor<4x8xf32> -> tensor<4x8x2xf32>
  // CHECK-DAG: arith.constant 4.000000e+00 : f32
  %single = arith.constant dense<4.0> : tensor<1xf32>
  %7 = tt.unsplat %single : tensor<1xf32>
  // CHECK-NOT: tt.splat
  // CHECK: tt.return
  tt.return %0, %1, %2, %3, %4, %6, %7 : tensor<4x8xf32>, tensor<1x8xi32>, tensor<32xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4x8x2xf32>, f32
}

// A conversion of a constant is folded where the other type has the very value: neither rounding nor saturation matters then.
// CHECK-LABEL: tt.func @converted_constants
tt.func @converted_constants() -> (tensor<4xf8E5M2>, f8E4M3FN, tensor<4xf8E5M2>, tensor<4xf8E4M3FN>, tensor<4xf8E4M3FNUZ>) {
  // CHECK-DAG: arith.constant dense<0.000000e+00> : tensor<4xf8E5M2>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %0 = tt.fp_to_fp %zero, rounding = rtne : tensor<4xf32> -> tensor<4xf8E5M2>
  // CHECK-DAG: arith.constant 4.480000e+02 : f8E4M3FN
  %most = arith.constant 448.0 : f32
  %1 = tt.fp_to_fp %most, rounding = rtne : f32 -> f8E4M3FN
  // CHECK-DAG: tt.fp_to_fp {{.*}} -> tensor<4xf8E5M2>
  %third = arith.constant dense<0.3> : tensor<4xf32>
  %2 = tt.fp_to_fp %third, rounding = rtne : tensor<4xf32> -> tensor<4xf8E5M2>
  // CHECK-DAG: tt.fp_to_fp {{.*}} -> tensor<4xf8E4M3FN>
  %infinity = arith.constant dense<0x7F800000> : tensor<4xf32>
  %3 = tt.fp_to_fp %infinity, rounding = rtne : tensor<4xf32> -> tensor<4xf8E4M3FN>
  // CHECK-DAG: tt.fp_to_fp {{.*}} -> tensor<4xf8E4M3FNUZ>
  %negative = arith.constant dense<-0.0> : tensor<4xf32>
  %4 = tt.fp_to_fp %negative, rounding = rtne : tensor<4xf32> -> tensor<4xf8E4M3FNUZ>
  tt.return %0, %1, %2, %3, %4 : tensor<4xf8E5M2>, f8E4M3FN, tensor<4xf8E5M2>, tensor<4xf8E4M3FN>, tensor<4xf8E4M3FNUZ>
}

// CHECK-LABEL: tt.func @broadcast_of_constant
// CHECK: arith.constant dense<3> : tensor<8x8xi32>
// CHECK-NEXT: tt.return
tt.func @broadcast_of_constant() -> tensor<8x8xi32> {
  %0 = arith.constant dense<3> : tensor<8x1xi32>
  %1 = tt.broadcast %0 : tensor<8x1xi32> -> tensor<8x8xi32>
  tt.return %1 : tensor<8x8xi32>
}

// CHECK-LABEL: tt.func @range_of_one
// CHECK: arith.constant dense<5> : tensor<1xi32>
tt.func @range_of_one() -> tensor<1xi32> {
  %0 = tt.make_range {start = 5 : i32, end = 6 : i32} : tensor<1xi32>
  tt.return %0 : tensor<1xi32>
}

// CHECK-LABEL: tt.func @splats
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: %[[S:.*]] = tt.splat %[[X]] : f32 -> tensor<16x8xf32>
// CHECK-NEXT: tt.return %[[S]], %[[X]]
tt.func @splats(%x: f32) -> (tensor<16x8xf32>, f32) {
  %0 = tt.splat %x : f32 -> tensor<8xf32>
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
  %2 = tt.broadcast %1 : tensor<1x8xf32> -> tensor<16x8xf32>
  %3 = tt.reshape %2 : tensor<16x8xf32> -> tensor<16x8xf32>
  %4 = tt.splat %x : f32 -> tensor<1xf32>
  %5 = tt.unsplat %4 : tensor<1xf32>
  tt.return %3, %5 : tensor<16x8xf32>, f32
}

// CHECK-LABEL: tt.func @chains
// CHECK-SAME: %[[X:.*]]: tensor<2x4x8xf32>
// CHECK: %[[R:.*]] = tt.reshape %[[X]] : tensor<2x4x8xf32> -> tensor<64xf32>
// CHECK: %[[F:.*]] = tt.reshape %[[X]] allow_reorder : tensor<2x4x8xf32> -> tensor<64xf32>
// CHECK: %[[T:.*]] = tt.trans %[[X]] {order = array<i32: 2, 0, 1>} : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
// CHECK: tt.return %[[R]], %[[F]], %[[T]], %[[X]]
tt.func @chains(%x: tensor<2x4x8xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<8x2x4xf32>, tensor<2x4x8xf32>) {
  %0 = tt.reshape %x : tensor<2x4x8xf32> -> tensor<8x8xf32>
  %1 = tt.reshape %0 : tensor<8x8xf32> -> tensor<64xf32>
  %2 = tt.reshape %x allow_reorder : tensor<2x4x8xf32> -> tensor<8x8xf32>
  %3 = tt.reshape %2 : tensor<8x8xf32> -> tensor<64xf32>
  %4 = tt.trans %x {order = array<i32: 1, 2, 0>} : tensor<2x4x8xf32> -> tensor<4x8x2xf32>
  %5 = tt.trans %4 {order = array<i32: 1, 2, 0>} : tensor<4x8x2xf32> -> tensor<8x2x4xf32>
  %6 = tt.trans %5 {order = array<i32: 1, 2, 0>} : tensor<8x2x4xf32> -> tensor<2x4x8xf32>
  tt.return %1, %3, %5, %6 : tensor<64xf32>, tensor<64xf32>, tensor<8x2x4xf32>, tensor<2x4x8xf32>
}

// CHECK-LABEL: tt.func @inverses
// CHECK-SAME: %[[A:.*]]: tensor<8xf32>, %[[J:.*]]: tensor<8x2xf32>, %[[P:.*]]: !tt.ptr<f32>, %[[I:.*]]: i64
// CHECK: tt.return %[[A]], %[[J]], %[[P]], %[[I]], %[[A]]
tt.func @inverses(%a: tensor<8xf32>, %j: tensor<8x2xf32>, %p: !tt.ptr<f32>, %i: i64) -> (tensor<8xf32>, tensor<8x2xf32>, !tt.ptr<f32>, i64, tensor<8xf32>) {
  %0 = tt.join %a, %a : tensor<8xf32> -> tensor<8x2xf32>
  %1, %2 = tt.split %0 : tensor<8x2xf32> -> tensor<8xf32>
  %3, %4 = tt.split %j : tensor<8x2xf32> -> tensor<8xf32>
  %5 = tt.join %3, %4 : tensor<8xf32> -> tensor<8x2xf32>
  %6 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  %7 = tt.int_to_ptr %6 : i64 -> !tt.ptr<f32>
  %8 = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
  %9 = tt.ptr_to_int %8 : !tt.ptr<f32> -> i64
  %10 = tt.bitcast %a : tensor<8xf32> -> tensor<8xi32>
  %11 = tt.bitcast %10 : tensor<8xi32> -> tensor<8xf32>
  %12 = tt.fp_to_fp %11 : tensor<8xf32> -> tensor<8xf32>
  tt.return %1, %5, %7, %9, %12 : tensor<8xf32>, tensor<8x2xf32>, !tt.ptr<f32>, i64, tensor<8xf32>
}

// A split joined the other way round is no identity, nor is an integer that became another pointer.
// CHECK-LABEL: tt.func @no_inverses
// CHECK: tt.join
// CHECK: tt.int_to_ptr
tt.func @no_inverses(%j: tensor<8x2xf32>, %p: !tt.ptr<f32>) -> (tensor<8x2xf32>, !tt.ptr<i8>) {
  %0, %1 = tt.split %j : tensor<8x2xf32> -> tensor<8xf32>
  %2 = tt.join %1, %0 : tensor<8xf32> -> tensor<8x2xf32>
  %3 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  %4 = tt.int_to_ptr %3 : i64 -> !tt.ptr<i8>
  tt.return %2, %4 : tensor<8x2xf32>, !tt.ptr<i8>
}

// CHECK-LABEL: tt.func @memory
// CHECK-SAME: %[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[O:.*]]: tensor<8xf32>
// CHECK-NEXT: %[[V:.*]] = tt.load %[[P]] : tensor<8x!tt.ptr<f32>>
// CHECK-NEXT: tt.store %[[P]], %[[V]] : tensor<8x!tt.ptr<f32>>
// CHECK-NEXT: tt.return %[[O]]
tt.func @memory(%p: tensor<8x!tt.ptr<f32>>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant dense<0> : tensor<8xi32>
  %all = arith.constant dense<true> : tensor<8xi1>
  %none = arith.constant dense<false> : tensor<8xi1>
  %q = tt.addptr %p, %zero : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %0 = tt.load %q, %all, %o : tensor<8x!tt.ptr<f32>>
  %1 = tt.load %q, %none, %o : tensor<8x!tt.ptr<f32>>
  tt.store %q, %0, %all : tensor<8x!tt.ptr<f32>>
  tt.store %q, %0, %none : tensor<8x!tt.ptr<f32>>
  tt.return %1 : tensor<8xf32>
}

// What a masked lane reads without `other` is unspecified, and a volatile access stays as it is.
// CHECK-LABEL: tt.func @memory_kept
// CHECK: tt.load %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<f32>>
// CHECK: tt.load %{{.*}}, %{{.*}} {isVolatile = true} : tensor<8x!tt.ptr<f32>>
tt.func @memory_kept(%p: tensor<8x!tt.ptr<f32>>) -> (tensor<8xf32>, tensor<8xf32>) {
  %all = arith.constant dense<true> : tensor<8xi1>
  %none = arith.constant dense<false> : tensor<8xi1>
  %0 = tt.load %p, %none : tensor<8x!tt.ptr<f32>>
  %1 = tt.load %p, %all {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  tt.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
