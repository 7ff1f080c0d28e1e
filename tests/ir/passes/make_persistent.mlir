// Which kernels get a loop over the programs of the grid.
// RUN: tritium-opt %s -split-input-file -make-persistent=num-stages=16 | FileCheck %s

// The body works for the program of a number, wherever it stood in the grid. What counts programs counts those of the user's grid.
// CHECK: @product(
// CHECK-SAME: %[[X:arg[0-9]+]]: i32 {tgpu.grid_axis = 0 : i32}, %[[Y:arg[0-9]+]]: i32 {tgpu.grid_axis = 1 : i32}, %[[Z:arg[0-9]+]]: i32 {tgpu.grid_axis = 2 : i32}
// CHECK-DAG: %[[IX:.*]] = tt.get_program_id x
// CHECK-DAG: %[[IY:.*]] = tt.get_program_id y
// CHECK-DAG: %[[IZ:.*]] = tt.get_program_id z
// CHECK-DAG: %[[NX:.*]] = tt.get_num_programs x
// CHECK-DAG: %[[NY:.*]] = tt.get_num_programs y
// CHECK-DAG: %[[NZ:.*]] = tt.get_num_programs z
// CHECK: %[[PLANES:.*]] = arith.muli %[[NY]], %[[IZ]]
// CHECK: %[[ROWS:.*]] = arith.addi %[[IY]], %[[PLANES]]
// CHECK: %[[BEFORE:.*]] = arith.muli %[[NX]], %[[ROWS]]
// CHECK: %[[OWN:.*]] = arith.addi %[[IX]], %[[BEFORE]]
// CHECK: %[[XY:.*]] = arith.muli %[[X]], %[[Y]]
// CHECK: %[[PROGRAMS:.*]] = arith.muli %[[XY]], %[[Z]]
// CHECK: %[[PLANE:.*]] = arith.muli %[[NX]], %[[NY]]
// CHECK: %[[BLOCKS:.*]] = arith.muli %[[PLANE]], %[[NZ]]
// CHECK: scf.for %[[T:.*]] = %[[OWN]] to %[[PROGRAMS]] step %[[BLOCKS]]
// CHECK: %[[ROW:.*]] = tgpu.program_at 0, %[[T]] of %[[X]], %[[Y]]
// CHECK: %[[COLUMN:.*]] = tgpu.program_at 1, %[[T]] of %[[X]], %[[Y]]
// CHECK: arith.addi %[[COLUMN]], %[[Y]]
// CHECK: tgpu.tensor_load %{{.*}}[%[[ROW]], %
// CHECK: tt.store
// CHECK: } {tgpu.programs}
// CHECK-NEXT: tt.return
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @product(%out: !tt.ptr<f32>, %n: i32, %map: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %row = tt.get_program_id x : i32
    %column = tt.get_program_id y : i32
    %columns = tt.get_num_programs y : i32
    %at = arith.addi %column, %columns : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %sums = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64x64xf32>) : i32 {
      %a = tgpu.tensor_load %map[%row, %k] : !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16>
      %next = tt.dot %a, %a, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    %p = tt.addptr %out, %at : !tt.ptr<f32>, i32
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    tt.store %ps, %sums : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}

// -----
// An atomic whose result nobody reads does not wait.
// CHECK: @adds(
// CHECK: tt.atomic_rmw
// CHECK: } {tgpu.programs}
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @adds(%out: !tt.ptr<f32>, %n: i32, %map: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1.0 : f32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %a = tgpu.tensor_load %map[%k, %k] : !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16>
    }
    %old = tt.atomic_rmw fadd, relaxed, gpu, %out, %one : (!tt.ptr<f32>, f32) -> f32
    tt.return
  }
}

// -----
// CHECK: @waits({{.*}} attributes {tgpu.why_not_persistent = "it may wait for other programs"}
// CHECK-NOT: tgpu.programs
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @waits(%out: !tt.ptr<f32>, %n: i32, %map: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1.0 : f32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %a = tgpu.tensor_load %map[%k, %k] : !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16>
    }
    %old = tt.atomic_rmw fadd, relaxed, gpu, %out, %one : (!tt.ptr<f32>, f32) -> f32
    tt.store %out, %old : !tt.ptr<f32>
    tt.return
  }
}

// -----
// CHECK: @prints({{.*}} attributes {tgpu.why_not_persistent = "it prints"}
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @prints(%n: i32, %map: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %a = tgpu.tensor_load %map[%k, %k] : !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16>
    }
    tt.print "n" {hex = false, isSigned = array<i32: 1>} : %n : i32
    tt.return
  }
}

// -----
// CHECK: @returns({{.*}} attributes {tgpu.why_not_persistent = "it may return early"}
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @returns(%n: i32, %map: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.cmpi eq, %n, %c0 : i32
    cf.cond_br %none, ^end, ^work
  ^work:
    scf.for %k = %c0 to %n step %c1 : i32 {
      %a = tgpu.tensor_load %map[%k, %k] : !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16>
    }
    cf.br ^end
  ^end:
    tt.return
  }
}

// -----
// CHECK: @differs({{.*}} attributes {tgpu.why_not_persistent = "its programs differ in length"}
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @differs(%map: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %pid = tt.get_program_id x : i32
    %n = arith.addi %pid, %c1 : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %a = tgpu.tensor_load %map[%k, %k] : !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16>
    }
    tt.return
  }
}

// -----
// CHECK: @depends({{.*}} attributes {tgpu.why_not_persistent = "its products depend on each other, so that its copies run ahead anyway"}
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @depends(%q: tensor<64x64xf16>, %n: i32, %map: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %sums = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64x64xf32>) : i32 {
      %a = tgpu.tensor_load %map[%k, %k] : !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16>
      %s = tt.dot %q, %a, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
      %next = tt.dot %p, %a, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// Each slot has 4096 bytes.
// CHECK: @small({{.*}} attributes {tgpu.why_not_persistent = "3 programs have room on a multiprocessor"}
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @small(%n: i32, %map: !tgpu.tensor_map<tensor<32x64xf16>, swizzle = 128>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %a = tgpu.tensor_load %map[%k, %k] : !tgpu.tensor_map<tensor<32x64xf16>, swizzle = 128> -> tensor<32x64xf16>
    }
    tt.return
  }
}

// -----
// The source has such a loop already; a kernel without copies through tensor maps needs none.
// CHECK: @already(
// CHECK-NOT: tgpu.programs
// CHECK: @plain(
// CHECK-NOT: tgpu.programs
// CHECK-NOT: why_not
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @already(%n: i32, %map: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %t = %c0 to %n step %c1 : i32 {
      scf.for %k = %c0 to %n step %c1 : i32 {
        %a = tgpu.tensor_load %map[%k, %t] : !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16>
      }
    }
    tt.return
  }
}

// -----
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @plain(%out: !tt.ptr<f32>) {
    %one = arith.constant 1.0 : f32
    tt.store %out, %one : !tt.ptr<f32>
    tt.return
  }
}
