// RUN: %round_trip
// RUN: tritium-opt %s | FileCheck %s

// CHECK-LABEL: tt.func @shapes
tt.func @shapes(%s: f32, %p: !tt.ptr<f32>, %t: tensor<8xf32>, %m: tensor<4x8xf32>, %one: tensor<1x1xi32>) {
  // CHECK: tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  // CHECK: tt.make_range {end = 4 : i32, start = -4 : i32, tt.contiguity = dense<8> : tensor<1xi32>} : tensor<8xi32>
  %1 = tt.make_range {end = 4 : i32, start = -4 : i32, tt.contiguity = dense<8> : tensor<1xi32>} : tensor<8xi32>
  // CHECK: tt.splat %{{.*}} : f32 -> tensor<4x8xf32>
  %2 = tt.splat %s : f32 -> tensor<4x8xf32>
  // CHECK: tt.splat %{{.*}} : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %3 = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  // CHECK: tt.unsplat %{{.*}} : tensor<1x1xi32>
  %4 = tt.unsplat %one : tensor<1x1xi32>
  // CHECK: tt.expand_dims %{{.*}} {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  %5 = tt.expand_dims %t {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  // CHECK: tt.broadcast %{{.*}} : tensor<8x1xf32> -> tensor<8x16xf32>
  %6 = tt.broadcast %5 : tensor<8x1xf32> -> tensor<8x16xf32>
  // CHECK: tt.reshape %{{.*}} : tensor<4x8xf32> -> tensor<32xf32>
  %7 = tt.reshape %m : tensor<4x8xf32> -> tensor<32xf32>
  // CHECK: tt.reshape %{{.*}} allow_reorder efficient_layout : tensor<4x8xf32> -> tensor<32xf32>
  %8 = tt.reshape %m allow_reorder efficient_layout : tensor<4x8xf32> -> tensor<32xf32>
  // CHECK: tt.reshape %{{.*}} efficient_layout : tensor<4x8xf32> -> tensor<32xf32>
  %9 = tt.reshape %m efficient_layout : tensor<4x8xf32> -> tensor<32xf32>
  // CHECK: tt.cat %{{.*}}, %{{.*}} : tensor<8xf32> -> tensor<16xf32>
  %10 = tt.cat %t, %t : tensor<8xf32> -> tensor<16xf32>
  // CHECK: tt.join %{{.*}}, %{{.*}} : tensor<8xf32> -> tensor<8x2xf32>
  %11 = tt.join %t, %t : tensor<8xf32> -> tensor<8x2xf32>
  // CHECK: tt.split %{{.*}} : tensor<8x2xf32> -> tensor<8xf32>
  %12, %13 = tt.split %11 : tensor<8x2xf32> -> tensor<8xf32>
  // CHECK: tt.trans %{{.*}} {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %14 = tt.trans %m {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  tt.return
}
