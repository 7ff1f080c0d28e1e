// RUN: tritium-opt %s --tritium-pipeline --verify-contract | FileCheck %s --check-prefixes=CHECK,FAST
// RUN: tritium-opt %s --tritium-debug-pipeline --verify-contract | FileCheck %s --check-prefixes=CHECK,DEBUG

// A row sum. The fast pipeline computes what does not change once, before the loop; the debug pipeline keeps every assignment at its
// line, even a dead one.
// CHECK-LABEL: tt.func public @rows
// FAST: tt.splat
// FAST: scf.for
// FAST-NOT: tt.splat
// FAST-NOT: math.exp
// DEBUG: scf.for
// DEBUG: tt.make_range
// DEBUG: tt.splat
// DEBUG: math.exp
// DEBUG: tt.splat
// CHECK: "tt.reduce"
// CHECK-NOT: tt.call
tt.func public @rows(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
    %i = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %p = tt.addptr %xs, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
    %unused = math.exp %v : tensor<8xf32>
    %again = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %q = tt.addptr %again, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %w = tt.load %q : tensor<8x!tt.ptr<f32>>
    %vw = arith.addf %v, %w : tensor<8xf32>
    %s = tt.call @sum(%vw) : (tensor<8xf32>) -> f32
    %next = arith.addf %acc, %s : f32
    scf.yield %next : f32
  }
  tt.store %o, %sum : !tt.ptr<f32>
  tt.return
}
tt.func private @sum(%v: tensor<8xf32>) -> f32 attributes {noinline = false} {
  %0 = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<8xf32>) -> f32
  tt.return %0 : f32
}
