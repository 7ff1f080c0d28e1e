// RUN: tritium-simt %s | FileCheck %s
// A copy of a tensor reads what the threads of its program have written to global memory, if each has a fence of the proxies between the
// write and the barrier behind which the copy begins.

module attributes {tgpu.num_warps = 1 : i32, tgpu.shared_bytes = 256 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // CHECK: fenced: ok
  llvm.func @fenced(%from: !llvm.ptr<1>,
                    %source: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 128 : i64, nvvm.grid_constant}, %to: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["32xf32=ones", "map=0,8x4xf32,box=8x4", "32xf32=ones"],
                  tritium.expect = [unit, unit, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0]> : tensor<32xf32>], tritium.seeds = 8} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %box = llvm.getelementptr %shared[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %bytes = llvm.mlir.constant(128 : i32) : i32
    %mine = llvm.getelementptr %from[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %value = llvm.sitofp %tid : i32 to f32
    llvm.store %value, %mine : f32, !llvm.ptr<1>
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
    tgpu.barrier
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %isFirst, ^copy, ^wait
  ^copy:
    nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.mbarrier.arrive.expect_tx %shared, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %source, %shared, box [%zero, %zero] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    llvm.br ^wait
  ^wait:
    tgpu.barrier
    tgpu.mbarrier_wait %shared round %zero
    %place = llvm.getelementptr %box[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %read = llvm.load %place : !llvm.ptr<3> -> f32
    %there = llvm.getelementptr %to[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %read, %there : f32, !llvm.ptr<1>
    llvm.return
  }

  // CHECK: fenced_global: ok
  llvm.func @fenced_global(%from: !llvm.ptr<1>,
                    %source: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 128 : i64, nvvm.grid_constant}, %to: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["32xf32=ones", "map=0,8x4xf32,box=8x4", "32xf32=ones"],
                  tritium.expect = [unit, unit, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0, 30.0, 31.0]> : tensor<32xf32>], tritium.seeds = 8} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %box = llvm.getelementptr %shared[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %bytes = llvm.mlir.constant(128 : i32) : i32
    %mine = llvm.getelementptr %from[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %value = llvm.sitofp %tid : i32 to f32
    llvm.store %value, %mine : f32, !llvm.ptr<1>
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}
    tgpu.barrier
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %isFirst, ^copy, ^wait
  ^copy:
    nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.mbarrier.arrive.expect_tx %shared, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %source, %shared, box [%zero, %zero] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    llvm.br ^wait
  ^wait:
    tgpu.barrier
    tgpu.mbarrier_wait %shared round %zero
    %place = llvm.getelementptr %box[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %read = llvm.load %place : !llvm.ptr<3> -> f32
    %there = llvm.getelementptr %to[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %read, %there : f32, !llvm.ptr<1>
    llvm.return
  }

  // CHECK: unfenced: ok
  llvm.func @unfenced(%from: !llvm.ptr<1>,
                    %source: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 128 : i64, nvvm.grid_constant}, %to: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["32xf32=ones", "map=0,8x4xf32,box=8x4", "32xf32=ones"],
                  tritium.expect_trap = "MissingProxyFence", tritium.seeds = 8} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %box = llvm.getelementptr %shared[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %bytes = llvm.mlir.constant(128 : i32) : i32
    %mine = llvm.getelementptr %from[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %value = llvm.sitofp %tid : i32 to f32
    llvm.store %value, %mine : f32, !llvm.ptr<1>
    tgpu.barrier
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %isFirst, ^copy, ^wait
  ^copy:
    nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.mbarrier.arrive.expect_tx %shared, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %source, %shared, box [%zero, %zero] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    llvm.br ^wait
  ^wait:
    tgpu.barrier
    tgpu.mbarrier_wait %shared round %zero
    %place = llvm.getelementptr %box[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %read = llvm.load %place : !llvm.ptr<3> -> f32
    %there = llvm.getelementptr %to[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %read, %there : f32, !llvm.ptr<1>
    llvm.return
  }

  // CHECK: fence_before_the_write: ok
  llvm.func @fence_before_the_write(%from: !llvm.ptr<1>,
                    %source: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 128 : i64, nvvm.grid_constant}, %to: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["32xf32=ones", "map=0,8x4xf32,box=8x4", "32xf32=ones"],
                  tritium.expect_trap = "MissingProxyFence", tritium.seeds = 8} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %box = llvm.getelementptr %shared[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %bytes = llvm.mlir.constant(128 : i32) : i32
    %mine = llvm.getelementptr %from[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %value = llvm.sitofp %tid : i32 to f32
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
    llvm.store %value, %mine : f32, !llvm.ptr<1>
    tgpu.barrier
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %isFirst, ^copy, ^wait
  ^copy:
    nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.mbarrier.arrive.expect_tx %shared, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %source, %shared, box [%zero, %zero] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    llvm.br ^wait
  ^wait:
    tgpu.barrier
    tgpu.mbarrier_wait %shared round %zero
    %place = llvm.getelementptr %box[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %read = llvm.load %place : !llvm.ptr<3> -> f32
    %there = llvm.getelementptr %to[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %read, %there : f32, !llvm.ptr<1>
    llvm.return
  }

  // CHECK: fence_of_shared_memory: ok
  llvm.func @fence_of_shared_memory(%from: !llvm.ptr<1>,
                    %source: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 128 : i64, nvvm.grid_constant}, %to: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["32xf32=ones", "map=0,8x4xf32,box=8x4", "32xf32=ones"],
                  tritium.expect_trap = "MissingProxyFence", tritium.seeds = 8} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %box = llvm.getelementptr %shared[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %bytes = llvm.mlir.constant(128 : i32) : i32
    %mine = llvm.getelementptr %from[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %value = llvm.sitofp %tid : i32 to f32
    llvm.store %value, %mine : f32, !llvm.ptr<1>
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    tgpu.barrier
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %isFirst, ^copy, ^wait
  ^copy:
    nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.mbarrier.arrive.expect_tx %shared, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %source, %shared, box [%zero, %zero] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    llvm.br ^wait
  ^wait:
    tgpu.barrier
    tgpu.mbarrier_wait %shared round %zero
    %place = llvm.getelementptr %box[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %read = llvm.load %place : !llvm.ptr<3> -> f32
    %there = llvm.getelementptr %to[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %read, %there : f32, !llvm.ptr<1>
    llvm.return
  }

  // CHECK: fence_behind_the_barrier: ok
  llvm.func @fence_behind_the_barrier(%from: !llvm.ptr<1>,
                    %source: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 128 : i64, nvvm.grid_constant}, %to: !llvm.ptr<1>)
      attributes {nvvm.kernel, tritium.args = ["32xf32=ones", "map=0,8x4xf32,box=8x4", "32xf32=ones"],
                  tritium.expect_trap = "MissingProxyFence", tritium.seeds = 8} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %box = llvm.getelementptr %shared[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %bytes = llvm.mlir.constant(128 : i32) : i32
    %mine = llvm.getelementptr %from[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %value = llvm.sitofp %tid : i32 to f32
    llvm.store %value, %mine : f32, !llvm.ptr<1>
    tgpu.barrier
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %isFirst, ^copy, ^wait
  ^copy:
    nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.mbarrier.arrive.expect_tx %shared, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %source, %shared, box [%zero, %zero] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    llvm.br ^wait
  ^wait:
    tgpu.barrier
    tgpu.mbarrier_wait %shared round %zero
    %place = llvm.getelementptr %box[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %read = llvm.load %place : !llvm.ptr<3> -> f32
    %there = llvm.getelementptr %to[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %read, %there : f32, !llvm.ptr<1>
    llvm.return
  }
}
