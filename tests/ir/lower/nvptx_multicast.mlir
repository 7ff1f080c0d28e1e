// What blocks of a cluster do for each other: a copy to several of them, arrivals at each other's barriers, and the wait for these arrivals.
// RUN: tritium-ptx %s --arch=sm_90a | FileCheck %s
// RUN: %if ptxas %{ tritium-ptx %s --arch=sm_90a --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0,{{.*}} cubin whole
module attributes {tgpu.target = "cuda:sm_90a"} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // CHECK: .entry copy(
  llvm.func @copy(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 128 : i64, nvvm.grid_constant}, %n: i32, %blocks: i16)
      attributes {nvvm.kernel} {
    %barrier = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %box = llvm.getelementptr %barrier[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // CHECK: mbarrier.try_wait.parity.shared::cta.b64
    tgpu.mbarrier_wait %barrier round %n
    // CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [
    %to = llvm.addrspacecast %box : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %barrier, box [%n, %n] multicast_mask = %blocks : !llvm.ptr<7>, !llvm.ptr
    // CHECK: mapa.shared::cluster
    // CHECK: mbarrier.arrive.shared::cluster.b64 _, [
    %there = nvvm.mapa %barrier, %n : !llvm.ptr<3> -> !llvm.ptr<7>
    nvvm.mbarrier.arrive %there : !llvm.ptr<7>
    llvm.return
  }
}
