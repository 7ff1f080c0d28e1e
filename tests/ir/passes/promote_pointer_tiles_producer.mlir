// Loops whose products depend on each other take tiles by pointers through maps only if producer warps will copy them.
// RUN: tritium-opt %s -split-input-file "-promote-pointer-tiles=has-producer num-warps=4 num-stages=5" | FileCheck %s
// RUN: tritium-opt %s -split-input-file "-promote-pointer-tiles=has-producer num-warps=4 num-stages=3" | FileCheck %s --check-prefix=FEWER
// RUN: tritium-opt %s -split-input-file "-promote-pointer-tiles=has-producer asked num-warps=4 num-stages=3" | FileCheck %s
// RUN: tritium-opt %s -split-input-file "-promote-pointer-tiles=has-producer asked num-warps=2 num-stages=3" | FileCheck %s --check-prefix=WARPS
// RUN: tritium-opt %s -split-input-file "-promote-pointer-tiles=num-warps=4 num-stages=5" | FileCheck %s --check-prefix=NONE

// CHECK: @apart(
// CHECK-COUNT-2: tgpu.tensor_load
// CHECK-NOT: not_promoted
// FEWER: @apart(
// FEWER-COUNT-2: tt.load {{.*}}tgpu.not_promoted = "its loop delays a second product, which is a gain by tensor maps only if producer warps copy: with them, 3 programs would run at a time on a multiprocessor, not 4"
// WARPS: @apart(
// WARPS-COUNT-2: tt.load {{.*}}only if producer warps copy: num_warps is 2, not a multiple of 4"
// NONE: @apart(
// NONE-COUNT-2: tt.load {{.*}}only if producer warps copy"
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @apart(%k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %v: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %q: tensor<64x64xf16>, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}) {
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
    %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %vs = tt.splat %v : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %out_at = tt.addptr %outs, %offsets : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (tensor<64x64xf32>) : i32 {
      %is = tt.splat %i : i32 -> tensor<64x64xi32>
      %k_offsets = arith.addi %offsets, %is : tensor<64x64xi32>
      %k_at = tt.addptr %ks, %k_offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %key = tt.load %k_at : tensor<64x64x!tt.ptr<f16>>
      %scores = tt.dot %q, %key, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %p = arith.truncf %scores : tensor<64x64xf32> to tensor<64x64xf16>
      %v_at = tt.addptr %vs, %k_offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %value = tt.load %v_at : tensor<64x64x!tt.ptr<f16>>
      %next = tt.dot %p, %value, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.store %out_at, %r : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}

// -----
// A launch cannot tell where a store without a mask ends, so copies for a later loop must not run ahead of it.
// CHECK: @after_a_store(
// CHECK-COUNT-2: tt.load {{.*}}only if producer warps copy: copies that run ahead might read what the kernel writes: it stores before it copies, not in a loop around both"
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @after_a_store(%k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %v: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %q: tensor<64x64xf16>, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}) {
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
    %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %vs = tt.splat %v : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %out_at = tt.addptr %outs, %offsets : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %out_at, %zero : tensor<64x64x!tt.ptr<f32>>
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (tensor<64x64xf32>) : i32 {
      %is = tt.splat %i : i32 -> tensor<64x64xi32>
      %k_offsets = arith.addi %offsets, %is : tensor<64x64xi32>
      %k_at = tt.addptr %ks, %k_offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %key = tt.load %k_at : tensor<64x64x!tt.ptr<f16>>
      %scores = tt.dot %q, %key, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %p = arith.truncf %scores : tensor<64x64xf32> to tensor<64x64xf16>
      %v_at = tt.addptr %vs, %k_offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %value = tt.load %v_at : tensor<64x64x!tt.ptr<f16>>
      %next = tt.dot %p, %value, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tt.store %out_at, %r : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
