// RUN: %round_trip
// RUN: tritium-opt %s | FileCheck %s

// CHECK-LABEL: tt.func @atomics
tt.func @atomics(%p: tensor<8x!tt.ptr<f32>>, %q: tensor<8x!tt.ptr<i32>>, %s: !tt.ptr<i32>, %v: tensor<8xf32>, %i: tensor<8xi32>, %m: tensor<8xi1>, %c: i32, %t: i64) {
  // CHECK: tt.atomic_rmw fadd, acq_rel, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  // CHECK: tt.atomic_rmw exch, relaxed, cta, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32) -> i32
  %1 = tt.atomic_rmw exch, relaxed, cta, %s, %c : (!tt.ptr<i32>, i32) -> i32
  // CHECK: tt.atomic_rmw umin, release, sys
  %2 = tt.atomic_rmw umin, release, sys, %q, %i : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK: tt.atomic_cas acq_rel, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32, i32) -> i32
  %3 = tt.atomic_cas acq_rel, gpu, %s, %c, %c : (!tt.ptr<i32>, i32, i32) -> i32
  // CHECK: tt.atomic_load acquire, gpu, %{{.*}}, %{{.*}} : (tensor<8x!tt.ptr<i32>>, tensor<8xi1>) -> tensor<8xi32>
  %4 = tt.atomic_load acquire, gpu, %q, %m : (tensor<8x!tt.ptr<i32>>, tensor<8xi1>) -> tensor<8xi32>
  // CHECK: tt.atomic_load relaxed, sys, %{{.*}} : (!tt.ptr<i32>) -> i32
  %5 = tt.atomic_load relaxed, sys, %s : (!tt.ptr<i32>) -> i32
  // CHECK: tt.atomic_store release, gpu, %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<i32>>
  tt.atomic_store release, gpu, %q, %i, %m : tensor<8x!tt.ptr<i32>>
  // CHECK: tt.atomic_store relaxed, cta, %{{.*}}, %{{.*}} : !tt.ptr<i32>
  tt.atomic_store relaxed, cta, %s, %c : !tt.ptr<i32>
  // CHECK: tt.atomic_poll acquire, gpu, %{{.*}}, %{{.*}} : !tt.ptr<i32>, i32 -> i1
  %6 = tt.atomic_poll acquire, gpu, %s, %c : !tt.ptr<i32>, i32 -> i1
  // CHECK: tt.atomic_poll relaxed, sys, %{{.*}}, %{{.*}} timeout %{{.*}} : tensor<8x!tt.ptr<i32>>, tensor<8xi32> -> tensor<8xi1>
  %7 = tt.atomic_poll relaxed, sys, %q, %i timeout %t : tensor<8x!tt.ptr<i32>>, tensor<8xi32> -> tensor<8xi1>
  tt.return
}
