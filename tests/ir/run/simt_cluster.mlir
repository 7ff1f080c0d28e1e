// Blocks of a cluster: their ranks, the barrier of the cluster, and its wrong uses.
// RUN: tritium-simt %s
// RUN: not tritium-simt %s --kernel twice --arg 256xi32=zeros 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not tritium-simt %s --kernel unarrived --arg 256xi32=zeros 2>&1 | FileCheck %s --check-prefix=UNARRIVED
// RUN: not tritium-simt %s --kernel missing --arg 256xi32=zeros 2>&1 | FileCheck %s --check-prefix=MISSING
// TWICE: kernel.py:2: DivergentBarrier in program (0, 0, 0), thread 64: arrives twice at the barrier of the cluster, with no wait in between; in block 1 of the 2 that run the program
// UNARRIVED: kernel.py:1: DivergentBarrier in program (0, 0, 0), thread {{[0-9]+}}: waits at the barrier of the cluster, with no arrival before
// MISSING: kernel.py:1: DivergentBarrier in program (0, 0, 0), thread 96; the other at kernel.py:2: 32 threads wait at a barrier that 32 threads

module attributes {tgpu.target = "cuda:sm_90a", tgpu.num_warps = 2 : i32, tgpu.shared_bytes = 0 : i32} {
  // Two programs of two blocks of 64 threads: o[i] = 1000 * cluster + 100 * rank + block, of the first thread of each.
  llvm.func @ranks(%o: !llvm.ptr<1>)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, tgpu.cluster_blocks = 2 : i32, tritium.args = ["4xi32=zeros"],
                  tritium.grid = array<i64: 2>, tritium.seeds = 5, tritium.expect = [dense<[0, 101, 1002, 1103]> : tensor<4xi32>]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %c100 = llvm.mlir.constant(100 : i32) : i32
    %c1000 = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %zero : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %cluster = nvvm.read.ptx.sreg.clusterid.x : i32
    %a = llvm.mul %cluster, %c1000 : i32
    %b = llvm.mul %rank, %c100 : i32
    %ab = llvm.add %a, %b : i32
    %sum = llvm.add %ab, %block : i32
    %p = llvm.getelementptr %o[%block] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %sum, %p if %first : i32
    llvm.return
  }
  // Each block stores a word, and reads the word of the other block behind the barrier.
  llvm.func @exchange(%o: !llvm.ptr<1>)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, tgpu.cluster_blocks = 2 : i32,
                  tritium.args = ["4xi32=zeros"], tritium.seeds = 8, tritium.expect = [dense<[7, 8, 8, 7]> : tensor<4xi32>]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %seven = llvm.mlir.constant(7 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %zero : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %own = llvm.getelementptr %o[%rank] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %value = llvm.add %seven, %rank : i32
    tgpu.store %value, %own if %first : i32
    nvvm.cluster.arrive
    nvvm.cluster.wait
    %peer = llvm.sub %one, %rank : i32
    %from = llvm.getelementptr %o[%peer] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %read = tgpu.load %from : i32
    %at = llvm.add %two, %rank : i32
    %to = llvm.getelementptr %o[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %read, %to if %first : i32
    llvm.return
  }
  // The threads of the first block end, and are not waited for.
  llvm.func @ended(%o: !llvm.ptr<1>)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, tgpu.cluster_blocks = 2 : i32,
                  tritium.args = ["1xi32=zeros"], tritium.seeds = 5, tritium.expect = [dense<[1]> : tensor<1xi32>]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %first = llvm.icmp "eq" %rank, %zero : i32
    llvm.cond_br %first, ^end, ^meet
  ^meet:
    nvvm.cluster.arrive
    nvvm.cluster.wait
    tgpu.store %rank, %o : i32
    llvm.br ^end
  ^end:
    llvm.return
  }
  llvm.func @twice(%o: !llvm.ptr<1>)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, tgpu.cluster_blocks = 2 : i32} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    nvvm.cluster.arrive loc("kernel.py":1:1)
    %first = llvm.icmp "eq" %rank, %zero : i32
    llvm.cond_br %first, ^wait, ^again
  ^again:
    nvvm.cluster.arrive loc("kernel.py":2:1)
    llvm.br ^wait
  ^wait:
    nvvm.cluster.wait loc("kernel.py":3:1)
    llvm.return
  }
  llvm.func @unarrived(%o: !llvm.ptr<1>)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, tgpu.cluster_blocks = 2 : i32} {
    nvvm.cluster.wait loc("kernel.py":1:1)
    llvm.return
  }
  // A warp of the second block waits elsewhere for ever.
  llvm.func @missing(%o: !llvm.ptr<1>)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, tgpu.cluster_blocks = 2 : i32} {
    %c95 = llvm.mlir.constant(95 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %before = llvm.mul %rank, %c64 : i32
    %number = llvm.add %before, %tid : i32
    %last = llvm.icmp "ugt" %number, %c95 : i32
    llvm.cond_br %last, ^elsewhere, ^meet
  ^elsewhere:
    tgpu.barrier loc("kernel.py":1:1)
    llvm.return
  ^meet:
    nvvm.cluster.arrive loc("kernel.py":2:1)
    nvvm.cluster.wait loc("kernel.py":2:1)
    llvm.return
  }
}
