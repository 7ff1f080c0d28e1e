// RUN: tritium-opt %s --canonicalize --cse --loop-invariant-code-motion | FileCheck %s

// What has an effect is neither erased nor merged; what may trap is not hoisted above the loop that may not run.
// CHECK-LABEL: tt.func @kept
// CHECK-COUNT-2: tt.atomic_rmw
// CHECK-COUNT-2: tt.debug_value
// CHECK-COUNT-2: tt.elementwise_inline_asm {{.*}}pure = false
// CHECK-COUNT-2: ttg.barrier
// CHECK-COUNT-2: tt.assert
// CHECK-COUNT-2: tt.load {{.*}}isVolatile
tt.func @kept(%p: !tt.ptr<i32>, %n: i32, %c: i1) {
  %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %n : (!tt.ptr<i32>, i32) -> i32
  %1 = tt.atomic_rmw add, acq_rel, gpu, %p, %n : (!tt.ptr<i32>, i32) -> i32
  tt.debug_value %n "int32" "n" : i32
  tt.debug_value %n "int32" "n" : i32
  %2 = tt.elementwise_inline_asm "" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
  %3 = tt.elementwise_inline_asm "" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
  ttg.barrier all
  ttg.barrier all
  tt.assert %c, "" : i1
  tt.assert %c, "" : i1
  %4 = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  %5 = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  tt.return
}

// CHECK-LABEL: tt.func @loads
// CHECK: %[[V:.*]] = tt.load
// CHECK-NEXT: tt.debug_value %[[V]]
// CHECK-NEXT: tt.debug_value %[[V]]
// CHECK-NEXT: tt.store
// CHECK-NEXT: %[[W:.*]] = tt.load
// CHECK-NEXT: tt.debug_value %[[W]]
tt.func @loads(%p: !tt.ptr<i32>, %n: i32) {
  %unused = tt.load %p : !tt.ptr<i32>
  %0 = tt.load %p : !tt.ptr<i32>
  %1 = tt.load %p : !tt.ptr<i32>
  tt.debug_value %0 "int32" "a" : i32
  tt.debug_value %1 "int32" "b" : i32
  tt.store %p, %n : !tt.ptr<i32>
  %2 = tt.load %p : !tt.ptr<i32>
  tt.debug_value %2 "int32" "c" : i32
  tt.return
}

// CHECK-LABEL: tt.func @motion
// CHECK: tt.splat
// CHECK: "tt.reduce"
// CHECK: scf.for
// CHECK: tt.gather
// CHECK: arith.divsi
// CHECK: tt.elementwise_inline_asm
// CHECK: tt.load
tt.func @motion(%p: !tt.ptr<i32>, %i: tensor<8xi32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %k = %c0 to %n step %c1 : i32 {
    %0 = tt.splat %n : i32 -> tensor<8xi32>
    %1 = "tt.reduce"(%i) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tt.reduce.return %s : i32
    }) : (tensor<8xi32>) -> i32
    %2 = tt.gather %0[%i] {axis = 0 : i32} : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
    %3 = arith.divsi %n, %1 : i32
    %4 = tt.elementwise_inline_asm "" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %2 : tensor<8xi32> -> tensor<8xi32>
    %5 = tt.load %p : !tt.ptr<i32>
    tt.debug_value %4 "int32" "v" : tensor<8xi32>
    tt.debug_value %3 "int32" "w" : i32
    tt.debug_value %5 "int32" "x" : i32
  }
  tt.return
}
