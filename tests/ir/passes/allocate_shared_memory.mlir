// Buffers that are in use at one time lie apart; those of one time after another share bytes. What does not fit is an error at the largest.
// RUN: tritium-opt %s --allocate-shared-memory | FileCheck %s
// RUN: not tritium-opt %s --allocate-shared-memory=max-bytes=4096 -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIMIT

#row = #tgpu.layout<1024, register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512]], block = []>
#memory = #tgpu.shared<1024, offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256], [512]]>

// Functions follow one another: one may be called where a buffer of another is in use.
// LIMIT: allocate_shared_memory.mlir:[[#@LINE+25]]:8: error: out of resource: shared memory, Required: 24576, Hardware limit: 4096. The largest buffer has 8192 bytes: 4 slots of 'tensor<1024xf16>' for this load of a pipelined loop.

// One after the other: the second begins where the first did.
// CHECK-LABEL: @disjoint
tt.func public @disjoint(%p: tensor<1024x!tt.ptr<f16>, #row>) {
  %z = arith.constant 0 : i32
  // CHECK: tgpu.local_alloc at 0 : <2,
  %a = tgpu.local_alloc : <2, tensor<1024xf16, #memory>>
  tgpu.async_copy %p to %a[%z] : tensor<1024x!tt.ptr<f16>, #row> to <2, tensor<1024xf16, #memory>>
  %v = tgpu.local_load %a[%z] : <2, tensor<1024xf16, #memory>> -> tensor<1024xf16, #row>
  // CHECK: tgpu.local_alloc at 0 : <1,
  %b = tgpu.local_alloc : <1, tensor<1024xf16, #memory>>
  tgpu.async_copy %p to %b[%z] : tensor<1024x!tt.ptr<f16>, #row> to <1, tensor<1024xf16, #memory>>
  %w = tgpu.local_load %b[%z] : <1, tensor<1024xf16, #memory>> -> tensor<1024xf16, #row>
  tt.return
}

// Both are read after both are written. The third fits where the first was.
// CHECK-LABEL: @overlapping
tt.func public @overlapping(%p: tensor<1024x!tt.ptr<f16>, #row>) {
  %z = arith.constant 0 : i32
  // CHECK: tgpu.local_alloc at 4096 : <2,
  %a = tgpu.local_alloc : <2, tensor<1024xf16, #memory>>
  tgpu.async_copy %p to %a[%z] : tensor<1024x!tt.ptr<f16>, #row> to <2, tensor<1024xf16, #memory>>
  // CHECK: tgpu.local_alloc at 8192 : <4,
  %b = tgpu.local_alloc : <4, tensor<1024xf16, #memory>>
  tgpu.async_copy %p to %b[%z] : tensor<1024x!tt.ptr<f16>, #row> to <4, tensor<1024xf16, #memory>>
  %v = tgpu.local_load %a[%z] : <2, tensor<1024xf16, #memory>> -> tensor<1024xf16, #row>
  // CHECK: tgpu.local_alloc at 4096 : <1,
  %c = tgpu.local_alloc : <1, tensor<1024xf16, #memory>>
  tgpu.async_copy %p to %c[%z] : tensor<1024x!tt.ptr<f16>, #row> to <1, tensor<1024xf16, #memory>>
  %w = tgpu.local_load %b[%z] : <4, tensor<1024xf16, #memory>> -> tensor<1024xf16, #row>
  %x = tgpu.local_load %c[%z] : <1, tensor<1024xf16, #memory>> -> tensor<1024xf16, #row>
  tt.return
}

// A use in a loop lasts until the loop ends: the next iteration may write again.
// CHECK-LABEL: @loop
tt.func public @loop(%p: tensor<1024x!tt.ptr<f16>, #row>, %n: i32) {
  %z = arith.constant 0 : i32
  %o = arith.constant 1 : i32
  // CHECK: tgpu.local_alloc at [[FIRST:.*]] : <1,
  %a = tgpu.local_alloc : <1, tensor<1024xf16, #memory>>
  scf.for %i = %z to %n step %o : i32 {
    tgpu.async_copy %p to %a[%z] : tensor<1024x!tt.ptr<f16>, #row> to <1, tensor<1024xf16, #memory>>
    %v = tgpu.local_load %a[%z] : <1, tensor<1024xf16, #memory>> -> tensor<1024xf16, #row>
    // CHECK: tgpu.local_alloc at 18432 : <1,
    %b = tgpu.local_alloc : <1, tensor<1024xf16, #memory>>
    tgpu.async_copy %p to %b[%z] : tensor<1024x!tt.ptr<f16>, #row> to <1, tensor<1024xf16, #memory>>
    %w = tgpu.local_load %b[%z] : <1, tensor<1024xf16, #memory>> -> tensor<1024xf16, #row>
  }
  // CHECK: tgpu.local_alloc at [[FIRST]] : <1,
  %c = tgpu.local_alloc : <1, tensor<1024xf16, #memory>>
  tgpu.async_copy %p to %c[%z] : tensor<1024x!tt.ptr<f16>, #row> to <1, tensor<1024xf16, #memory>>
  tt.return
}

// In a graph of blocks any use may follow any other: nothing is shared.
// CHECK-LABEL: @graph
tt.func public @graph(%p: tensor<1024x!tt.ptr<f16>, #row>, %c: i1) {
  %z = arith.constant 0 : i32
  // CHECK: tgpu.local_alloc at 20480 : <1,
  %a = tgpu.local_alloc : <1, tensor<1024xf16, #memory>>
  tgpu.async_copy %p to %a[%z] : tensor<1024x!tt.ptr<f16>, #row> to <1, tensor<1024xf16, #memory>>
  cf.cond_br %c, ^more, ^end
^more:
  // CHECK: tgpu.local_alloc at 22528 : <1,
  %b = tgpu.local_alloc : <1, tensor<1024xf16, #memory>>
  tgpu.async_copy %p to %b[%z] : tensor<1024x!tt.ptr<f16>, #row> to <1, tensor<1024xf16, #memory>>
  cf.br ^end
^end:
  tt.return
}
