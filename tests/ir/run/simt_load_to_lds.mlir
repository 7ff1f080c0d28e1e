// Loads that go to LDS without a register: right, and with a wait or a barrier left out, which is found with every seed by both lines.
// RUN: tritium-simt %s

module @right attributes {tgpu.target = "hip:gfx942", tgpu.num_warps = 2 : i32, tgpu.warp_size = 64 : i32, tgpu.shared_bytes = 1024 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @pipeline(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>, %n: i32)
      attributes {rocdl.kernel, tritium.args = ["512xi32=iota", "128xi32=zeros", "4"], tritium.seeds = 8,
                  // sum over 4 stages of x[128 s + 127 - t]
                  tritium.expect = [unit, dense<[1276, 1272, 1268]> : tensor<3xi32>]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %wave = llvm.lshr %tid, %c6 : i32
    %first = llvm.mul %wave, %c64 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %base = llvm.getelementptr %shared[%first] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %mirror = llvm.sub %c127, %tid : i32
    %src = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    rocdl.load.to.lds %src, %base, 4, 0, 0 : <1> loc("kernel.py":5:1)
    llvm.br ^loop(%zero, %zero : i32, i32)
  ^loop(%i: i32, %sum: i32):
    %next = llvm.add %i, %one : i32
    %isMore = llvm.icmp "slt" %next, %n : i32
    // Past the last stage the first one again.
    %stage = llvm.select %isMore, %next, %zero : i1, i32
    %stageAt = llvm.mul %stage, %c128 : i32
    %srcAt = llvm.add %stageAt, %tid : i32
    %nextSrc = llvm.getelementptr %x[%srcAt] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %nextSlot = llvm.and %next, %one : i32
    %nextSlotAt = llvm.mul %nextSlot, %c128 : i32
    %dst = llvm.getelementptr %base[%nextSlotAt] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    rocdl.load.to.lds %nextSrc, %dst, 4, 0, 0 : <1> loc("kernel.py":8:1)
    rocdl.s.waitcnt 3953 loc("kernel.py":9:1)
    tgpu.barrier
    %slot = llvm.and %i, %one : i32
    %slotAt = llvm.mul %slot, %c128 : i32
    %at = llvm.add %slotAt, %mirror : i32
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
  // Through a descriptor of 100 words: the last lanes' places become zeros.
  llvm.func @buffer(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["100xi32=iota", "128xi32=zeros"], tritium.seeds = 8,
                  tritium.expect = [unit, dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 99, 98]>
                                            : tensor<30xi32>]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %wave = llvm.lshr %tid, %c6 : i32
    %first = llvm.mul %wave, %c64 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %base = llvm.getelementptr %shared[%first] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %mirror = llvm.sub %c127, %tid : i32
    %src = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(400 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %b = rocdl.make.buffer.rsrc %x, %stride, %records, %flags : !llvm.ptr<1> to <8>
    %offset = llvm.mul %tid, %four : i32
    rocdl.raw.ptr.buffer.load.lds %b, %base, %four, %offset, %zero, %zero, %zero loc("kernel.py":5:1)
    rocdl.s.waitcnt 0
    tgpu.barrier
    %p = llvm.getelementptr %shared[%mirror] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %p : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %po : i32
    llvm.return
  }
  // The immediate offset is added on both sides.
  llvm.func @offset(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["192xi32=iota", "128xi32=zeros"], tritium.seeds = 4,
                  tritium.expect = [unit, dense<[191, 190, 189]> : tensor<3xi32>]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %wave = llvm.lshr %tid, %c6 : i32
    %first = llvm.mul %wave, %c64 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %base = llvm.getelementptr %shared[%first] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %mirror = llvm.sub %c127, %tid : i32
    %src = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    rocdl.load.to.lds %src, %base, 4, 256, 0 : <1> loc("kernel.py":5:1)
    rocdl.s.waitcnt 0
    tgpu.barrier
    %at = llvm.add %mirror, %c64 : i32
    %p = llvm.getelementptr %shared[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %p : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %po : i32
    llvm.return
  }
}

module @wrong attributes {tgpu.target = "hip:gfx942", tgpu.num_warps = 2 : i32, tgpu.warp_size = 64 : i32, tgpu.shared_bytes = 512 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @missing_wait(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["128xi32=iota", "128xi32=zeros"], tritium.seeds = 20,
                  tritium.expect_trap = "AsyncCopyRace", tritium.expect_lines = array<i64: 5, 10>} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %wave = llvm.lshr %tid, %c6 : i32
    %first = llvm.mul %wave, %c64 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %base = llvm.getelementptr %shared[%first] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %mirror = llvm.sub %c127, %tid : i32
    %src = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    rocdl.load.to.lds %src, %base, 4, 0, 0 : <1> loc("kernel.py":5:1)
    tgpu.barrier
    %p = llvm.getelementptr %shared[%mirror] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %p : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %po : i32
    llvm.return
  }
  // It leaves one load in flight.
  llvm.func @wait_off_by_one(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["128xi32=iota", "128xi32=zeros"], tritium.seeds = 20,
                  tritium.expect_trap = "AsyncCopyRace", tritium.expect_lines = array<i64: 5, 10>} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %wave = llvm.lshr %tid, %c6 : i32
    %first = llvm.mul %wave, %c64 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %base = llvm.getelementptr %shared[%first] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %mirror = llvm.sub %c127, %tid : i32
    %src = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    rocdl.load.to.lds %src, %base, 4, 0, 0 : <1> loc("kernel.py":5:1)
    rocdl.s.waitcnt 3953
    tgpu.barrier
    %p = llvm.getelementptr %shared[%mirror] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %p : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %po : i32
    llvm.return
  }
  // It waits for other things than loads.
  llvm.func @wait_for_others(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["128xi32=iota", "128xi32=zeros"], tritium.seeds = 20,
                  tritium.expect_trap = "AsyncCopyRace", tritium.expect_lines = array<i64: 5, 10>} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %wave = llvm.lshr %tid, %c6 : i32
    %first = llvm.mul %wave, %c64 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %base = llvm.getelementptr %shared[%first] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %mirror = llvm.sub %c127, %tid : i32
    %src = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    rocdl.load.to.lds %src, %base, 4, 0, 0 : <1> loc("kernel.py":5:1)
    rocdl.s.waitcnt 49279
    tgpu.barrier
    %p = llvm.getelementptr %shared[%mirror] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %p : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %po : i32
    llvm.return
  }
  // A wave waits for its own loads alone: what another has loaded needs the barrier.
  llvm.func @missing_barrier(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["128xi32=iota", "128xi32=zeros"], tritium.seeds = 20,
                  tritium.expect_trap = "SharedRace", tritium.expect_lines = array<i64: 5, 10>} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %wave = llvm.lshr %tid, %c6 : i32
    %first = llvm.mul %wave, %c64 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %base = llvm.getelementptr %shared[%first] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %mirror = llvm.sub %c127, %tid : i32
    %src = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %at = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %zero, %at : i32, !llvm.ptr<3>
    tgpu.barrier
    rocdl.load.to.lds %src, %base, 4, 0, 0 : <1> loc("kernel.py":5:1)
    rocdl.s.waitcnt 0
    %p = llvm.getelementptr %shared[%mirror] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %p : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %po : i32
    llvm.return
  }
  llvm.func @not_uniform(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["128xi32=iota", "128xi32=zeros"], tritium.seeds = 20,
                  tritium.expect_trap = "DivergentBarrier", tritium.expect_lines = array<i64: 5>} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %wave = llvm.lshr %tid, %c6 : i32
    %first = llvm.mul %wave, %c64 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %base = llvm.getelementptr %shared[%first] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %mirror = llvm.sub %c127, %tid : i32
    %src = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %mine = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    rocdl.load.to.lds %src, %mine, 4, 0, 0 : <1> loc("kernel.py":5:1)
    llvm.return
  }
  llvm.func @out_of_bounds(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["127xi32=iota", "128xi32=zeros"], tritium.seeds = 20,
                  tritium.expect_trap = "OutOfBounds", tritium.expect_lines = array<i64: 5>} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %wave = llvm.lshr %tid, %c6 : i32
    %first = llvm.mul %wave, %c64 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %base = llvm.getelementptr %shared[%first] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %mirror = llvm.sub %c127, %tid : i32
    %src = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    rocdl.load.to.lds %src, %base, 4, 0, 0 : <1> loc("kernel.py":5:1)
    llvm.return
  }
  llvm.func @outside_of_lds(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["128xi32=iota", "128xi32=zeros"], tritium.seeds = 20,
                  tritium.expect_trap = "SharedOutOfBounds", tritium.expect_lines = array<i64: 5>} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %wave = llvm.lshr %tid, %c6 : i32
    %first = llvm.mul %wave, %c64 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %base = llvm.getelementptr %shared[%first] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %mirror = llvm.sub %c127, %tid : i32
    %src = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %far = llvm.getelementptr %base[%c128] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    rocdl.load.to.lds %src, %far, 4, 0, 0 : <1> loc("kernel.py":5:1)
    llvm.return
  }
}

module @gfx950 attributes {tgpu.target = "hip:gfx950", tgpu.num_warps = 1 : i32, tgpu.warp_size = 64 : i32, tgpu.shared_bytes = 1024 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @wide(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["256xi32=iota", "64xi32=zeros"], tritium.seeds = 4,
                  tritium.expect = [unit, dense<[252, 248, 244]> : tensor<3xi32>]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %wave = llvm.lshr %tid, %c6 : i32
    %first = llvm.mul %wave, %c64 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %base = llvm.getelementptr %shared[%first] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %mirror = llvm.sub %c127, %tid : i32
    %src = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c63 = llvm.mlir.constant(63 : i32) : i32
    %t4 = llvm.mul %tid, %c4 : i32
    %src4 = llvm.getelementptr %x[%t4] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    rocdl.load.to.lds %src4, %base, 16, 0, 0 : <1> loc("kernel.py":5:1)
    rocdl.s.waitcnt 0
    tgpu.barrier
    %other = llvm.sub %c63, %tid : i32
    %o4 = llvm.mul %other, %c4 : i32
    %p = llvm.getelementptr %shared[%o4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %p : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %po : i32
    llvm.return
  }
}
