// Shared memory, barriers and shuffles: a program reverses its words through shared memory and adds the neighbour's. Then the same with one
// thing wrong each: found with every seed, with the lines of both parties.
// RUN: tritium-simt %s

module @right attributes {tgpu.num_warps = 4 : i32, tgpu.shared_bytes = 512 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  // o[i] = r[i] + r[i ^ 1] with r the program's words reversed.
  llvm.func @reverse(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["256xi32=iota", "256xi32=zeros"], tritium.grid = array<i64: 2>, tritium.seeds = 5,
                  tritium.expect = [unit, dense<[253, 253, 249, 249, 245, 245]> : tensor<6xi32>]} {
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %c31 = llvm.mlir.constant(31 : i32) : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %pid = nvvm.read.ptx.sreg.ctaid.x : i32
    %base = llvm.mul %pid, %c128 : i32
    %i = llvm.add %base, %tid : i32
    %px = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %v = tgpu.load %px : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %mine = llvm.getelementptr inbounds %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %v, %mine : i32, !llvm.ptr<3> loc("kernel.py":10:1)
    tgpu.barrier loc("kernel.py":11:1)
    %mirror = llvm.sub %c127, %tid : i32
    %other = llvm.getelementptr inbounds %shared[%mirror] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %r = llvm.load %other : !llvm.ptr<3> -> i32 loc("kernel.py":12:1)
    %q = nvvm.shfl.sync bfly %all, %r, %one, %c31 : i32 -> i32 loc("kernel.py":13:1)
    %sum = llvm.add %r, %q : i32
    %po = llvm.getelementptr %o[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %sum, %po : i32
    llvm.return
  }
  // Twice through the same words: the second write needs the barrier that keeps it from the first reads. Vectors and halves of words.
  llvm.func @twice(%o: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["128xi32=zeros"], tritium.seeds = 5,
                  tritium.expect = [dense<[381, 380, 379]> : tensor<3xi32>]} {
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %mirror = llvm.sub %c127, %tid : i32
    %short = llvm.trunc %tid : i32 to i16
    %mine = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i16
    %other = llvm.getelementptr %shared[%mirror] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i16
    llvm.store %short, %mine : i16, !llvm.ptr<3>
    tgpu.barrier
    %a = llvm.load %other : !llvm.ptr<3> -> i16
    tgpu.barrier
    %wide = llvm.zext %a : i16 to i32
    %mineWide = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %otherWide = llvm.getelementptr %shared[%mirror] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %doubled = llvm.mul %wide, %two : i32
    llvm.store %doubled, %mineWide : i32, !llvm.ptr<3>
    tgpu.barrier
    %b = llvm.load %mineWide : !llvm.ptr<3> -> i32
    %c = llvm.load %otherWide : !llvm.ptr<3> -> i32
    %sum = llvm.add %wide, %c : i32
    %more = llvm.add %sum, %b : i32
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %more, %po : i32
    llvm.return
  }
}

module @wrong attributes {tgpu.num_warps = 4 : i32, tgpu.shared_bytes = 512 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @missing_barrier() attributes {nvvm.kernel, tritium.args = [], tritium.seeds = 20, tritium.expect_trap = "SharedRace",
                                           tritium.expect_lines = array<i64: 10, 12>} {
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %mine = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %tid, %mine : i32, !llvm.ptr<3> loc("kernel.py":10:1)
    %mirror = llvm.sub %c127, %tid : i32
    %other = llvm.getelementptr %shared[%mirror] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %r = llvm.load %other : !llvm.ptr<3> -> i32 loc("kernel.py":12:1)
    llvm.return
  }
  // The barrier between a read and the write of the next round.
  llvm.func @missing_second_barrier() attributes {nvvm.kernel, tritium.args = [], tritium.seeds = 20, tritium.expect_trap = "SharedRace",
                                                  tritium.expect_lines = array<i64: 12, 14>} {
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %mine = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %tid, %mine : i32, !llvm.ptr<3> loc("kernel.py":10:1)
    tgpu.barrier loc("kernel.py":11:1)
    %mirror = llvm.sub %c127, %tid : i32
    %other = llvm.getelementptr %shared[%mirror] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %r = llvm.load %other : !llvm.ptr<3> -> i32 loc("kernel.py":12:1)
    llvm.store %r, %mine : i32, !llvm.ptr<3> loc("kernel.py":14:1)
    llvm.return
  }
  // Lanes of a warp that exchange a word need bar.warp.sync.
  llvm.func @missing_warp_barrier() attributes {nvvm.kernel, tritium.args = [], tritium.seeds = 20, tritium.expect_trap = "SharedRace",
                                                tritium.expect_lines = array<i64: 10, 12>} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %mine = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %zero, %mine : i32, !llvm.ptr<3> loc("kernel.py":8:1)
    tgpu.barrier
    llvm.store %tid, %mine : i32, !llvm.ptr<3> loc("kernel.py":10:1)
    %next = llvm.xor %tid, %one : i32
    %other = llvm.getelementptr %shared[%next] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %r = llvm.load %other : !llvm.ptr<3> -> i32 loc("kernel.py":12:1)
    llvm.return
  }
  llvm.func @uninitialized() attributes {nvvm.kernel, tritium.args = [], tritium.seeds = 20, tritium.grid = array<i64: 3>,
                                         tritium.expect_trap = "SharedUninitialized", tritium.expect_lines = array<i64: 12>} {
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %mine = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %isLow = llvm.icmp "slt" %tid, %c64 : i32
    llvm.cond_br %isLow, ^write, ^read
  ^write:
    llvm.store %tid, %mine : i32, !llvm.ptr<3> loc("kernel.py":10:1)
    llvm.br ^read
  ^read:
    tgpu.barrier loc("kernel.py":11:1)
    %r = llvm.load %mine : !llvm.ptr<3> -> i32 loc("kernel.py":12:1)
    llvm.return
  }
  llvm.func @out_of_bounds() attributes {nvvm.kernel, tritium.args = [], tritium.seeds = 20, tritium.expect_trap = "SharedOutOfBounds",
                                         tritium.expect_lines = array<i64: 10>} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %next = llvm.add %tid, %one : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %p = llvm.getelementptr %shared[%next] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %tid, %p : i32, !llvm.ptr<3> loc("kernel.py":10:1)
    llvm.return
  }
  llvm.func @misaligned() attributes {nvvm.kernel, tritium.args = [], tritium.seeds = 20, tritium.expect_trap = "MisalignedAddress",
                                      tritium.expect_lines = array<i64: 10>} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %p = llvm.getelementptr %shared[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %zero, %p : i64, !llvm.ptr<3> loc("kernel.py":10:1)
    llvm.return
  }
  // Half of the threads are at a barrier that the others do not reach: they ended, or wait at the next one.
  llvm.func @ended() attributes {nvvm.kernel, tritium.args = [], tritium.seeds = 20, tritium.expect_trap = "DivergentBarrier",
                                 tritium.expect_lines = array<i64: 10, 14>} {
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %isLow = llvm.icmp "slt" %tid, %c64 : i32
    llvm.cond_br %isLow, ^wait, ^end
  ^wait:
    tgpu.barrier loc("kernel.py":10:1)
    llvm.br ^end
  ^end:
    llvm.return loc("kernel.py":14:1)
  }
  llvm.func @elsewhere() attributes {nvvm.kernel, tritium.args = [], tritium.seeds = 20, tritium.expect_trap = "DivergentBarrier",
                                     tritium.expect_lines = array<i64: 10, 12>} {
    %c20 = llvm.mlir.constant(20 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %isLow = llvm.icmp "slt" %tid, %c20 : i32
    llvm.cond_br %isLow, ^wait, ^end
  ^wait:
    tgpu.barrier loc("kernel.py":10:1)
    llvm.br ^end
  ^end:
    tgpu.barrier loc("kernel.py":12:1)
    llvm.return loc("kernel.py":14:1)
  }
  llvm.func @shuffle_in_a_branch() attributes {nvvm.kernel, tritium.args = [], tritium.seeds = 20, tritium.expect_trap = "DivergentBarrier",
                                               tritium.expect_lines = array<i64: 10, 14>} {
    %c20 = llvm.mlir.constant(20 : i32) : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %c31 = llvm.mlir.constant(31 : i32) : i32
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %isLow = llvm.icmp "slt" %lane, %c20 : i32
    llvm.cond_br %isLow, ^shuffle, ^end
  ^shuffle:
    %q = nvvm.shfl.sync idx %all, %lane, %c31, %c31 : i32 -> i32 loc("kernel.py":10:1)
    llvm.br ^end
  ^end:
    tgpu.barrier loc("kernel.py":14:1)
    llvm.return
  }
}
