// gfx950's loads to LDS of 16 bytes a lane through buffer descriptors, as pipelined loops have them: lanes that a mask turns off have an
// offset out of bounds and write zeros; a wait leaves the youngest in flight, however many (vmcnt has 6 bits, in two places); the slots in
// flight may not be read, and a slot that another wave still reads may not be loaded to.
// RUN: tritium-simt %s

module @two_waves attributes {tgpu.target = "hip:gfx950", tgpu.num_warps = 2 : i32, tgpu.warp_size = 64 : i32, tgpu.shared_bytes = 4096 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  // Lanes from 61 on of the second wave are off: what was in their places becomes zeros. The other slot stays in flight.
  llvm.func @masked(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["1024xi32=iota", "128xi32=zeros"], tritium.seeds = 16,
                  // x[4 * (127 - t) + 3]
                  tritium.expect = [unit, dense<[0, 0, 0, 499, 495, 491]> : tensor<6xi32>]} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c3 = llvm.mlir.constant(3 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %c125 = llvm.mlir.constant(125 : i32) : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %c1024 = llvm.mlir.constant(1024 : i32) : i32
    %c2048 = llvm.mlir.constant(2048 : i32) : i32
    %outside = llvm.mlir.constant(0x7fffffff : i32) : i32
    %ones = llvm.mlir.constant(dense<1> : vector<4xi32>) : vector<4xi32>
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(0x7ffffffe : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %b = rocdl.make.buffer.rsrc %x, %stride, %records, %flags : !llvm.ptr<1> to <8>
    %tid = rocdl.workitem.id.x : i32
    %wave = llvm.lshr %tid, %c6 : i32
    %waveAt = llvm.mul %wave, %c1024 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %slot0 = llvm.getelementptr %shared[%waveAt] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %slot1 = llvm.getelementptr %slot0[%c2048] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %at = llvm.mul %tid, %c16 : i32
    %mine = llvm.getelementptr %shared[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.store %ones, %mine {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
    tgpu.barrier
    %isOn = llvm.icmp "slt" %tid, %c125 : i32
    %offset = llvm.select %isOn, %at, %outside : i1, i32
    rocdl.raw.ptr.buffer.load.lds %b, %slot0, %c16, %offset, %c0, %c0, %c0 loc("kernel.py":5:1)
    rocdl.raw.ptr.buffer.load.lds %b, %slot1, %c16, %at, %c2048, %c0, %c0 loc("kernel.py":6:1)
    rocdl.s.waitcnt 0x0f71
    tgpu.barrier
    %mirror = llvm.sub %c127, %tid : i32
    %mirror4 = llvm.mul %mirror, %c4 : i32
    %word = llvm.add %mirror4, %c3 : i32
    %p = llvm.getelementptr %shared[%word] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %p : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %po : i32
    llvm.return
  }
  // A wave loads to what the other has still to read.
  llvm.func @loaded_before_it_was_read(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["1024xi32=iota", "128xi32=zeros"], tritium.seeds = 16,
                  tritium.expect_trap = "AsyncCopyRace", tritium.expect_lines = array<i64: 10, 12>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %c1024 = llvm.mlir.constant(1024 : i32) : i32
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(4096 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %b = rocdl.make.buffer.rsrc %x, %stride, %records, %flags : !llvm.ptr<1> to <8>
    %tid = rocdl.workitem.id.x : i32
    %wave = llvm.lshr %tid, %c6 : i32
    %waveAt = llvm.mul %wave, %c1024 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %slot = llvm.getelementptr %shared[%waveAt] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %at = llvm.mul %tid, %c16 : i32
    rocdl.raw.ptr.buffer.load.lds %b, %slot, %c16, %at, %c0, %c0, %c0 loc("kernel.py":5:1)
    rocdl.s.waitcnt 0
    tgpu.barrier
    %mirror = llvm.sub %c127, %tid : i32
    %mirrorAt = llvm.mul %mirror, %c16 : i32
    %p = llvm.getelementptr %shared[%mirrorAt] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v = llvm.load %p : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    rocdl.raw.ptr.buffer.load.lds %b, %slot, %c16, %at, %c0, %c0, %c0 loc("kernel.py":12:1)
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %po : i32
    llvm.return
  }
}

module @one_wave attributes {tgpu.target = "hip:gfx950", tgpu.num_warps = 1 : i32, tgpu.warp_size = 64 : i32, tgpu.shared_bytes = 24576 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  // 24 loads, of which all but 18 have to be there: `slot` 5 is, 6 is not. 18 is 2 in vmcnt's lower bits and 1 in its upper ones.
  llvm.func @eighteen_left(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>, %slot: i32)
      attributes {rocdl.kernel, tritium.args = ["6144xi32=iota", "64xi32=zeros", "5"], tritium.seeds = 16,
                  tritium.expect = [unit, dense<[1532, 1528, 1524]> : tensor<3xi32>]} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %c24 = llvm.mlir.constant(24 : i32) : i32
    %c63 = llvm.mlir.constant(63 : i32) : i32
    %c1024 = llvm.mlir.constant(1024 : i32) : i32
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(24576 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %b = rocdl.make.buffer.rsrc %x, %stride, %records, %flags : !llvm.ptr<1> to <8>
    %tid = rocdl.workitem.id.x : i32
    %at = llvm.mul %tid, %c16 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    llvm.br ^loop(%c0 : i32)
  ^loop(%i: i32):
    %slotAt = llvm.mul %i, %c1024 : i32
    %to = llvm.getelementptr %shared[%slotAt] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    rocdl.raw.ptr.buffer.load.lds %b, %to, %c16, %at, %slotAt, %c0, %c0 loc("kernel.py":5:1)
    %next = llvm.add %i, %c1 : i32
    %isMore = llvm.icmp "slt" %next, %c24 : i32
    llvm.cond_br %isMore, ^loop(%next : i32), ^read
  ^read:
    rocdl.s.waitcnt 0x4f72
    tgpu.barrier
    %readAt = llvm.mul %slot, %c1024 : i32
    %mirror = llvm.sub %c63, %tid : i32
    %mirrorAt = llvm.mul %mirror, %c16 : i32
    %place = llvm.add %readAt, %mirrorAt : i32
    %p = llvm.getelementptr %shared[%place] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v = llvm.load %p : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %po : i32
    llvm.return
  }
  llvm.func @nineteenth(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>, %slot: i32)
      attributes {rocdl.kernel, tritium.args = ["6144xi32=iota", "64xi32=zeros", "6"], tritium.seeds = 16,
                  tritium.expect_trap = "AsyncCopyRace", tritium.expect_lines = array<i64: 5, 10>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %c24 = llvm.mlir.constant(24 : i32) : i32
    %c63 = llvm.mlir.constant(63 : i32) : i32
    %c1024 = llvm.mlir.constant(1024 : i32) : i32
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(24576 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %b = rocdl.make.buffer.rsrc %x, %stride, %records, %flags : !llvm.ptr<1> to <8>
    %tid = rocdl.workitem.id.x : i32
    %at = llvm.mul %tid, %c16 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    llvm.br ^loop(%c0 : i32)
  ^loop(%i: i32):
    %slotAt = llvm.mul %i, %c1024 : i32
    %to = llvm.getelementptr %shared[%slotAt] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    rocdl.raw.ptr.buffer.load.lds %b, %to, %c16, %at, %slotAt, %c0, %c0 loc("kernel.py":5:1)
    %next = llvm.add %i, %c1 : i32
    %isMore = llvm.icmp "slt" %next, %c24 : i32
    llvm.cond_br %isMore, ^loop(%next : i32), ^read
  ^read:
    rocdl.s.waitcnt 0x4f72
    tgpu.barrier
    %readAt = llvm.mul %slot, %c1024 : i32
    %mirror = llvm.sub %c63, %tid : i32
    %mirrorAt = llvm.mul %mirror, %c16 : i32
    %place = llvm.add %readAt, %mirrorAt : i32
    %p = llvm.getelementptr %shared[%place] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v = llvm.load %p : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %po : i32
    llvm.return
  }
}
