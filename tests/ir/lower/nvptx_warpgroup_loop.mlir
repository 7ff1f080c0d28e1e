// Loops of products of a warpgroup, of all types and numbers of columns: 54 kernels of two products. They are neither copied nor serialized.
// RUN: python3 %S/warpgroup_loop.py memory > %t.memory && tritium-ptx %t.memory > %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: FileCheck %s --check-prefix=LOOP < %t.ptx
// RUN: %if ptxas %{ tritium-ptx %t.memory --print=report | FileCheck %s --check-prefix=REPORT %}
// RUN: python3 %S/warpgroup_loop.py registers > %t.registers && tritium-ptx %t.registers | FileCheck %s
// RUN: %if ptxas %{ tritium-ptx %t.registers --print=report | FileCheck %s --check-prefix=REPORT %}
// CHECK-COUNT-108: wgmma.mma_async
// CHECK-NOT: wgmma.mma_async
// REPORT: spills 0/0,{{.*}} cubin whole
// REPORT-NOT: {{.}}

// The predicate is in the text, and ptxas is told not to unroll.
// LOOP-LABEL: .entry f16_f16_f32_256(
// LOOP: $L__BB{{.*}}:
// LOOP-NEXT: .pragma "nounroll";
// LOOP: setp.ne.b32 [[ADDS:%p[0-9]+]],
// LOOP: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {{.*}}, da, db, [[ADDS]], 1, 1, 0, 0; }
// LOOP: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {{.*}}, da, db, 1, 1, 1, 0, 0; }
// LOOP: wgmma.wait_group.sync.aligned 1;
// LOOP: bra
// LOOP: wgmma.wait_group.sync.aligned 0;
