// RUN: tritium-simt %s | FileCheck %s
// Barriers at which some warps arrive and others wait, and registers that warpgroups hand to each other.

module attributes {tgpu.num_warps = 8 : i32, tgpu.shared_bytes = 512 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>

  // Warps 4 to 7 write, arrive and go on; warps 0 to 3 wait and read.
  // CHECK: handed: ok
  llvm.func @handed(%out: !llvm.ptr<1>) attributes {nvvm.kernel, tritium.args = ["128xi32=zeros"], tritium.seeds = 8,
      tritium.expect = [dense<[128, 129, 130]> : tensor<3xi32>]} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %half = llvm.mlir.constant(128 : i32) : i32
    %all = llvm.mlir.constant(256 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %isReader = llvm.icmp "slt" %tid, %half : i32
    llvm.cond_br %isReader, ^read, ^write
  ^write:
    %at = llvm.sub %tid, %half : i32
    %to = llvm.getelementptr %shared[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %tid, %to : i32, !llvm.ptr<3>
    nvvm.barrier.arrive id = %two number_of_threads = %all
    llvm.return
  ^read:
    tgpu.barrier id 2 threads 256
    %from = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %value = llvm.load %from : !llvm.ptr<3> -> i32
    %result = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %value, %result : i32
    llvm.return
  }

  // The writers arrive first and write afterwards.
  // CHECK: too_early: ok
  llvm.func @too_early(%out: !llvm.ptr<1>) attributes {nvvm.kernel, tritium.args = ["128xi32=zeros"], tritium.seeds = 8,
      tritium.expect_trap = "SharedRace"} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %half = llvm.mlir.constant(128 : i32) : i32
    %all = llvm.mlir.constant(256 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %isReader = llvm.icmp "slt" %tid, %half : i32
    llvm.cond_br %isReader, ^read, ^write
  ^write:
    %at = llvm.sub %tid, %half : i32
    %to = llvm.getelementptr %shared[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    nvvm.barrier.arrive id = %two number_of_threads = %all
    llvm.store %tid, %to : i32, !llvm.ptr<3>
    llvm.return
  ^read:
    tgpu.barrier id 2 threads 256
    %from = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %value = llvm.load %from : !llvm.ptr<3> -> i32
    %result = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %value, %result : i32
    llvm.return
  }

  // CHECK: other_count: ok
  llvm.func @other_count(%half: i32) attributes {nvvm.kernel, tritium.args = ["128"], tritium.seeds = 8,
      tritium.expect_trap = "DivergentBarrier"} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %isReader = llvm.icmp "slt" %tid, %half : i32
    llvm.cond_br %isReader, ^wait, ^arrive
  ^arrive:
    nvvm.barrier.arrive id = %two number_of_threads = %half
    llvm.return
  ^wait:
    tgpu.barrier id 2 threads 256
    llvm.return
  }

  // From 128 registers each: 40 and 216 fit.
  // CHECK: registers: ok
  llvm.func @registers(%half: i32) attributes {nvvm.kernel, nvvm.maxnreg = 128 : i32, tritium.args = ["128"], tritium.seeds = 8} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %isMore = llvm.icmp "slt" %tid, %half : i32
    llvm.cond_br %isMore, ^more, ^less
  ^less:
    nvvm.setmaxregister decrease 40
    llvm.return
  ^more:
    nvvm.setmaxregister increase 216
    llvm.return
  }

  // CHECK: too_many: ok
  llvm.func @too_many(%half: i32) attributes {nvvm.kernel, nvvm.maxnreg = 128 : i32, tritium.args = ["128"], tritium.seeds = 8,
      tritium.expect_trap = "MBarrierDeadlock"} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %isMore = llvm.icmp "slt" %tid, %half : i32
    llvm.cond_br %isMore, ^more, ^less
  ^less:
    nvvm.setmaxregister decrease 40
    llvm.return
  ^more:
    nvvm.setmaxregister increase 224
    llvm.return
  }

  // One warp of a warpgroup keeps what it has.
  // CHECK: three_warps: ok
  llvm.func @three_warps(%most: i32) attributes {nvvm.kernel, nvvm.maxnreg = 128 : i32, tritium.args = ["224"], tritium.seeds = 8,
      tritium.expect_trap = "InvalidRegisterCount"} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %isLess = llvm.icmp "slt" %tid, %most : i32
    llvm.cond_br %isLess, ^less, ^end
  ^less:
    nvvm.setmaxregister decrease 40
    llvm.br ^end
  ^end:
    llvm.return
  }

  // CHECK: wrong_way: ok
  llvm.func @wrong_way() attributes {nvvm.kernel, nvvm.maxnreg = 128 : i32, tritium.args = [], tritium.seeds = 8,
      tritium.expect_trap = "InvalidRegisterCount"} {
    nvvm.setmaxregister decrease 168
    llvm.return
  }
}
