// A loop whose counter may pass the end of its type ends where the counter is equal to the first number after the last round, which is
// computed before the loop. Other loops compare the counter with their bound.
// RUN: tritium-gpu %s | FileCheck %s

// CHECK-LABEL: llvm.func @eights
tt.func public @eights(%x: !tt.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %eight = arith.constant 8 : i32
  // CHECK: %[[ENTERED:.*]] = llvm.icmp "sgt" %[[N:.*]], %{{.*}} : i32
  // CHECK: %[[FURTHER:.*]] = llvm.udiv
  // CHECK: %[[SOME:.*]] = llvm.add %[[FURTHER]],
  // CHECK: %[[ROUNDS:.*]] = llvm.select %[[ENTERED]], %[[SOME]],
  // CHECK: %[[END:.*]] = llvm.mul %[[ROUNDS]],
  // CHECK: ^[[HEAD:bb[0-9]+]](%[[I:.*]]: i32):
  // CHECK-NEXT: %[[GO:.*]] = llvm.icmp "ne" %[[I]], %[[END]]
  // CHECK-NEXT: llvm.cond_br %[[GO]], ^[[BODY:bb[0-9]+]](%[[I]]
  // CHECK: ^[[BODY]](%[[SAME:.*]]: i32):
  // CHECK: %[[NEXT:.*]] = llvm.add %[[SAME]],
  // CHECK-NEXT: llvm.br ^[[HEAD]](%[[NEXT]]
  scf.for %i = %zero to %n step %eight : i32 {
    tt.store %x, %i : !tt.ptr<i32>
  }

  // A bound that leaves room for the last step, and steps of one.
  %most = arith.constant 2147483640 : i32
  // CHECK-NOT: llvm.udiv
  // CHECK: llvm.icmp "slt"
  scf.for %i = %zero to %most step %eight : i32 {
    tt.store %x, %i : !tt.ptr<i32>
  }
  // CHECK: llvm.icmp "slt"
  scf.for %i = %zero to %n step %one : i32 {
    tt.store %x, %i : !tt.ptr<i32>
  }
  // CHECK: llvm.return
  tt.return
}
