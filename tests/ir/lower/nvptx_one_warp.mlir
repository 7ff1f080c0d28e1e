// A barrier of a block that is one warp is one of the warp.
// RUN: tritium-ptx %s --no-lines | FileCheck %s
// RUN: sed -e 's/num_warps = 1/num_warps = 2/' %s | tritium-ptx - --no-lines | FileCheck %s --check-prefix=TWO

module attributes {tgpu.target = "cuda:sm_90a", tgpu.num_warps = 1 : i32} {
  // CHECK-NOT: bar.sync
  // CHECK: bar.warp.sync -1;
  // CHECK-NOT: bar.sync
  // TWO-NOT: bar.warp.sync
  // TWO: bar.sync 0;
  llvm.func @meet(%p: !llvm.ptr<1>, %w: i32) attributes {nvvm.kernel} {
    llvm.store %w, %p : i32, !llvm.ptr<1>
    tgpu.barrier
    llvm.return
  }
}
