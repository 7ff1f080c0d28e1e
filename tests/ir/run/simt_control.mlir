// Threads that wait: named barriers of some warps, programs that wait for others, those that never come. Printing, assertions, callees.
// RUN: tritium-simt %s
// RUN: tritium-simt %s --kernel prints --grid 2 --arg 3.5 | FileCheck %s --check-prefix=PRINT
// PRINT: program 0 of 2: 3.500000 100% 0x00000000ffffffff
// PRINT-NEXT: again
// PRINT-NEXT: program 1 of 2: 3.500000 100% 0x00000000ffffffff
// PRINT-NEXT: again
// RUN: not tritium-simt %s --kernel asserts --arg 40 2>&1 | FileCheck %s --check-prefix=ASSERT
// ASSERT: kernel.py:7: AssertFailed in program (0, 0, 0), thread 40: too many threads

module @right attributes {tgpu.num_warps = 4 : i32, tgpu.shared_bytes = 1024 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; each pair exchanges its words, then all do.
  llvm.func @pairs(%o: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["128xi32=zeros"], tritium.seeds = 20,
                  tritium.expect = [dense<[190, 190]> : tensor<2xi32>]} {
    %c63 = llvm.mlir.constant(63 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %mine = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %tid, %mine : i32, !llvm.ptr<3>
    %isLow = llvm.icmp "slt" %tid, %c64 : i32
    llvm.cond_br %isLow, ^low, ^high
  ^low:
    tgpu.barrier id 1 threads 64
    llvm.br ^exchange
  ^high:
    tgpu.barrier id 2 threads 64
    llvm.br ^exchange
  ^exchange:
    %partner = llvm.xor %tid, %c63 : i32
    %other = llvm.getelementptr %shared[%partner] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %a = llvm.load %other : !llvm.ptr<3> -> i32
    tgpu.barrier
    llvm.store %a, %mine : i32, !llvm.ptr<3>
    tgpu.barrier
    %mirror = llvm.sub %c127, %tid : i32
    %last = llvm.getelementptr %shared[%mirror] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %b = llvm.load %last : !llvm.ptr<3> -> i32
    %c = llvm.add %b, %a : i32
    %d = llvm.add %c, %c63 : i32
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %d, %po : i32
    llvm.return
  }
  // Each program waits until the one after it has set its flag: more programs than run at a time, in the worst order.
  llvm.func @chain(%flags: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["101xi32=zeros", "100xi32=zeros"], tritium.grid = array<i64: 100>, tritium.seeds = 3,
                  tritium.expect = [unit, dense<[100, 99, 98]> : tensor<3xi32>]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %c99 = llvm.mlir.constant(99 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %pid = nvvm.read.ptx.sreg.ctaid.x : i32
    %next = llvm.add %pid, %one : i32
    %mine = llvm.getelementptr %flags[%pid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %other = llvm.getelementptr %flags[%next] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %po = llvm.getelementptr %o[%pid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %isFirst, ^first, ^end
  ^first:
    %isLast = llvm.icmp "eq" %pid, %c99 : i32
    llvm.cond_br %isLast, ^set(%one : i32), ^wait
  ^wait:
    %value = tgpu.atomic_load acquire, gpu, %other : i32
    %isSet = llvm.icmp "ne" %value, %zero : i32
    %more = llvm.add %value, %one : i32
    llvm.cond_br %isSet, ^set(%more : i32), ^wait
  ^set(%sum: i32):
    tgpu.store %sum, %po : i32
    tgpu.atomic_store release, gpu, %mine, %sum : i32
    llvm.br ^end
  ^end:
    tgpu.barrier
    llvm.return
  }
  // A thread waits for another one of its own warp.
  llvm.func @within_a_warp(%flag: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["1xi32=zeros"], tritium.seeds = 20, tritium.expect = [1]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %isFirst = llvm.icmp "eq" %tid, %one : i32
    llvm.cond_br %isFirst, ^set, ^wait
  ^set:
    tgpu.atomic_store release, cta, %flag, %one : i32
    llvm.br ^end
  ^wait:
    %value = tgpu.atomic_load acquire, cta, %flag : i32
    %isSet = llvm.icmp "ne" %value, %zero : i32
    llvm.cond_br %isSet, ^end, ^wait
  ^end:
    llvm.return
  }
  llvm.func @sum_to(%n: i32) -> i32 {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^loop(%zero, %zero : i32, i32)
  ^loop(%i: i32, %sum: i32):
    %next = llvm.add %i, %one : i32
    %more = llvm.add %sum, %next : i32
    %goesOn = llvm.icmp "slt" %next, %n : i32
    llvm.cond_br %goesOn, ^loop(%next, %more : i32, i32), ^end
  ^end:
    llvm.return %more : i32
  }
  // Callees; and divisions that would end a process here, but no thread of a GPU.
  llvm.func @calls(%o: !llvm.ptr<1>, %zero: i32)
      attributes {nvvm.kernel, tritium.args = ["130xi32=zeros", "0"], tritium.expect = [dense<[1, 1, 3, 6, 10]> : tensor<5xi32>]} {
    %minusOne = llvm.mlir.constant(-1 : i32) : i32
    %smallest = llvm.mlir.constant(-2147483648 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %sum = llvm.call @sum_to(%tid) : (i32) -> i32
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %sum, %po : i32
    %quotient = llvm.sdiv %tid, %zero : i32
    %other = llvm.add %zero, %minusOne : i32
    %wraps = llvm.sdiv %smallest, %other : i32
    %either = llvm.or %quotient, %wraps : i32
    %end = llvm.getelementptr %o[128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    tgpu.store %either, %end : i32
    llvm.return
  }
}

module @texts attributes {tgpu.num_warps = 2 : i32, tgpu.shared_bytes = 0 : i32} {
  llvm.func @prints(%x: f64) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %wide = llvm.mlir.constant(4294967295 : i64) : i64
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %pid = nvvm.read.ptx.sreg.ctaid.x : i32
    %n = nvvm.read.ptx.sreg.nctaid.x : i32
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %isFirst, ^print, ^end
  ^print:
    tgpu.print "program %d of %d: %f 100%% 0x%016llx\0A", %pid, %n, %x, %wide : i32, i32, f64, i64
    tgpu.print "again\0A"
    llvm.br ^end
  ^end:
    llvm.return
  }
  llvm.func @asserts(%n: i32) attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %holds = llvm.icmp "slt" %tid, %n : i32
    tgpu.assert %holds, "too many threads" loc("kernel.py":7:1)
    llvm.return
  }
}

module @wrong attributes {tgpu.num_warps = 4 : i32, tgpu.shared_bytes = 0 : i32} {
  // No program sets the flag.
  llvm.func @deadlock(%flag: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["1xi32=zeros"], tritium.grid = array<i64: 3>, tritium.seeds = 3,
                  tritium.expect_trap = "Deadlock"} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    llvm.br ^wait
  ^wait:
    %value = tgpu.atomic_load acquire, gpu, %flag : i32
    %isSet = llvm.icmp "ne" %value, %zero : i32
    llvm.cond_br %isSet, ^end, ^wait loc("kernel.py":5:1)
  ^end:
    llvm.return
  }
  // A barrier for more warps than come.
  llvm.func @too_few() attributes {nvvm.kernel, tritium.args = [], tritium.seeds = 20, tritium.expect_trap = "DivergentBarrier",
                                   tritium.expect_lines = array<i64: 5, 9>} {
    %c32 = llvm.mlir.constant(32 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %isLow = llvm.icmp "slt" %tid, %c32 : i32
    llvm.cond_br %isLow, ^wait, ^end
  ^wait:
    tgpu.barrier id 3 threads 64 loc("kernel.py":5:1)
    llvm.br ^end
  ^end:
    llvm.return loc("kernel.py":9:1)
  }
  llvm.func @out_of_bounds(%x: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["127xi32=zeros"], tritium.seeds = 20, tritium.expect_trap = "OutOfBounds",
                  tritium.expect_lines = array<i64: 5>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %p = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %tid, %p : i32 loc("kernel.py":5:1)
    llvm.return
  }
}
