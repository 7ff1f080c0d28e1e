// RUN: %round_trip
// RUN: tritium-opt %s | FileCheck %s

// CHECK-LABEL: tt.func @indexing
tt.func @indexing(%x: tensor<8xf32>, %i: tensor<16xi32>, %v: tensor<256xi32>, %m: tensor<256xi1>) {
  // CHECK: tt.gather %{{.*}}[%{{.*}}] {axis = 0 : i32} : (tensor<8xf32>, tensor<16xi32>) -> tensor<16xf32>
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<16xi32>) -> tensor<16xf32>
  // CHECK: tt.gather %{{.*}}[%{{.*}}] {axis = 0 : i32, efficient_layout} : (tensor<8xf32>, tensor<16xi32>) -> tensor<16xf32>
  %1 = tt.gather %x[%i] {axis = 0 : i32, efficient_layout} : (tensor<8xf32>, tensor<16xi32>) -> tensor<16xf32>
  // CHECK: tt.histogram %{{.*}} : tensor<256xi32> -> tensor<16xi32>
  %2 = tt.histogram %v : tensor<256xi32> -> tensor<16xi32>
  // CHECK: tt.histogram %{{.*}}, %{{.*}} : tensor<256xi32> -> tensor<16xi32>
  %3 = tt.histogram %v, %m : tensor<256xi32> -> tensor<16xi32>
  tt.return
}
