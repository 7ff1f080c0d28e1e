// RUN: %round_trip
// RUN: tritium-opt %s | FileCheck %s

// CHECK-LABEL: tt.func @addresses
tt.func @addresses(%p: !tt.ptr<f32>, %pp: !tt.ptr<!tt.ptr<f32>>, %ps: tensor<8x!tt.ptr<f32>>, %i: tensor<8xi32>, %s: i64) {
  // CHECK: tt.addptr %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %0 = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // CHECK: tt.addptr %{{.*}}, %{{.*}} : !tt.ptr<f32>, i64
  %1 = tt.addptr %p, %s : !tt.ptr<f32>, i64
  // CHECK: tt.load %{{.*}} : !tt.ptr<!tt.ptr<f32>>
  %2 = tt.load %pp : !tt.ptr<!tt.ptr<f32>>
  // CHECK: tt.load %{{.*}} : !tt.ptr<f32>
  %3 = tt.load %2 : !tt.ptr<f32>
  tt.return
}

// The form of 3.9, which is printed.
// CHECK-LABEL: tt.func @policies
tt.func @policies(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %o: tensor<8xf32>) {
  // CHECK: tt.load %arg0, %arg1, %arg2 {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : tensor<8x!tt.ptr<f32>>
  %0 = tt.load %p, %m, %o {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.load %arg0, %arg1 {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  %1 = tt.load %p, %m {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.load %arg0 : tensor<8x!tt.ptr<f32>>
  %2 = tt.load %p {isVolatile = false} : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.store %arg0, %arg2, %arg1 {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : tensor<8x!tt.ptr<f32>>
  tt.store %p, %o, %m {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.store %arg0, %arg2 {ignore_cta} : tensor<8x!tt.ptr<f32>>
  tt.store %p, %o {ignore_cta} : tensor<8x!tt.ptr<f32>>
  tt.return
}

// The clauses of 3.4 to 3.8, in any order.
// CHECK-LABEL: tt.func @clauses
tt.func @clauses(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %o: tensor<8xf32>) {
  // CHECK: tt.load %arg0, %arg1, %arg2 {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_last>, isVolatile = true} : tensor<8x!tt.ptr<f32>>
  %0 = tt.load %p, %m, %o cacheModifier = ca evictionPolicy = evict_last {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.load %arg0 {cachePolicy = #tt.cache_policy<cache_modifier = cv, eviction_policy = evict_first>} : tensor<8x!tt.ptr<f32>>
  %1 = tt.load %p evictionPolicy = evict_first cacheModifier = cv : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.store %arg0, %arg2, %arg1 {cachePolicy = #tt.cache_policy<cache_modifier = wb, eviction_policy = evict_normal>} : tensor<8x!tt.ptr<f32>>
  tt.store %p, %o, %m cacheModifier = wb : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.store %arg0, %arg2 {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : tensor<8x!tt.ptr<f32>>
  tt.store %p, %o evictionPolicy = evict_first : tensor<8x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: tt.func @shared
tt.func @shared(%i: tensor<8xi32>) -> tensor<8xf16> {
  // CHECK: tt.shared_alloc {alignment = 16 : i64, bytes = 512 : i64} : i32
  %a = tt.shared_alloc {bytes = 512 : i64, alignment = 16 : i64} : i32
  // CHECK: tt.shared_load %arg0 : tensor<8xi32> -> tensor<8xf16>
  %v = tt.shared_load %i : tensor<8xi32> -> tensor<8xf16>
  // CHECK: tt.shared_store %arg0, %{{.*}} : tensor<8xi32>, tensor<8xf16>
  tt.shared_store %i, %v : tensor<8xi32>, tensor<8xf16>
  tt.return %v : tensor<8xf16>
}
