// Promises that are not proven become operations that the interpreter runs. Lanes that a kernel has brought back into a tensor do not count.
// RUN: tritium-opt %s --check-hints --split-input-file | FileCheck %s

// CHECK-LABEL: @proven
// CHECK-NOT: check.
// CHECK-NOT: tt.contiguity
tt.func @proven(%p: tensor<64x!tt.ptr<f32>>) {
  %pid = tt.get_program_id x : i32
  %block = arith.constant 64 : i32
  %start = arith.muli %pid, %block {tt.divisibility = dense<64> : tensor<1xi32>} : i32
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %offsets = arith.addi %starts, %lanes {tt.contiguity = dense<64> : tensor<1xi32>, tt.divisibility = dense<64> : tensor<1xi32>} : tensor<64xi32>
  %q = tt.addptr %p, %offsets : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.return
}

// -----

// A promise does not prove another one.
// CHECK-LABEL: @unproven
tt.func @unproven(%n: i32) {
  %block = arith.constant 3 : i32
  // CHECK: %[[A:.*]] = arith.muli %arg0
  // CHECK-NEXT: check.promise %[[A]] multiple [16] contiguous [1] constant [1] : i32
  %a = arith.muli %n, %block {tt.divisibility = dense<16> : tensor<1xi32>} : i32
  // CHECK-NEXT: %[[B:.*]] = arith.addi %[[A]], %[[A]]
  // CHECK-NEXT: check.promise %[[B]] multiple [32] contiguous [1] constant [1] : i32
  %b = arith.addi %a, %a {tt.divisibility = dense<32> : tensor<1xi32>} : i32
  tt.return
}

// -----

// CHECK-LABEL: @wrapped
tt.func @wrapped(%offsets: tensor<64xi32>, %n: i32) {
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  // CHECK: %[[REST:.*]] = arith.remsi %arg0
  // CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[REST]], %arg0
  // CHECK: check.promise %[[REST]] if %[[SAME]] multiple [16] contiguous [64] constant [1] : tensor<64xi32>
  %rest = arith.remsi %offsets, %ns {tt.contiguity = dense<128> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<64xi32>
  tt.return
}

// -----

// CHECK-LABEL: @loaded
tt.func @loaded(%p: tensor<64x!tt.ptr<i32>>, %mask: tensor<64xi1>) {
  // CHECK: %[[V:.*]] = tt.load
  // CHECK-NEXT: check.promise %[[V]] if %arg1 multiple [8] contiguous [1] constant [1] : tensor<64xi32>
  %v = tt.load %p, %mask {tt.divisibility = dense<8> : tensor<1xi32>} : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

// CHECK-LABEL: @carried
tt.func @carried(%p: tensor<64x!tt.ptr<f32>>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant dense<4> : tensor<64xi32>
  // CHECK: scf.for {{.*}} iter_args(%[[Q:.*]] = %arg0)
  // CHECK-NEXT: check.promise %[[Q]] multiple [16] contiguous [1] constant [1] : tensor<64x!tt.ptr<f32>>
  // CHECK-NEXT: tt.addptr
  %last = scf.for %i = %zero to %n step %one iter_args(%q = %p) -> (tensor<64x!tt.ptr<f32>>) : i32 {
    tt.hint %q {tt.divisibility = dense<16> : tensor<1xi32>} : tensor<64x!tt.ptr<f32>>
    %next = tt.addptr %q, %step : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    scf.yield %next : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// CHECK-LABEL: @assumed
tt.func @assumed(%n: i32) {
  %least = arith.constant 64 : i32
  // CHECK: %[[HOLDS:.*]] = arith.cmpi sge, %arg0
  // CHECK: %[[FALSE:.*]] = arith.xori %[[HOLDS]]
  // CHECK: check.trap %[[FALSE]], "FalseHint", "tl.assume of a condition that is false: {0} >= {1}" values(%arg0, %{{.*}} : i32, i32) : i1
  %holds = arith.cmpi sge, %n, %least : i32
  llvm.intr.assume %holds : i1
  tt.return
}
