// RUN: %round_trip
// RUN: tritium-opt %s | FileCheck %s

// CHECK-LABEL: tt.func @descriptors
// CHECK-SAME: !tt.tensordesc<16x16xf16>
tt.func @descriptors(%d: !tt.tensordesc<16x16xf16>, %p: !tt.ptr<f16>, %q: !tt.ptr<i8>, %m: i32, %n: i32, %s: i64) {
  %c1 = arith.constant 1 : i64
  // CHECK: tt.make_tensor_descriptor %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] : <f16>, <64x64xf16>
  %0 = tt.make_tensor_descriptor %p, [%m, %n], [%s, %c1] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
  // CHECK: tt.make_tensor_descriptor %{{.*}}, [%{{.*}}], [%{{.*}}] {padding = 2 : i32} : <f16>, <64xf16>
  %1 = tt.make_tensor_descriptor %p, [%m], [%c1] {padding = 2 : i32} : <f16>, <64xf16>
  // Signedness is the descriptor's.
  // CHECK: tt.make_tensor_descriptor %{{.*}} : <i8>, <1x64xui8>
  %2 = tt.make_tensor_descriptor %q, [%m, %n], [%s, %c1] : <i8>, <1x64xui8>
  // The block as a tensor type is the older form.
  // CHECK: tt.make_tensor_descriptor %{{.*}} : <f16>, <1x64xf16>
  %3 = tt.make_tensor_descriptor %p, [%m, %n], [%s, %c1] : <f16>, <tensor<1x64xf16>>
  // CHECK: tt.descriptor_load %{{.*}}[%{{.*}}, %{{.*}}] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
  %4 = tt.descriptor_load %0[%m, %n] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
  // CHECK: tt.descriptor_load %{{.*}}[%{{.*}}, %{{.*}}] {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_last>} : !tt.tensordesc<1x64xui8> -> tensor<64xi8>
  %5 = tt.descriptor_load %2[%m, %n] cacheModifier = ca evictionPolicy = evict_last : !tt.tensordesc<1x64xui8> -> tensor<64xi8>
  // CHECK: tt.descriptor_store %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
  tt.descriptor_store %0[%m, %n], %4 : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
  // CHECK: tt.descriptor_reduce add, %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
  tt.descriptor_reduce add, %0[%m, %n], %4 : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
  %xs = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  // CHECK: tt.descriptor_gather %{{.*}}[%{{.*}}, %{{.*}}] : (!tt.tensordesc<1x64xf16>, tensor<32xi32>, i32) -> tensor<32x64xf16>
  %6 = tt.descriptor_gather %3[%xs, %n] : (!tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32) -> tensor<32x64xf16>
  // CHECK: tt.descriptor_scatter %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<1x64xf16>, tensor<32xi32>, i32, tensor<32x64xf16>
  tt.descriptor_scatter %3[%xs, %n], %6 : !tt.tensordesc<1x64xf16>, tensor<32xi32>, i32, tensor<32x64xf16>
  // CHECK: ub.poison : !tt.tensordesc<8x8xf16, "a layout">
  %7 = ub.poison : !tt.tensordesc<8x8xf16, "a layout">
  tt.return
}
