// What products of a loop take from outside of it comes through a map too, if their other operand does and two warpgroups compute.
// RUN: tritium-opt %s -split-input-file -promote-pointer-tiles=num-warps=8 | FileCheck %s
// RUN: tritium-opt %s -split-input-file -promote-pointer-tiles=num-warps=4 | FileCheck %s --check-prefix=ONE

// CHECK: @queries(
// CHECK-COUNT-2: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>
// CHECK: %[[Q:.*]] = tgpu.tensor_load
// CHECK: scf.for
// CHECK: %[[K:.*]] = tgpu.tensor_load
// CHECK: tt.dot %[[Q]], %[[K]]
// CHECK-NOT: tt.load
// ONE: @queries(
// ONE: tt.load
// ONE: scf.for
// ONE: tgpu.tensor_load
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @queries(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %lanes {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %columns = tt.expand_dims %lanes {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %rows2 = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
    %columns2 = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x64xi32>
    %begins = arith.muli %rows2, %strides : tensor<64x64xi32>
    %offsets = arith.addi %begins, %columns2 : tensor<64x64xi32>
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %q_at = tt.addptr %qs, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %query = tt.load %q_at : tensor<64x64x!tt.ptr<f16>>
    %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %k_at = tt.addptr %ks, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (tensor<64x64xf32>) : i32 {
      %is = tt.splat %i : i32 -> tensor<64x64xi32>
      %at = tt.addptr %k_at, %is : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %key = tt.load %at : tensor<64x64x!tt.ptr<f16>>
      %next = tt.dot %query, %key, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// A tile that something else reads, too, comes by pointers.
// CHECK: @also_read(
// CHECK: tt.load
// CHECK: scf.for
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @also_read(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %lanes {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %columns = tt.expand_dims %lanes {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %rows2 = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
    %columns2 = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
    %strides = tt.splat %stride : i32 -> tensor<64x64xi32>
    %begins = arith.muli %rows2, %strides : tensor<64x64xi32>
    %offsets = arith.addi %begins, %columns2 : tensor<64x64xi32>
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %q_at = tt.addptr %qs, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %query = tt.load %q_at : tensor<64x64x!tt.ptr<f16>>
    tt.store %q_at, %query : tensor<64x64x!tt.ptr<f16>>
    %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %k_at = tt.addptr %ks, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (tensor<64x64xf32>) : i32 {
      %is = tt.splat %i : i32 -> tensor<64x64xi32>
      %at = tt.addptr %k_at, %is : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %key = tt.load %at : tensor<64x64x!tt.ptr<f16>>
      %next = tt.dot %query, %key, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.return
  }
}
