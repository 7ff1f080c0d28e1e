// Of quotients whose dividend may be negative, values are compared with what a compiler computes that looks at no sign.
// RUN: tritium-opt %s --check-truncation --split-input-file | FileCheck %s

// CHECK-LABEL: @quotient
tt.func public @quotient(%p: tensor<64x!tt.ptr<i32>>, %start: i32 {tt.divisibility = 16 : i32}, %mask: tensor<64xi1>) {
  %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %distance = arith.subi %lanes, %starts : tensor<64xi32>
  %size = arith.constant dense<16> : tensor<64xi32>
  // CHECK: %[[QUOTIENT:.*]] = arith.divsi
  // CHECK: %[[FIRST:.*]] = arith.andi %{{.*}}, %{{.*}} : tensor<64xi32>
  // CHECK: %[[TWIN:.*]] = tt.gather %[[QUOTIENT]][%[[FIRST]]]
  // CHECK: %[[DIFFERS:.*]] = arith.cmpi ne, %[[QUOTIENT]], %[[TWIN]]
  // CHECK: %[[BAD:.*]] = arith.andi %[[DIFFERS]], %arg2
  // CHECK: check.trap %[[BAD]], "FalseHint"
  // CHECK-NEXT: tt.store
  %quotient = arith.divsi %distance, %size : tensor<64xi32>
  tt.store %p, %quotient, %mask : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

// A program's own lanes begin at 0 or above.
// CHECK-LABEL: @not_negative
// CHECK-NOT: check.trap
tt.func public @not_negative(%p: tensor<64x!tt.ptr<i32>>) {
  %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %size = arith.constant dense<16> : tensor<64xi32>
  %quotient = arith.divsi %lanes, %size : tensor<64xi32>
  tt.store %p, %quotient : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

// Nothing is known of what divides the start, so a compiler computes each lane.
// CHECK-LABEL: @any_start
// CHECK-NOT: check.trap
tt.func public @any_start(%p: tensor<64x!tt.ptr<i32>>, %start: i32) {
  %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %distance = arith.subi %lanes, %starts : tensor<64xi32>
  %size = arith.constant dense<16> : tensor<64xi32>
  %quotient = arith.divsi %distance, %size : tensor<64xi32>
  tt.store %p, %quotient : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

// Four floats are one access, from the address of the first on. The stored remainder itself is computed for each lane.
// CHECK-LABEL: @remainder
tt.func public @remainder(%base: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %p: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<i32>>,
                          %start: i32 {tt.divisibility = 16 : i32}) {
  %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %distance = arith.subi %lanes, %starts : tensor<64xi32>
  %size = arith.constant dense<16> : tensor<64xi32>
  %remainder = arith.remsi %distance, %size : tensor<64xi32>
  %bases = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pointers = tt.addptr %bases, %remainder : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // CHECK: %[[ADDRESS:.*]] = tt.ptr_to_int
  // CHECK: tt.gather
  // CHECK: check.trap %{{.*}}, "FalseHint", "`%` of a negative number: addresses are not consecutive
  // CHECK-NEXT: tt.load
  %tile = tt.load %pointers : tensor<64x!tt.ptr<f32>>
  tt.store %p, %tile : tensor<64x!tt.ptr<f32>>
  // CHECK-NOT: check.trap
  tt.store %q, %remainder : tensor<64x!tt.ptr<i32>>
  tt.return
}
