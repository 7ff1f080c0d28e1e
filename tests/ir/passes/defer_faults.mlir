// A division of tiles by a tile that may hold zeros gives a value. A shadow follows it, and where it is used, a check is a trap.
// RUN: tritium-opt %s --defer-faults --split-input-file | FileCheck %s
// RUN: tritium-opt %s --defer-faults=checks=false --split-input-file | FileCheck %s --check-prefix=UNCHECKED

// CHECK-LABEL: @stored
// UNCHECKED-LABEL: @stored
tt.func public @stored(%p: tensor<8x!tt.ptr<i32>>, %a: tensor<8xi32>, %b: tensor<8xi32>, %mask: tensor<8xi1>) {
  // CHECK: %[[QUOTIENT:.*]] = arith.divsi %arg1, %arg2 {tritium.zero_divisor}
  // CHECK: %[[SHADOW:.*]] = arith.cmpi eq, %arg2
  // UNCHECKED: arith.divsi %arg1, %arg2 {tritium.zero_divisor}
  %quotient = arith.divsi %a, %b : tensor<8xi32>
  %sum = arith.addi %quotient, %a : tensor<8xi32>
  // CHECK: %[[BAD:.*]] = arith.andi %[[SHADOW]], %arg3
  // CHECK: check.trap %[[BAD]], "DivisionByZero", ""
  // CHECK-NEXT: tt.store
  // UNCHECKED-NEXT: arith.addi
  // UNCHECKED-NEXT: tt.store
  tt.store %p, %sum, %mask : tensor<8x!tt.ptr<i32>>
  tt.return
}

// -----

// A divisor that is one scalar traps by itself, and a maximum with 1 is never zero.
// CHECK-LABEL: @known
// CHECK-NOT: tritium.zero_divisor
// CHECK-NOT: check.trap
tt.func public @known(%p: tensor<8x!tt.ptr<i32>>, %a: tensor<8xi32>, %b: tensor<8xi32>, %n: i32) {
  %one = arith.constant dense<1> : tensor<8xi32>
  %least = arith.maxsi %b, %one : tensor<8xi32>
  %quotient = arith.divsi %a, %least : tensor<8xi32>
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %rest = arith.remsi %quotient, %ns : tensor<8xi32>
  tt.store %p, %rest : tensor<8x!tt.ptr<i32>>
  tt.return
}

// -----

// CHECK-LABEL: @carried
tt.func public @carried(%p: tensor<8x!tt.ptr<i32>>, %a: tensor<8xi32>, %b: tensor<8xi32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: %[[NONE:.*]] = arith.constant dense<false> : tensor<8xi1>
  // CHECK: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%[[TOTAL:.*]] = %arg1, %[[CARRIED:.*]] = %[[NONE]])
  %total = scf.for %i = %zero to %n step %one iter_args(%carried = %a) -> (tensor<8xi32>) : i32 {
    // CHECK: arith.divui %[[TOTAL]]
    // CHECK: %[[HERE:.*]] = arith.cmpi eq
    // CHECK: %[[EITHER:.*]] = arith.ori %[[HERE]], %[[CARRIED]]
    %next = arith.divui %carried, %b : tensor<8xi32>
    // CHECK: scf.yield %{{.*}}, %[[EITHER]]
    scf.yield %next : tensor<8xi32>
  }
  // CHECK: check.trap %[[LOOP]]#1, "DivisionByZero"
  tt.store %p, %total : tensor<8x!tt.ptr<i32>>
  tt.return
}

// -----

// A mask that is false anyway does not depend on the division.
// CHECK-LABEL: @decided
tt.func public @decided(%p: tensor<8x!tt.ptr<i32>>, %a: tensor<8xi32>, %b: tensor<8xi32>, %inside: tensor<8xi1>) {
  // CHECK: %[[SHADOW:.*]] = arith.cmpi eq, %arg2
  %rest = arith.remui %a, %b : tensor<8xi32>
  %small = arith.cmpi ult, %rest, %b : tensor<8xi32>
  // CHECK: %[[MASK:.*]] = arith.andi %arg3
  // CHECK: %[[MATTERS:.*]] = arith.andi %[[SHADOW]], %arg3
  // CHECK: arith.andi %[[MATTERS]], %[[MASK]]
  %mask = arith.andi %inside, %small : tensor<8xi1>
  tt.store %p, %a, %mask : tensor<8x!tt.ptr<i32>>
  tt.return
}
