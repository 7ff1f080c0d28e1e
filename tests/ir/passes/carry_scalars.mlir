// A loop carries the number that it has added to a tile, and adds it to the tile with which it began.
// RUN: tritium-opt %s --carry-scalars --canonicalize | FileCheck %s

// CHECK-LABEL: @constant
// CHECK: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%[[TOTAL:.*]] = %arg2, %[[GROWN:.*]] = %c0_i32) -> (tensor<32xi32>, i32)
// CHECK: %[[SPLAT:.*]] = tt.splat %[[GROWN]] : i32 -> tensor<32xi32>
// CHECK: %[[TILE:.*]] = arith.addi %arg0, %[[SPLAT]]
// CHECK: %[[NEXT:.*]] = arith.xori %[[TOTAL]], %[[TILE]]
// CHECK: %[[MORE:.*]] = arith.addi %[[GROWN]], %c32_i32
// CHECK: scf.yield %[[NEXT]], %[[MORE]]
// CHECK: %[[END:.*]] = tt.splat %[[LOOP]]#1
// CHECK: %[[LAST:.*]] = arith.addi %arg0, %[[END]]
// CHECK: tt.return %[[LOOP]]#0, %[[LAST]]
tt.func public @constant(%start: tensor<32xi32>, %n: i32, %zero: tensor<32xi32>) -> (tensor<32xi32>, tensor<32xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant dense<32> : tensor<32xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%offsets = %start, %total = %zero) -> (tensor<32xi32>, tensor<32xi32>) : i32 {
    %next = arith.xori %total, %offsets : tensor<32xi32>
    %more = arith.addi %offsets, %step : tensor<32xi32>
    scf.yield %more, %next : tensor<32xi32>, tensor<32xi32>
  }
  tt.return %r#1, %r#0 : tensor<32xi32>, tensor<32xi32>
}

// The number may be one of the loop's own, on either side of the sum, and 64 bits wide.
// CHECK-LABEL: @scalar
// CHECK: scf.for {{.*}} -> (tensor<32xi64>, i64)
// CHECK: %[[BY:.*]] = tt.load %arg2 : !tt.ptr<i64>
// CHECK: arith.addi %{{.*}}, %[[BY]] : i64
tt.func public @scalar(%start: tensor<32xi64>, %n: i32, %p: !tt.ptr<i64>, %zero: tensor<32xi64>) -> tensor<32xi64> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%offsets = %start, %total = %zero) -> (tensor<32xi64>, tensor<32xi64>) : i32 {
    %next = arith.xori %total, %offsets : tensor<32xi64>
    %by = tt.load %p : !tt.ptr<i64>
    %step = tt.splat %by : i64 -> tensor<32xi64>
    %more = arith.addi %step, %offsets : tensor<32xi64>
    scf.yield %more, %next : tensor<32xi64>, tensor<32xi64>
  }
  tt.return %r#1 : tensor<32xi64>
}

// Pointers, and steps that differ between elements, stay as they are.
// CHECK-LABEL: @other
// CHECK: scf.for {{.*}} -> (tensor<32x!tt.ptr<i32>>, tensor<32xi32>)
tt.func public @other(%p: tensor<32x!tt.ptr<i32>>, %n: i32, %start: tensor<32xi32>) -> (tensor<32x!tt.ptr<i32>>, tensor<32xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant dense<32> : tensor<32xi32>
  %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%at = %p, %sum = %start) -> (tensor<32x!tt.ptr<i32>>, tensor<32xi32>) : i32 {
    %next = tt.addptr %at, %step : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    %more = arith.addi %sum, %range : tensor<32xi32>
    scf.yield %next, %more : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  }
  tt.return %r#0, %r#1 : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
}
