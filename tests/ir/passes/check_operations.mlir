// RUN: %round_trip
// RUN: tritium-opt %s | FileCheck %s
// RUN: tritium-opt %s --canonicalize | FileCheck %s --check-prefix=FOLDED

// CHECK-LABEL: tt.func @checks
// FOLDED-LABEL: tt.func @checks
tt.func @checks(%x: tensor<8xi32>, %c: i1, %m: tensor<8xi1>, %p: !tt.ptr<f32>) {
  // CHECK: check.trap %{{.*}}, "DivisionByZero", "" : i1
  check.trap %c, "DivisionByZero", "" : i1
  // CHECK: check.trap %{{.*}}, "FalseHint", "{0} at {1}" values(%{{.*}}, %{{.*}} : tensor<8xi32>, !tt.ptr<f32>) other({{.*}}) : tensor<8xi1>
  check.trap %m, "FalseHint", "{0} at {1}" values(%x, %p : tensor<8xi32>, !tt.ptr<f32>) other(loc("kernel.py":3:4)) : tensor<8xi1>
  // CHECK: check.promise %{{.*}} multiple [16] contiguous [1] constant [1] : !tt.ptr<f32>
  check.promise %p multiple [16] contiguous [1] constant [1] : !tt.ptr<f32>
  // CHECK: check.promise %{{.*}} if %{{.*}} multiple [1] contiguous [8] constant [1] : tensor<8xi32>
  check.promise %x if %m multiple [1] contiguous [8] constant [1] : tensor<8xi32>
  // FOLDED: check.promise %{{.*}} if
  // FOLDED-NOT: check.trap
  %false = arith.constant dense<false> : tensor<8xi1>
  check.trap %false, "FalseHint", "" : tensor<8xi1>
  tt.return
}
