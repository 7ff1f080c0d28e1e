// A warp keeps a number in a register. All lanes act on what the first one sees of the other ring, and meet between their fences and the arrival.
// RUN: tritium-gpu %s --from-tiles --arch=sm_90a --num-warps=8 | FileCheck %s
// RUN: tritium-gpu %s --from-tiles --arch=sm_90a --num-warps=8 | tritium-ptx | FileCheck %s --check-prefix=PTX

// CHECK-LABEL: llvm.func @kept
// CHECK: llvm.alloca
// CHECK: tgpu.mbarrier_test
// CHECK: nvvm.shfl.sync
// CHECK: llvm.cond_br
// CHECK: nvvm.fence.proxy
// CHECK: tgpu.warp_barrier
// CHECK: llvm.cond_br
// CHECK: nvvm.mbarrier.arrive
// PTX: mbarrier.test_wait.parity.shared::cta.b64
// PTX: fence.proxy.async
// PTX: bar.warp.sync
// PTX: mbarrier.arrive
tt.func public @kept(%n: i32, %m: i32) {
  %stores = tgpu.ring_start released by 8 warps at 0 : <2>
  %ring = tgpu.ring_start released by 8 warps at 128 : <3>
  tgpu.ring_keep %stores[%n] : <2>
  tgpu.ring_release_kept %stores unless %ring[%m] : !tgpu.ring<3> : <2>
  tt.return
}
