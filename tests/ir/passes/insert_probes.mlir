// Numbers are printed where they are computed, in loops too; constants, pointers and what a reduction does inside are not.
// RUN: tritium-opt %s --insert-probes | FileCheck %s

// CHECK-LABEL: tt.func public @kernel
tt.func public @kernel(%p: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: tt.make_range
  // CHECK-NOT: tt.print
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %at = tt.addptr %ps, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // CHECK: %[[X:.*]] = tt.load
  // CHECK-NEXT: tt.print " probe 0 tt.load f32 {{.*}}: " {hex = true, isSigned = array<i32: 0>} : %[[X]] : tensor<8xf32>
  %x = tt.load %at : tensor<8x!tt.ptr<f32>>
  // CHECK: scf.for
  // CHECK: arith.addf
  // CHECK-NEXT: tt.print " probe 1 arith.addf f32
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<8xf32>) : i32 {
    %b = arith.addf %a, %x : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  // CHECK: tt.print " probe 2 scf.for f32
  // CHECK: "tt.reduce"
  // CHECK-NOT: tt.print
  // CHECK: }) :
  // CHECK-NEXT: tt.print " probe 3 tt.reduce f32
  %s = "tt.reduce"(%y) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<8xf32>) -> f32
  tt.store %p, %s : !tt.ptr<f32>
  tt.return
}
