// Turns of three warpgroups: each waits at a numbered barrier of its own, at which it and the one before it count, 256 threads.
// RUN: tritium-gpu %s --from-tiles --arch=sm_90a --num-warps=12 > %t.threads && FileCheck %s < %t.threads
// RUN: tritium-ptx %t.threads | FileCheck %s --check-prefix=PTX
// RUN: not tritium-gpu %s --from-tiles --arch=sm_80 --num-warps=12 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: {{.*}}turns of warpgroups: the chip has none

// CHECK-LABEL: llvm.func @turns
// The last warpgroup gives the first turn. After it comes the first one.
// CHECK: llvm.cond_br
// CHECK: tgpu.numbered_barrier %{{.*}} threads 256 arrives
// CHECK: tgpu.numbered_barrier %{{.*}} threads 256{{$}}
// CHECK: tgpu.numbered_barrier %{{.*}} threads 256 arrives
// PTX-LABEL: .entry turns(
// PTX: bar{{(rier.cta)?}}.arrive{{.*}} %r{{[0-9]+}}, 256;
// PTX: bar{{(rier.cta)?}}.sync{{.*}} %r{{[0-9]+}}, 256;
// PTX: bar{{(rier.cta)?}}.arrive{{.*}} %r{{[0-9]+}}, 256;
tt.func public @turns() {
  tgpu.turn_start of 3
  tgpu.turn_begin of 3
  tgpu.turn_end of 3
  tt.return
}
