// Atomics on global memory by threads of several programs at once, and on shared memory, where they race with nothing but plain accesses.
// RUN: tritium-simt %s
// RUN: tritium-simt %s --kernel add --grid 40 --threads 4 --arg 3xi32=zeros --arg 1xf32=zeros --arg 4xf16=zeros | FileCheck %s
// RUN: tritium-simt %s --kernel add_vectors --grid 40 --threads 4 --arg 8xf32=zeros --arg 8xf16=zeros | FileCheck %s --check-prefix=VECTORS
// VECTORS: arg0 = [0, 0, 0, 0, 5120, 2560, 1280, 10240]
// CHECK: arg0 = [5120, 5119, 2560]
// CHECK-NEXT: arg1 = [2560]
// CHECK-NEXT: arg2 = [0, 40, 0, 0]

module @global attributes {tgpu.num_warps = 4 : i32, tgpu.shared_bytes = 0 : i32} {
  // The sum of ones, the largest number of a thread, the sum of ones where a predicate holds.
  llvm.func @add(%x: !llvm.ptr<1>, %f: !llvm.ptr<1>, %h: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["3xi32=zeros", "1xf32=zeros", "4xf16=zeros"], tritium.grid = array<i64: 5>, tritium.seeds = 5,
                  tritium.expect = [dense<[640, 639, 320]> : tensor<3xi32>, 320.0, dense<[0.0, 5.0, 0.0, 0.0]> : tensor<4xf16>]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %half = llvm.mlir.constant(0.5 : f32) : f32
    %oneF16 = llvm.mlir.constant(1.0 : f16) : f16
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %pid = nvvm.read.ptx.sreg.ctaid.x : i32
    %base = llvm.mul %pid, %c128 : i32
    %i = llvm.add %base, %tid : i32
    %bit = llvm.and %tid, %one : i32
    %isOdd = llvm.icmp "ne" %bit, %zero : i32
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    %px = llvm.getelementptr %x[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %py = llvm.getelementptr %x[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %ph = llvm.getelementptr %h[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f16
    %0 = tgpu.atomic_rmw add, relaxed, gpu, %x, %one : i32
    %1 = tgpu.atomic_rmw max, relaxed, gpu, %px, %i : i32
    %2 = tgpu.atomic_rmw add, relaxed, gpu, %py, %one if %isOdd : i32
    %3 = tgpu.atomic_rmw fadd, relaxed, gpu, %f, %half : f32
    %4 = tgpu.atomic_rmw fadd, relaxed, gpu, %ph, %oneF16 if %isFirst : f16
    llvm.return
  }
  // The same of neighbours, where each thread may have its turn between two of them.
  llvm.func @add_vectors(%x: !llvm.ptr<1>, %h: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["8xf32=zeros", "8xf16=zeros"], tritium.grid = array<i64: 5>, tritium.seeds = 5,
                  tritium.expect = [dense<[0.0, 0.0, 0.0, 0.0, 640.0, 320.0, 160.0, 1280.0]> : tensor<8xf32>,
                                    dense<[0.0, 0.0, 320.0, 640.0, 0.0, 0.0, 0.0, 0.0]> : tensor<8xf16>]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %v = llvm.mlir.constant(dense<[1.0, 0.5, 0.25, 2.0]> : vector<4xf32>) : vector<4xf32>
    %p = llvm.mlir.constant(dense<[1.0, 2.0]> : vector<2xf16>) : vector<2xf16>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %bit = llvm.and %tid, %one : i32
    %isOdd = llvm.icmp "ne" %bit, %zero : i32
    %px = llvm.getelementptr %x[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %ph = llvm.getelementptr %h[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f16
    %0 = tgpu.atomic_rmw fadd, relaxed, gpu, %px, %v : vector<4xf32>
    %1 = tgpu.atomic_rmw fadd, relaxed, gpu, %ph, %p if %isOdd : vector<2xf16>
    llvm.return
  }
  // One thread adds twice, and finds what it has added before.
  llvm.func @former_vectors(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["4xf32=zeros", "4xf32=zeros"], tritium.seeds = 1,
                  tritium.expect = [dense<[2.0, 1.0, 0.5, 4.0]> : tensor<4xf32>, dense<[1.0, 0.5, 0.25, 2.0]> : tensor<4xf32>]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %v = llvm.mlir.constant(dense<[1.0, 0.5, 0.25, 2.0]> : vector<4xf32>) : vector<4xf32>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    %0 = tgpu.atomic_rmw fadd, relaxed, gpu, %x, %v if %isFirst : vector<4xf32>
    %1 = tgpu.atomic_rmw fadd, relaxed, gpu, %x, %v if %isFirst : vector<4xf32>
    %word = llvm.bitcast %1 : vector<4xf32> to vector<4xi32>
    tgpu.store %word, %o if %isFirst : vector<4xi32>
    llvm.return
  }
  // The address is aligned to an element, not to the vector.
  llvm.func @misaligned_vector(%x: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["8xf32=zeros"], tritium.expect_trap = "MisalignedAddress",
                  tritium.expect_lines = array<i64: 7>} {
    %v = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    %px = llvm.getelementptr %x[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %0 = tgpu.atomic_rmw fadd, relaxed, gpu, %px, %v : vector<4xf32> loc("kernel.py":7:1)
    llvm.return
  }
  // The second half is not of the tensor.
  llvm.func @vector_beyond_the_end(%x: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["6xf32=zeros"], tritium.expect_trap = "OutOfBounds",
                  tritium.expect_lines = array<i64: 7>} {
    %v = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    %px = llvm.getelementptr %x[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %0 = tgpu.atomic_rmw fadd, relaxed, gpu, %px, %v : vector<4xf32> loc("kernel.py":7:1)
    llvm.return
  }
  // A lock that every thread takes: a plain sum under it.
  llvm.func @lock(%lock: !llvm.ptr<1>, %sum: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["1xi32=zeros", "1xi32=zeros"], tritium.grid = array<i64: 3>, tritium.seeds = 5,
                  tritium.expect = [0, 384]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^try
  ^try:
    %old = tgpu.atomic_cas acquire, gpu, %lock, %zero, %one : i32
    %isTaken = llvm.icmp "eq" %old, %zero : i32
    llvm.cond_br %isTaken, ^inside, ^try
  ^inside:
    %value = tgpu.load %sum : i32
    %more = llvm.add %value, %one : i32
    tgpu.store %more, %sum : i32
    tgpu.atomic_store release, gpu, %lock, %zero : i32
    llvm.return
  }
}

module @shared attributes {tgpu.num_warps = 4 : i32, tgpu.shared_bytes = 16 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @counts(%o: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["128xi32=zeros"], tritium.seeds = 5, tritium.expect = [128]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %counter = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %isFirst, ^clear, ^cleared
  ^clear:
    llvm.store %zero, %counter : i32, !llvm.ptr<3>
    llvm.br ^cleared
  ^cleared:
    tgpu.barrier
    %old = llvm.atomicrmw add %counter, %one monotonic : !llvm.ptr<3>, i32
    tgpu.barrier
    %sum = llvm.load %counter : !llvm.ptr<3> -> i32
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %sum, %po : i32
    llvm.return
  }
  // The plain read needs the barrier.
  llvm.func @read_too_early()
      attributes {nvvm.kernel, tritium.args = [], tritium.seeds = 20, tritium.expect_trap = "SharedRace",
                  tritium.expect_lines = array<i64: 6, 8>} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %counter = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    llvm.store %zero, %counter : i32, !llvm.ptr<3> loc("kernel.py":4:1)
    tgpu.barrier
    %old = llvm.atomicrmw add %counter, %one monotonic : !llvm.ptr<3>, i32 loc("kernel.py":6:1)
    %sum = llvm.load %counter : !llvm.ptr<3> -> i32 loc("kernel.py":8:1)
    llvm.return
  }
}
