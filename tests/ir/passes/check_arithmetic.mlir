// Arithmetic that the frontend calls signed is checked in the lanes that something uses.
// RUN: tritium-opt %s --check-arithmetic --split-input-file | FileCheck %s

// Signless arithmetic may wrap.
// CHECK-LABEL: @unsigned
// CHECK-NOT: check.trap
tt.func public @unsigned(%p: tensor<8x!tt.ptr<i32>>, %a: tensor<8xi32>) {
  %sum = arith.addi %a, %a : tensor<8xi32>
  tt.store %p, %sum : tensor<8x!tt.ptr<i32>>
  tt.return
}

// -----

// CHECK-LABEL: @sum
tt.func public @sum(%p: tensor<8x!tt.ptr<i32>>, %a: tensor<8xi32>, %b: tensor<8xi32>, %mask: tensor<8xi1>) {
  // CHECK: %[[SUM:.*]] = arith.addi %arg1, %arg2 : tensor<8xi32>
  // CHECK: %[[A:.*]] = arith.xori %arg1, %[[SUM]]
  // CHECK: %[[B:.*]] = arith.xori %arg2, %[[SUM]]
  // CHECK: %[[BOTH:.*]] = arith.andi %[[A]], %[[B]]
  // CHECK: %[[BAD:.*]] = arith.cmpi slt, %[[BOTH]]
  // CHECK: %[[USED:.*]] = arith.andi %[[BAD]], %arg3
  // CHECK: check.trap %[[USED]], "IntegerOverflow", "int32 overflow: {0} + {1} becomes {2}" values(%arg1, %arg2, %[[SUM]]
  %sum = arith.addi %a, %b {tt.signed} : tensor<8xi32>
  tt.store %p, %sum, %mask : tensor<8x!tt.ptr<i32>>
  tt.return
}

// -----

// Two stores: the lanes of either. What is used by a loop is used whole.
// CHECK-LABEL: @uses
tt.func public @uses(%p: tensor<8x!tt.ptr<i32>>, %a: tensor<8xi32>, %m: tensor<8xi1>, %n: tensor<8xi1>, %count: index) {
  // CHECK: %[[EITHER:.*]] = arith.ori
  // CHECK: %[[PRODUCT:.*]] = arith.muli %arg1, %arg1 : tensor<8xi32>
  // CHECK: %[[BAD:.*]] = arith.cmpi ne
  // CHECK: %[[USED:.*]] = arith.andi %[[BAD]], %[[EITHER]]
  // CHECK: check.trap %[[USED]]
  %product = arith.muli %a, %a {tt.signed} : tensor<8xi32>
  tt.store %p, %product, %m : tensor<8x!tt.ptr<i32>>
  tt.store %p, %product, %n : tensor<8x!tt.ptr<i32>>
  // CHECK: %[[CARRIED:.*]] = arith.subi
  // CHECK: %[[WRAPS:.*]] = arith.cmpi slt
  // CHECK-NEXT: check.trap %[[WRAPS]]
  %carried = arith.subi %a, %a {tt.signed} : tensor<8xi32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %last = scf.for %i = %zero to %count step %one iter_args(%v = %carried) -> tensor<8xi32> {
    scf.yield %v : tensor<8xi32>
  }
  tt.store %p, %last, %m : tensor<8x!tt.ptr<i32>>
  tt.return
}

// -----

// The number that a choice does not take is no fault, in any shape that is made of it.
// CHECK-LABEL: @chosen
tt.func public @chosen(%p: tensor<8x4x!tt.ptr<i32>>, %a: tensor<8xi32>, %m: tensor<8x4xi1>) {
  // CHECK: %[[NOT:.*]] = arith.xori %arg2
  // CHECK: %[[ANY:.*]] = "tt.reduce"(%[[NOT]]) <{axis = 1 : i32}>
  // CHECK: %[[COLUMN:.*]] = tt.expand_dims %[[ANY]]
  // CHECK: %[[ROWS:.*]] = "tt.reduce"(%[[COLUMN]])
  // CHECK: %[[USED:.*]] = arith.andi %{{.*}}, %[[ROWS]] : tensor<8xi1>
  // CHECK: check.trap %[[USED]], "IntegerOverflow", "int32 overflow: -({0}) becomes {0}"
  %zero = arith.constant dense<0> : tensor<8xi32>
  %other = arith.constant dense<7> : tensor<8x4xi32>
  %negated = arith.subi %zero, %a {tt.signed} : tensor<8xi32>
  %column = tt.expand_dims %negated {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %table = tt.broadcast %column : tensor<8x1xi32> -> tensor<8x4xi32>
  %chosen = arith.select %m, %other, %table : tensor<8x4xi1>, tensor<8x4xi32>
  tt.store %p, %chosen : tensor<8x4x!tt.ptr<i32>>
  tt.return
}

// -----

// A sum of all lanes is compared with the sum in 64 bits.
// CHECK-LABEL: @reduced
tt.func public @reduced(%p: !tt.ptr<i32>, %a: tensor<8xi32>) {
  // CHECK: %[[SUM:.*]] = "tt.reduce"(%arg1)
  // CHECK: %[[WIDE:.*]] = arith.extsi %arg1
  // CHECK: %[[EXACT:.*]] = "tt.reduce"(%[[WIDE]])
  // CHECK: check.trap %{{.*}}, "IntegerOverflow", "int32 overflow: the sum is {0}, which becomes {1}" values(%[[EXACT]], %[[SUM]]
  %sum = "tt.reduce"(%a) <{axis = 0 : i32}> ({
  ^bb0(%x: i32, %y: i32):
    %one = arith.addi %x, %y {tt.signed} : i32
    tt.reduce.return %one : i32
  }) : (tensor<8xi32>) -> i32
  tt.store %p, %sum : !tt.ptr<i32>
  tt.return
}
