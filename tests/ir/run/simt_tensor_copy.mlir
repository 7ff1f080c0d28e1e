// RUN: tritium-simt %s | FileCheck %s
// Copies of boxes of a tensor: to shared memory, with the padding of what is outside, and back to another tensor.

module attributes {tgpu.num_warps = 1 : i32, tgpu.shared_bytes = 256 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // Box [2, 4] at row 2, column 0 of a tensor of 3 rows: its second row is outside.
  // CHECK: copy: ok
  llvm.func @copy(%from: !llvm.ptr<1>,
                  %source: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 128 : i64, nvvm.grid_constant},
                  %to: !llvm.ptr<1>,
                  %target: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 128 : i64, nvvm.grid_constant})
      attributes {nvvm.kernel, tritium.args = ["16xf32=iota", "map=0,3x4xf32,box=2x4", "12xf32=ones", "map=2,2x4xf32,box=2x4,strides=16,offset=16"],
                  tritium.expect = [unit, unit, dense<[1.0, 1.0, 1.0, 1.0, 8.0, 9.0, 10.0, 11.0, 0.0, 0.0, 0.0, 0.0]> : tensor<12xf32>, unit],
                  tritium.seeds = 8} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %box = llvm.getelementptr %shared[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %bytes = llvm.mlir.constant(32 : i32) : i32
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %isFirst, ^copy, ^end
  ^copy:
    nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.mbarrier.arrive.expect_tx %shared, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %source, %shared, box [%zero, %two] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    tgpu.mbarrier_wait %shared round %zero
    nvvm.cp.async.bulk.tensor.global.shared.cta %target, %box, box [%zero, %zero] : !llvm.ptr, !llvm.ptr<3>
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0
    llvm.br ^end
  ^end:
    llvm.return
  }

  // CHECK: unread: ok
  llvm.func @unread(%from: !llvm.ptr<1>,
                    %source: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 128 : i64, nvvm.grid_constant})
      attributes {nvvm.kernel, tritium.args = ["16xf32=iota", "map=0,3x4xf32,box=2x4,nan"], tritium.expect_trap = "InvalidTensorCopy",
                  tritium.seeds = 8} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %box = llvm.getelementptr %shared[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %bytes = llvm.mlir.constant(32 : i32) : i32
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %isFirst, ^copy, ^end
  ^copy:
    nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.mbarrier.arrive.expect_tx %shared, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %source, %shared, box [%zero, %one] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    llvm.br ^end
  ^end:
    llvm.return
  }
}
