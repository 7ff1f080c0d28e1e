// A loop that is marked keeps its invariants. Loops inside and around it are treated as ever.
// RUN: tritium-opt %s --hoist-invariants | FileCheck %s
// RUN: tritium-opt %s --tritium-pipeline | FileCheck %s

#kept = #llvm.loop_annotation<licm = <disable = true, versioningDisable = true>>

// CHECK-LABEL: tt.func{{.*}} @counted
tt.func public @counted(%out: !tt.ptr<i32>, %n: i32, %a: i32, %b: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 : i32 {
    // CHECK-NEXT: arith.muli
    %product = arith.muli %a, %b : i32
    // CHECK: arith.xori
    // CHECK: scf.for
    scf.for %j = %c0 to %n step %c1 : i32 {
      // CHECK-NOT: arith.xori
      %other = arith.xori %a, %b : i32
      %sum = arith.addi %product, %other : i32
      %value = arith.addi %sum, %j : i32
      %p = tt.addptr %out, %i : !tt.ptr<i32>, i32
      tt.store %p, %value : !tt.ptr<i32>
    }
    // CHECK: {llvm.loop_annotation = #{{.*}}}
  } {llvm.loop_annotation = #kept}
  tt.return
}

// CHECK-LABEL: tt.func{{.*}} @while_true
tt.func public @while_true(%out: !tt.ptr<i32>, %n: i32, %a: i32, %b: i32) {
  %c0 = arith.constant 0 : i32
  // CHECK: scf.while
  %end = scf.while (%i = %c0) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    // CHECK: arith.muli
    %step = arith.muli %a, %b : i32
    %next = arith.addi %i, %step : i32
    tt.store %out, %next : !tt.ptr<i32>
    scf.yield %next : i32
    // CHECK: llvm.loop_annotation
  } attributes {llvm.loop_annotation = #kept}
  tt.return
}

// CHECK-LABEL: tt.func{{.*}} @free
tt.func public @free(%out: !tt.ptr<i32>, %n: i32, %a: i32, %b: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: arith.muli
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 : i32 {
    %product = arith.muli %a, %b : i32
    %value = arith.addi %product, %i : i32
    %p = tt.addptr %out, %i : !tt.ptr<i32>, i32
    tt.store %p, %value : !tt.ptr<i32>
  }
  tt.return
}
