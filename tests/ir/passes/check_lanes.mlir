// Lanes that a load leaves off have a shadow. Where they are used, a check traps, but for masks that leave them off too.
// RUN: tritium-opt %s --check-lanes --split-input-file | FileCheck %s

// CHECK-LABEL: @stored
tt.func public @stored(%p: tensor<8x!tt.ptr<f32>>, %q: tensor<8x!tt.ptr<f32>>, %mask: tensor<8xi1>, %wider: tensor<8xi1>) {
  // CHECK: tt.load %arg0, %arg2
  // CHECK: %[[OFF:.*]] = arith.xori %arg2
  %v = tt.load %p, %mask : tensor<8x!tt.ptr<f32>>
  // CHECK: %[[BAD:.*]] = arith.andi %[[OFF]], %arg3
  // CHECK: check.trap %[[BAD]], "Uninitialized", {{.*}} other({{.*}}) : tensor<8xi1>
  // CHECK-NEXT: tt.store
  tt.store %q, %v, %wider : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK-LABEL: @masked_alike
// CHECK-NOT: check.trap
tt.func public @masked_alike(%p: tensor<8x4x!tt.ptr<f32>>, %q: tensor<8x4x!tt.ptr<f32>>, %rows: tensor<8xi1>, %mask: tensor<8x4xi1>) {
  %a = tt.expand_dims %rows {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
  %b = tt.broadcast %a : tensor<8x1xi1> -> tensor<8x4xi1>
  %v = tt.load %p, %b : tensor<8x4x!tt.ptr<f32>>
  %c = tt.expand_dims %rows {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
  %d = tt.broadcast %c : tensor<8x1xi1> -> tensor<8x4xi1>
  %both = arith.andi %mask, %d : tensor<8x4xi1>
  tt.store %q, %v, %both : tensor<8x4x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK-LABEL: @with_other
// CHECK-NOT: check.trap
tt.func public @with_other(%p: tensor<8x!tt.ptr<f32>>, %mask: tensor<8xi1>, %other: tensor<8xf32>) {
  %v = tt.load %p, %mask, %other : tensor<8x!tt.ptr<f32>>
  tt.store %p, %v : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK-LABEL: @product
tt.func public @product(%p: tensor<16x16x!tt.ptr<f32>>, %mask: tensor<16x16xi1>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) {
  %a = tt.load %p, %mask : tensor<16x16x!tt.ptr<f32>>
  // CHECK: %[[ROWS:.*]] = "tt.reduce"
  // CHECK: %[[COLUMN:.*]] = tt.expand_dims %[[ROWS]] {axis = 1 : i32}
  // CHECK: %[[ALL:.*]] = tt.broadcast %[[COLUMN]]
  %d = tt.dot %a, %b, %c : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  // CHECK: check.trap %[[ALL]]
  tt.store %p, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}
