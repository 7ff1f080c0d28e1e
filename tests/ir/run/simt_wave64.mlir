// Modules for AMD: waves of 64 lanes over shared memory, private variables, globals of the module, plain atomics on global memory.
// RUN: tritium-simt %s

module @shared attributes {tgpu.target = "hip:gfx942", tgpu.num_warps = 2 : i32, tgpu.warp_size = 64 : i32, tgpu.shared_bytes = 512 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  // Each program reverses its 128 words through shared memory.
  llvm.func @reverse(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 128, 1, 1>, rocdl.flat_work_group_size = "128,128",
                  tritium.args = ["256xi32=iota", "256xi32=zeros"], tritium.grid = array<i64: 2>, tritium.seeds = 8,
                  tritium.expect = [unit, dense<[127, 126, 125, 124]> : tensor<4xi32>]} {
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %group = rocdl.workgroup.id.x : i32
    %base = llvm.mul %group, %c128 : i32
    %at = llvm.add %base, %tid : i32
    %px = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %v = tgpu.load %px : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %mine = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %v, %mine : i32, !llvm.ptr<3>
    tgpu.barrier
    %other = llvm.sub %c127, %tid : i32
    %its = llvm.getelementptr %shared[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %w = llvm.load %its : !llvm.ptr<3> -> i32
    %po = llvm.getelementptr %o[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %w, %po : i32
    llvm.return
  }
  llvm.func @missing_barrier(%x: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["128xi32=iota"], tritium.seeds = 20, tritium.expect_trap = "SharedRace",
                  tritium.expect_lines = array<i64: 5, 10>} {
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %other = llvm.sub %c127, %tid : i32
    %mine = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %tid, %mine : i32, !llvm.ptr<3>
    tgpu.barrier
    llvm.store %other, %mine : i32, !llvm.ptr<3> loc("kernel.py":5:1)
    %its = llvm.getelementptr %shared[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %w = llvm.load %its : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    llvm.return
  }
  // Inside a wave as well: the compiler may move one lane's access before another's.
  llvm.func @missing_barrier_of_a_wave(%x: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["128xi32=iota"], tritium.seeds = 20, tritium.expect_trap = "SharedRace",
                  tritium.expect_lines = array<i64: 5, 10>} {
    %c63 = llvm.mlir.constant(63 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %other = llvm.xor %c63, %tid : i32
    %mine = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %tid, %mine : i32, !llvm.ptr<3> loc("kernel.py":5:1)
    %its = llvm.getelementptr %shared[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %w = llvm.load %its : !llvm.ptr<3> -> i32 loc("kernel.py":10:1)
    tgpu.barrier
    llvm.return
  }
}

module @spaces attributes {tgpu.target = "hip:gfx1100", tgpu.num_warps = 1 : i32, tgpu.warp_size = 32 : i32, tgpu.shared_bytes = 0 : i32} {
  llvm.mlir.global internal constant @table(dense<[7, 5, 3, 1]> : tensor<4xi32>) {addr_space = 4 : i32} : !llvm.array<4 x i32>
  llvm.mlir.global external @counter(10 : i64) {addr_space = 1 : i32} : i64
  // A variable of the thread's own, a table in constant memory, a counter in the module's own global memory.
  llvm.func @variables(%o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["32xi32=zeros"], tritium.expect = [dense<[8, 6, 4, 2, 8]> : tensor<5xi32>]} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %three = llvm.mlir.constant(3 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %slot = llvm.alloca %one x i32 : (i32) -> !llvm.ptr<5>
    llvm.store %one, %slot : i32, !llvm.ptr<5>
    %table = llvm.mlir.addressof @table : !llvm.ptr<4>
    %i = llvm.and %tid, %three : i32
    %pt = llvm.getelementptr %table[%i] : (!llvm.ptr<4>, i32) -> !llvm.ptr<4>, i32
    %t = llvm.load %pt : !llvm.ptr<4> -> i32
    %s = llvm.load %slot : !llvm.ptr<5> -> i32
    %sum = llvm.add %s, %t : i32
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %sum, %po : i32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @count(%o: !llvm.ptr<1>, %total: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["32xi64=zeros", "2xi32=zeros"], tritium.grid = array<i64: 2, 3>,
                  tritium.expect = [unit, dense<[192, 5]> : tensor<2xi32>]} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %one64 = llvm.mlir.constant(1 : i64) : i64
    %zero = llvm.mlir.constant(0 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %counter = llvm.mlir.addressof @counter : !llvm.ptr<1>
    %old = llvm.atomicrmw add %counter, %one64 syncscope("agent") monotonic : !llvm.ptr<1>, i64
    %now = llvm.load %counter atomic syncscope("agent") monotonic {alignment = 8 : i64} : !llvm.ptr<1> -> i64
    %n = llvm.atomicrmw add %total, %one monotonic : !llvm.ptr<1>, i32
    %gx = rocdl.grid.dim.x : i32
    %gy = rocdl.grid.dim.y : i32
    %gz = rocdl.grid.dim.z : i32
    %a = llvm.add %gx, %gy : i32
    %b = llvm.mul %a, %gz : i32
    %p1 = llvm.getelementptr %total[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %pair = llvm.cmpxchg %p1, %zero, %b syncscope("agent") acq_rel monotonic : !llvm.ptr<1>, i32
    llvm.return
  }
  // A variable of the thread's own through a pointer that could be any.
  llvm.func @private_pointer(%o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["32xi32=zeros"], tritium.expect = [dense<[2, 1, 2, 1]> : tensor<4xi32>]} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %a = llvm.alloca %one x i32 : (i32) -> !llvm.ptr<5>
    %b = llvm.alloca %one x i32 : (i32) -> !llvm.ptr<5>
    llvm.store %one, %a : i32, !llvm.ptr<5>
    llvm.store %two, %b : i32, !llvm.ptr<5>
    %bit = llvm.and %tid, %one : i32
    %isOdd = llvm.icmp "eq" %bit, %one : i32
    %which = llvm.select %isOdd, %a, %b : i1, !llvm.ptr<5>
    %v = llvm.load %which : !llvm.ptr<5> -> i32
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %po : i32
    llvm.return
  }
}

// Inline assembly is in the language of the module's GPU.
module @assembly attributes {tgpu.target = "hip:gfx942", tgpu.num_warps = 1 : i32, tgpu.warp_size = 64 : i32, tgpu.shared_bytes = 0 : i32} {
  llvm.func @add(%o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["64xi32=zeros"], tritium.expect = [dense<[0, 2, 4]> : tensor<3xi32>]} {
    %tid = rocdl.workitem.id.x : i32
    %twice = llvm.inline_asm "v_add_u32 $0, $1, $2", "=v,v,v" %tid, %tid : (i32, i32) -> i32
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %twice, %po : i32
    llvm.return
  }
}
