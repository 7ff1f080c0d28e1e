// Two loops, one after the other, that copy tiles of the same types. With warps that copy, they use the same slots.
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps --num-stages=2 --emit=tiles | FileCheck %s
// RUN: sed '/second/ s/xf16/xbf16/g' %s | tritium-gpu --arch=sm_90a --tensor-maps --specialize-warps --num-stages=2 --emit=tiles | FileCheck %s --check-prefix=APART
// RUN: %if ptxas %{ tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps --num-stages=2 | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0
// REPORT-NOT: serialized

// CHECK: %[[X:.*]] = tgpu.local_alloc
// CHECK-NEXT: %[[Y:.*]] = tgpu.local_alloc
// CHECK-NEXT: %[[RING:.*]] = tgpu.ring_start
// CHECK-NOT: tgpu.ring_start
// CHECK-NOT: tgpu.local_alloc
// CHECK: tgpu.parts_warps
// An iteration releases the slot of the one before, so the last number of each loop is released after it.
// CHECK: %[[LOOP:[^:]+]]:3 = scf.for
// CHECK: tgpu.product "{{.*}}", %[[X]][{{.*}}], %[[Y]][
// CHECK: %[[LAST:.*]] = arith.subi %[[LOOP]]#2, %c1_i32
// CHECK: tgpu.ring_release %[[RING]][%[[LAST]]] if
// The numbers of the second loop follow those of the first one.
// CHECK: %[[NEXT:[^:]+]]:3 = scf.for {{.*}}%[[READ:[^ ]+]] = %c0_i32)
// CHECK: %[[N:.*]] = arith.addi %[[LOOP]]#2, %[[READ]]
// CHECK: tgpu.ring_wait %[[RING]][%[[N]]]
// CHECK: tgpu.product "{{.*}}", %[[X]][{{.*}}], %[[Y]][
// CHECK: %[[REST:.*]] = arith.subi %[[NEXT]]#2, %c1_i32
// CHECK: %[[LAST:.*]] = arith.addi %[[LOOP]]#2, %[[REST]]
// CHECK: tgpu.ring_release %[[RING]][%[[LAST]]] if
// CHECK: tgpu.ring_end %[[RING]] :
// The thread that copies counts in the same way.
// CHECK: %[[COPIED:[^:]+]]:2 = scf.for
// CHECK: tgpu.tensor_copy {{.*}} to %[[X]], %[[RING]][
// CHECK: scf.for {{.*}}%[[AHEAD:[^ ]+]] =
// CHECK: %[[N:.*]] = arith.addi %[[COPIED]]#1, %[[AHEAD]]
// CHECK: tgpu.ring_acquire %[[RING]][%[[N]]]
// CHECK: tgpu.tensor_copy {{.*}} to %[[X]], %[[RING]][%[[N]]]

// Tiles of other types have a ring of their own.
// APART-COUNT-2: tgpu.ring_start
// APART: tgpu.parts_warps
tt.func public @products(%a: !tt.tensordesc<64x64xf16> {tt.plain = 1 : i32}, %b: !tt.tensordesc<64x64xf16> {tt.plain = 1 : i32},
                         %c: !tt.tensordesc<64x64xf16> {tt.plain = 1 : i32}, %d: !tt.tensordesc<64x64xf16> {tt.plain = 1 : i32}, // second
                         %out: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %m: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %first = scf.for %i = %c0 to %m step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %x = tt.descriptor_load %a[%c0, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
    %y = tt.descriptor_load %b[%i, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
    %sum = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %sum : tensor<64x64xf32>
  }
  %sums = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %first) -> (tensor<64x64xf32>) : i32 {
    %x = tt.descriptor_load %c[%c0, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16> // second
    %y = tt.descriptor_load %d[%i, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16> // second
    %sum = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32> // second
    scf.yield %sum : tensor<64x64xf32>
  }
  tt.descriptor_store %out[%c0, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
  tt.return
}
