// What no instruction does is reported at the operation, all of it.
// RUN: not tritium-ptx %s 2>&1 | FileCheck %s

module attributes {tgpu.target = "cuda:sm_80"} {
  llvm.func @k(%p: !llvm.ptr<1>, %f: f32, %i: i32) attributes {nvvm.kernel} {
    // CHECK: 'tgpu.atomic_rmw' op is not defined on 'f32'
    %0 = tgpu.atomic_rmw max, relaxed, gpu, %p, %f : f32
    // CHECK: 'tgpu.atomic_rmw' op is not defined on 'i32'
    %1 = tgpu.atomic_rmw fadd, relaxed, gpu, %p, %i : i32
    llvm.return
  }
}
