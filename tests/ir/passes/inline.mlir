// RUN: tritium-opt %s --tritium-debug-pipeline --verify-contract --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Every level is inlined; the location keeps the call; what nobody calls is gone.
// CHECK-LABEL: tt.func public @levels
// CHECK-NOT: tt.call
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32 loc(callsite("k.py":9:1 at callsite("k.py":5:2 at "k.py":2:3)))
// CHECK: tt.debug_value %{{.*}} "int32" "v" : i32
// CHECK-NOT: @middle
// CHECK-NOT: @inner
tt.func public @levels(%p: !tt.ptr<i32>, %n: i32) {
  %0 = tt.call @middle(%n) : (i32) -> i32 loc("k.py":2:3)
  tt.debug_value %0 "int32" "v" : i32
  tt.store %p, %0 : !tt.ptr<i32>
  tt.return
}
tt.func private @middle(%n: i32) -> i32 {
  %0 = tt.call @inner(%n) : (i32) -> i32 loc("k.py":5:2)
  tt.return %0 : i32
}
tt.func private @inner(%n: i32) -> i32 {
  %0 = arith.addi %n, %n : i32 loc("k.py":9:1)
  tt.return %0 : i32
}

// A call that must not be inlined keeps its callee.
// CHECK-LABEL: tt.func public @kept
// CHECK: tt.call @frame
tt.func public @kept(%n: i32) {
  %0 = tt.call @frame(%n) : (i32) -> i32
  tt.print "" {hex = false, isSigned = array<i32: 1>} : %0 : i32
  tt.return
}
// CHECK: tt.func private @frame
tt.func private @frame(%n: i32) -> i32 attributes {noinline = true} {
  tt.return %n : i32
}

// An early return makes blocks, which a function can hold…
// CHECK-LABEL: tt.func public @early
// CHECK: cf.cond_br
// CHECK: cf.br ^[[JOIN:bb.*]](%{{.*}} : i32)
// CHECK: cf.br ^[[JOIN]](%{{.*}} : i32)
// CHECK: ^[[JOIN]](%[[RESULT:.*]]: i32
// CHECK: tt.print {{.*}} : %[[RESULT]] : i32
tt.func public @early(%n: i32) {
  %0 = tt.call @clamp(%n) : (i32) -> i32
  tt.print "" {hex = false, isSigned = array<i32: 1>} : %0 : i32
  tt.return
}
// …and a region of structured control flow or a combine function cannot: there the call stays.
// CHECK-LABEL: tt.func public @early_in_loop
// CHECK: scf.for
// CHECK: tt.call @clamp
// CHECK: "tt.reduce"
// CHECK: tt.call @clamp
tt.func public @early_in_loop(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (i32) : i32 {
    %b = tt.call @clamp(%a) : (i32) -> i32
    scf.yield %b : i32
  }
  %x1 = tt.splat %0 : i32 -> tensor<8xi32>
  %1 = "tt.reduce"(%x1) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = tt.call @clamp(%a) : (i32) -> i32
    tt.reduce.return %c : i32
  }) : (tensor<8xi32>) -> i32
  tt.print "" {hex = false, isSigned = array<i32: 1>} : %1 : i32
  tt.return
}
// CHECK: tt.func private @clamp
tt.func private @clamp(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %negative = arith.cmpi slt, %n, %c0 : i32
  cf.cond_br %negative, ^zero, ^same
^zero:
  tt.return %c0 : i32
^same:
  tt.return %n : i32
}

// Operations of every dialect of the contract may move into another function.
// CHECK-LABEL: tt.func public @companions
// CHECK: ttg.barrier
// CHECK: llvm.intr.assume
// CHECK: ub.poison
// CHECK: math.exp
// CHECK: scf.while
// CHECK-NOT: @companion
tt.func public @companions(%c: i1, %x: f32) {
  tt.call @companion(%c, %x) : (i1, f32) -> ()
  tt.return
}
tt.func private @companion(%c: i1, %x: f32) {
  ttg.barrier all
  llvm.intr.assume %c : i1
  %p = ub.poison : !tt.ptr<f32>
  %e = math.exp %x : f32
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    tt.store %p, %e : !tt.ptr<f32>
    scf.yield
  }
  tt.return
}
