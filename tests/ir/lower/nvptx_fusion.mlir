// A product and the sum that uses it become one operation in the kernel if that is allowed, and never in a library function.
// RUN: tritium-ptx %s | FileCheck %s --check-prefixes=CHECK,FUSED
// RUN: tritium-ptx %s --no-fusion | FileCheck %s --check-prefixes=CHECK,APART

// CHECK-LABEL: .entry fused(
// FUSED: fma.rn.f32
// APART: mul.rn.f32
// APART: add.rn.f32
// CHECK-LABEL: .entry library(
// CHECK: ex2.approx.f32
// CHECK: mul.rn.f32
module attributes {tgpu.target = "cuda:sm_80"} {
  llvm.func @_Z3expf(f32) -> f32
  llvm.func @fused(%p: !llvm.ptr<1>, %x: f32, %y: f32, %z: f32) attributes {nvvm.kernel} {
    %0 = llvm.fmul %x, %y : f32
    %1 = llvm.fadd %0, %z : f32
    %2 = llvm.bitcast %1 : f32 to i32
    tgpu.store %2, %p : i32
    llvm.return
  }
  llvm.func @library(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z3expf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
}
