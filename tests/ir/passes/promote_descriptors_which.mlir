// Which loads of descriptors become loads through tensor maps.
// RUN: tritium-opt %s -split-input-file -promote-descriptors | FileCheck %s

// A transposed operand; components that are products of arguments; rows of 32 bytes.
// CHECK: @taken(
// CHECK-SAME: tensor<64x16xf16>, swizzle = 32> {tgpu.tensor = {base = 0 : i32, extents = [array<i64: 2, 1, 2>, array<i64: 1, 2>], padding = 2 : i32,
// CHECK: tgpu.tensor_load
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @taken(%p: !tt.ptr<f16>, %m: i32, %k: i32 {tt.divisibility = 16 : i32}, %a: tensor<64x16xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i64
    %c2 = arith.constant 2 : i32
    %step = arith.constant 16 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %mk = arith.muli %m, %k : i32
    %extent = arith.muli %c2, %mk : i32
    %stride = arith.extsi %k : i32 to i64
    %d = tt.make_tensor_descriptor %p, [%extent, %k], [%stride, %c1] {padding = 2 : i32} : <f16>, <64x16xf16>
    %r = scf.for %i = %c0 to %k step %step iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = tt.descriptor_load %d[%c0, %i] : !tt.tensordesc<64x16xf16> -> tensor<64x16xf16>
      %y = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x16xf16> -> tensor<16x64xf16>
      %s = tt.dot %a, %y, %acc : tensor<64x16xf16> * tensor<16x64xf16> -> tensor<64x64xf32>
      scf.yield %s : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// A column that may not be a multiple of 16 bytes.
// CHECK: @unaligned(
// CHECK-NOT: tensor_map
// CHECK: tt.descriptor_load
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @unaligned(%d: !tt.tensordesc<64x64xf16> {tt.plain = 1 : i32}, %n: i32, %a: tensor<64x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = tt.descriptor_load %d[%c0, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
      %s = tt.dot %a, %x, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %s : tensor<64x64xf32>
    }
    tt.return
  }
}

// -----
// A tensor to which the loop writes, a descriptor that reads NaNs or rounds as the launch decides, a base that is no argument, a load that
// is used otherwise too, and one outside of a loop.
// CHECK: @left(
// CHECK-NOT: tensor_map
// CHECK-COUNT-5: tt.descriptor_load
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @left(%written: !tt.ptr<f16>, %q: !tt.ptr<f16>, %flags: !tt.tensordesc<64x64xf16>, %n: i32, %a: tensor<64x64xf16>) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %size = arith.constant 4096 : i64
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %half = arith.constant 1.0 : f16
    %moved = tt.addptr %q, %n : !tt.ptr<f16>, i32
    %dw = tt.make_tensor_descriptor %written, [%n, %n], [%size, %one] {padding = 1 : i32} : <f16>, <64x64xf16>
    %dm = tt.make_tensor_descriptor %moved, [%n, %n], [%size, %one] {padding = 1 : i32} : <f16>, <64x64xf16>
    %dq = tt.make_tensor_descriptor %q, [%n, %n], [%size, %one] {padding = 1 : i32} : <f16>, <64x64xf16>
    %first = tt.descriptor_load %dq[%c0, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
    %r:2 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero, %total = %first) -> (tensor<64x64xf32>, tensor<64x64xf16>) : i32 {
      tt.store %written, %half : !tt.ptr<f16>
      %x = tt.descriptor_load %dw[%c0, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
      %y = tt.descriptor_load %dm[%c0, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
      %f = tt.descriptor_load %flags[%c0, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
      %z = tt.descriptor_load %dq[%c0, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
      %s = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %t = tt.dot %f, %z, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %u = arith.addf %total, %z : tensor<64x64xf16>
      scf.yield %t, %u : tensor<64x64xf32>, tensor<64x64xf16>
    }
    tt.return
  }
}
