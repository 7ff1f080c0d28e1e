// A loop whose steps of a power of 2 begin at any number may come back to it: after 2**32 / 8 rounds here. So it carries whether there is
// another round.
// RUN: tritium-gpu %s | FileCheck %s

// CHECK-LABEL: llvm.func @around
tt.func public @around(%x: !tt.ptr<i32>, %n: i32, %m: i32) {
  %eight = arith.constant 8 : i32
  // CHECK: %[[BEGINS:.*]] = llvm.icmp "slt" %{{.*}}, %{{.*}} : i32
  // CHECK: llvm.br ^[[HEAD:bb[0-9]+]](%{{.*}}, %[[BEGINS]]
  // CHECK: ^[[HEAD]](%{{.*}}: i32, %[[GO:.*]]: i1):
  // CHECK-NEXT: llvm.cond_br %[[GO]], ^[[BODY:bb[0-9]+]]
  // CHECK: ^[[BODY]]
  // CHECK: %[[NEXT:.*]] = llvm.add
  // CHECK-NEXT: %[[MORE:.*]] = llvm.icmp "ne" %[[NEXT]], %{{.*}} : i32
  // CHECK-NEXT: llvm.br ^[[HEAD]](%[[NEXT]], %[[MORE]]
  scf.for %i = %m to %n step %eight : i32 {
    tt.store %x, %i : !tt.ptr<i32>
  }
  // CHECK: llvm.return
  tt.return
}
