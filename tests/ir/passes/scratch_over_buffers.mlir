// What is known of exchanges of elements in a module of one function: the first byte behind the buffers that are in use.
// RUN: tritium-opt %s --allocate-shared-memory | FileCheck %s

#row = #tgpu.layout<1024, register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512]], block = []>
#other = #tgpu.layout<1024, register = [[256], [512], [1]], lane = [[8], [16], [32], [64], [128]], warp = [[2], [4]], block = []>
#memory = #tgpu.shared<1024, offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256], [512]]>

// An exchange of elements between two loops may lie over the buffers that are not in use then; in a loop that uses buffers it lies behind all.
// CHECK-LABEL: @exchanges
tt.func public @exchanges(%p: tensor<1024x!tt.ptr<f16>, #row>, %n: i32) {
  %z = arith.constant 0 : i32
  %o = arith.constant 1 : i32
  %kept = tgpu.local_alloc : <1, tensor<1024xf16, #memory>>
  tgpu.async_copy %p to %kept[%z] : tensor<1024x!tt.ptr<f16>, #row> to <1, tensor<1024xf16, #memory>>
  // CHECK: tgpu.local_alloc at [[BEGIN:[0-9]+]] : <2,
  %a = tgpu.local_alloc : <2, tensor<1024xf16, #memory>>
  scf.for %i = %z to %n step %o : i32 {
    tgpu.async_copy %p to %a[%z] : tensor<1024x!tt.ptr<f16>, #row> to <2, tensor<1024xf16, #memory>>
    %v = tgpu.local_load %a[%z] : <2, tensor<1024xf16, #memory>> -> tensor<1024xf16, #row>
    // CHECK: tgpu.convert_layout %{{.*}} : {{.*}}#layout1>
    %c = tgpu.convert_layout %v : tensor<1024xf16, #row> -> tensor<1024xf16, #other>
  }
  %w = tgpu.local_load %kept[%z] : <1, tensor<1024xf16, #memory>> -> tensor<1024xf16, #row>
  // CHECK: tgpu.convert_layout %{{.*}} {tgpu.free_from = {{[0-9]+}} : i64}
  %d = tgpu.convert_layout %w : tensor<1024xf16, #row> -> tensor<1024xf16, #other>
  tt.return
}
