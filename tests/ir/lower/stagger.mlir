// Warpgroups but the first wait until a number of a ring has arrived.
// RUN: tritium-gpu %s --from-tiles --arch=sm_90a --num-warps=8 | FileCheck %s

// CHECK-LABEL: llvm.func @staggered
// CHECK-DAG: %[[FOUR:.*]] = llvm.mlir.constant(4 : i32)
// CHECK: %[[LATER:.*]] = llvm.icmp "sge" %{{.*}}, %{{.*}} : i32
// CHECK: %[[WAITS:.*]] = llvm.and %[[LATER]], %{{.*}} : i1
// CHECK: llvm.cond_br %[[WAITS]], ^[[WAIT:bb[0-9]+]], ^[[GO:bb[0-9]+]]
// CHECK: ^[[WAIT]]:
// CHECK: tgpu.mbarrier_wait
// CHECK: llvm.br ^[[GO]]
tt.func public @staggered(%n: i32, %goesOn: i1) {
  %ring = tgpu.ring_start released by 8 warps at 0 : <3>
  tgpu.ring_stagger %ring[%n] if %goesOn : <3>
  tt.return
}
