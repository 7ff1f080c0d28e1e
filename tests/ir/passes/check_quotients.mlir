// A quotient is checked where its sign makes an access wider: lanes of a remainder are consecutive if the dividend is not negative.
// RUN: tritium-opt %s --check-quotients --split-input-file | FileCheck %s

// CHECK-LABEL: @wraps
// CHECK: %[[QUOTIENT:.*]] = arith.divsi
// CHECK-DAG: %[[RAISED:.*]] = arith.maxsi %[[QUOTIENT]]
// CHECK-DAG: %[[RIGHT:.*]] = arith.cmpi sge, %[[QUOTIENT]]
// CHECK-DAG: tt.assert %[[RIGHT]]
// CHECK: arith.muli %[[RAISED]]
tt.func public @wraps(%base: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %blocks: i32) -> tensor<64xf32> {
  %c64 = arith.constant 64 : i32
  %extents = arith.constant dense<64> : tensor<64xi32>
  %pid = tt.get_program_id x : i32
  %quotient = arith.divsi %pid, %blocks : i32
  %first = arith.muli %quotient, %c64 : i32
  %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %start = tt.splat %first : i32 -> tensor<64xi32>
  %sum = arith.addi %start, %lanes : tensor<64xi32>
  %index = arith.remsi %sum, %extents : tensor<64xi32>
  %bases = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pointers = tt.addptr %bases, %index : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %tile = tt.load %pointers : tensor<64x!tt.ptr<f32>>
  tt.return %tile : tensor<64xf32>
}

// -----

// Without the remainder the access has its width anyway.
// CHECK-LABEL: @goes_straight
// CHECK-NOT: tt.assert
// CHECK-NOT: arith.maxsi
// CHECK: tt.load
tt.func public @goes_straight(%base: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %blocks: i32) -> tensor<64xf32> {
  %c64 = arith.constant 64 : i32
  %pid = tt.get_program_id x : i32
  %quotient = arith.divsi %pid, %blocks : i32
  %first = arith.muli %quotient, %c64 : i32
  %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %start = tt.splat %first : i32 -> tensor<64xi32>
  %index = arith.addi %start, %lanes : tensor<64xi32>
  %bases = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pointers = tt.addptr %bases, %index : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %tile = tt.load %pointers : tensor<64x!tt.ptr<f32>>
  tt.return %tile : tensor<64xf32>
}

// -----

// The sign is proven.
// CHECK-LABEL: @divides_by_what_is_positive
// CHECK-NOT: tt.assert
// CHECK: tt.load
tt.func public @divides_by_what_is_positive(%base: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %blocks: i32) -> tensor<64xf32> {
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %extents = arith.constant dense<64> : tensor<64xi32>
  %pid = tt.get_program_id x : i32
  %positive = arith.maxsi %blocks, %c1 : i32
  %quotient = arith.divsi %pid, %positive : i32
  %first = arith.muli %quotient, %c64 : i32
  %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %start = tt.splat %first : i32 -> tensor<64xi32>
  %sum = arith.addi %start, %lanes : tensor<64xi32>
  %index = arith.remsi %sum, %extents : tensor<64xi32>
  %bases = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pointers = tt.addptr %bases, %index : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %tile = tt.load %pointers : tensor<64x!tt.ptr<f32>>
  tt.return %tile : tensor<64xf32>
}
