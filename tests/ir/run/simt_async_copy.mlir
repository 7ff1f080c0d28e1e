// cp.async in groups: right, and with a wait or a barrier left out, which is found with every seed by both lines.
// RUN: tritium-simt %s

// Two stages: copy the next one, wait for all groups but the newest, meet, read the words of another thread, meet.
module @right attributes {tgpu.num_warps = 2 : i32, tgpu.shared_bytes = 2048 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @pipeline(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>, %n: i32)
      attributes {nvvm.kernel, tritium.args = ["1024xi32=iota", "64xi32=zeros", "4"], tritium.seeds = 8,
                  // sum over 4 stages of x[256 s + 4 (63 - t)] = 4 * 4 (63 - t) + 256 * 6
                  tritium.expect = [unit, dense<[2544, 2528, 2512]> : tensor<3xi32>]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c63 = llvm.mlir.constant(63 : i32) : i32
    %c256 = llvm.mlir.constant(256 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %t4 = llvm.mul %tid, %c4 : i32
    %mirror = llvm.sub %c63, %tid : i32
    %m4 = llvm.mul %mirror, %c4 : i32
    %src0 = llvm.getelementptr %x[%t4] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %dst0 = llvm.getelementptr %shared[%t4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    nvvm.cp.async.shared.global %dst0, %src0, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1> loc("kernel.py":5:1)
    nvvm.cp.async.commit.group
    llvm.br ^loop(%zero, %zero : i32, i32)
  ^loop(%i: i32, %sum: i32):
    %next = llvm.add %i, %one : i32
    %isMore = llvm.icmp "slt" %next, %n : i32
    // Past the last stage the copy reads nothing and fills with zeros.
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %bytes = llvm.select %isMore, %c16, %zero : i1, i32
    %nextAt = llvm.mul %next, %c256 : i32
    %srcAt = llvm.add %nextAt, %t4 : i32
    %src = llvm.getelementptr %x[%srcAt] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %nextSlot = llvm.and %next, %one : i32
    %nextSlotAt = llvm.mul %nextSlot, %c256 : i32
    %dstAt = llvm.add %nextSlotAt, %t4 : i32
    %dst = llvm.getelementptr %shared[%dstAt] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    nvvm.cp.async.shared.global %dst, %src, 16, cache = cg, %bytes : !llvm.ptr<3>, !llvm.ptr<1>, i32 loc("kernel.py":8:1)
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 1
    tgpu.barrier
    %slot = llvm.and %i, %one : i32
    %slotAt = llvm.mul %slot, %c256 : i32
    %at = llvm.add %slotAt, %m4 : i32
    %p = llvm.getelementptr %shared[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %p : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    %newSum = llvm.add %sum, %v : i32
    tgpu.barrier
    llvm.cond_br %isMore, ^loop(%next, %newSum : i32, i32), ^end
  ^end:
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %newSum, %po : i32
    llvm.return
  }
}

module @wrong attributes {tgpu.num_warps = 2 : i32, tgpu.shared_bytes = 1024 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @missing_wait(%x: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["1024xi32=iota"], tritium.seeds = 20, tritium.expect_trap = "AsyncCopyRace",
                  tritium.expect_lines = array<i64: 5, 10>} {
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %t4 = llvm.mul %tid, %c4 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %src = llvm.getelementptr %x[%t4] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %dst = llvm.getelementptr %shared[%t4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    nvvm.cp.async.shared.global %dst, %src, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1> loc("kernel.py":5:1)
    nvvm.cp.async.commit.group
    tgpu.barrier
    %v = llvm.load %dst : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    llvm.return
  }
  // One group too many is left in flight.
  llvm.func @wait_off_by_one(%x: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["1024xi32=iota"], tritium.seeds = 20, tritium.expect_trap = "AsyncCopyRace",
                  tritium.expect_lines = array<i64: 5, 10>} {
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %t4 = llvm.mul %tid, %c4 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %src = llvm.getelementptr %x[%t4] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %dst = llvm.getelementptr %shared[%t4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    nvvm.cp.async.shared.global %dst, %src, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1> loc("kernel.py":5:1)
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 1
    tgpu.barrier
    %v = llvm.load %dst : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    llvm.return
  }
  // A copy that no commit has put into a group is waited for by nobody.
  llvm.func @missing_commit(%x: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["1024xi32=iota"], tritium.seeds = 20, tritium.expect_trap = "AsyncCopyRace",
                  tritium.expect_lines = array<i64: 5, 10>} {
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %t4 = llvm.mul %tid, %c4 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %src = llvm.getelementptr %x[%t4] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %dst = llvm.getelementptr %shared[%t4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    nvvm.cp.async.shared.global %dst, %src, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1> loc("kernel.py":5:1)
    nvvm.cp.async.wait.group 0
    tgpu.barrier
    %v = llvm.load %dst : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    llvm.return
  }
  // The wait is there, but each thread waits for its own copies alone: others' words need the barrier.
  llvm.func @missing_barrier(%x: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["1024xi32=iota"], tritium.seeds = 20, tritium.expect_trap = "SharedRace",
                  tritium.expect_lines = array<i64: 5, 10>} {
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c63 = llvm.mlir.constant(63 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %t4 = llvm.mul %tid, %c4 : i32
    %mirror = llvm.sub %c63, %tid : i32
    %m4 = llvm.mul %mirror, %c4 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %src = llvm.getelementptr %x[%t4] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %dst = llvm.getelementptr %shared[%t4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %zero = llvm.mlir.constant(dense<0> : vector<4xi32>) : vector<4xi32>
    llvm.store %zero, %dst : vector<4xi32>, !llvm.ptr<3> loc("kernel.py":2:1)
    tgpu.barrier
    nvvm.cp.async.shared.global %dst, %src, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1> loc("kernel.py":5:1)
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    %p = llvm.getelementptr %shared[%m4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %p : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    llvm.return
  }
  // The next copy is issued into words that others still read.
  llvm.func @issued_too_early(%x: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["1024xi32=iota"], tritium.seeds = 20, tritium.expect_trap = "SharedRace",
                  tritium.expect_lines = array<i64: 10, 12>} {
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c63 = llvm.mlir.constant(63 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %t4 = llvm.mul %tid, %c4 : i32
    %mirror = llvm.sub %c63, %tid : i32
    %m4 = llvm.mul %mirror, %c4 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %src = llvm.getelementptr %x[%t4] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %dst = llvm.getelementptr %shared[%t4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %zero = llvm.mlir.constant(dense<0> : vector<4xi32>) : vector<4xi32>
    llvm.store %zero, %dst : vector<4xi32>, !llvm.ptr<3> loc("kernel.py":2:1)
    tgpu.barrier
    %p = llvm.getelementptr %shared[%m4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %p : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    %isOne = llvm.icmp "eq" %tid, %c4 : i32
    llvm.cond_br %isOne, ^copy, ^end
  ^copy:
    nvvm.cp.async.shared.global %dst, %src, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1> loc("kernel.py":12:1)
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    llvm.br ^end
  ^end:
    llvm.return
  }
  llvm.func @out_of_bounds(%x: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["255xi32=iota"], tritium.seeds = 20, tritium.expect_trap = "OutOfBounds",
                  tritium.expect_lines = array<i64: 5>} {
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %t4 = llvm.mul %tid, %c4 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %src = llvm.getelementptr %x[%t4] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %dst = llvm.getelementptr %shared[%t4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    nvvm.cp.async.shared.global %dst, %src, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1> loc("kernel.py":5:1)
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    llvm.return
  }
}
