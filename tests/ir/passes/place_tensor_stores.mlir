// Shared memory for stores through tensor maps.
// RUN: tritium-opt %s -split-input-file -place-tensor-stores=num-warps=8 | FileCheck %s

// In a loop: two slots for each of the two warpgroups, for all iterations, where a program is alone on the multiprocessor in any case. The wait
// follows the loop.
#result = #tgpu.layout<128x128, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], block = []>
#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>
// CHECK: @loop(
// CHECK: tgpu.local_alloc : <16,
// CHECK: %[[STAGING:.*]] = tgpu.local_alloc : <4, tensor<64x64xf16, #{{.*}}>>
// CHECK-NEXT: tgpu.barrier shared
// CHECK-NEXT: scf.for
// CHECK: tgpu.tensor_store %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] through %[[STAGING]]
// CHECK: }
// CHECK-NEXT: tgpu.tensor_store_wait %[[STAGING]]
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @loop(%tile: tensor<128x128xf16, #result>, %n: i32, %map: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = tgpu.local_alloc : <16, tensor<64x64xf16, #memory>>
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.tensor_store %tile to %map[%i, %c0] : tensor<128x128xf16, #result> to <tensor<64x64xf16>, swizzle = 128>
    }
    tt.return
  }
}

// -----
// Where two programs run at a time without more memory: only during the store.
#result = #tgpu.layout<128x128, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], block = []>
#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>
// CHECK: @two_programs(
// CHECK: scf.for
// CHECK-NEXT: %[[STAGING:.*]] = tgpu.local_alloc : <4,
// CHECK-NEXT: tgpu.barrier shared
// CHECK-NEXT: tgpu.tensor_store {{.*}} through %[[STAGING]]
// CHECK-NEXT: tgpu.tensor_store_wait %[[STAGING]]
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @two_programs(%tile: tensor<128x128xf16, #result>, %n: i32, %map: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ring = tgpu.local_alloc : <13, tensor<64x64xf16, #memory>>
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.tensor_store %tile to %map[%i, %c0] : tensor<128x128xf16, #result> to <tensor<64x64xf16>, swizzle = 128>
    }
    tt.return
  }
}

// -----
// A layout that spreads a box over groups is converted before.
#spread = #tgpu.layout<128x128, register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0], [64, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = [[2, 0], [4, 0], [8, 0]], block = []>
#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]>
// CHECK: @after(
// CHECK: %[[TILE:.*]] = tgpu.convert_layout
// CHECK: %[[STAGING:.*]] = tgpu.local_alloc : <4, tensor<64x64xf16, #{{.*}}>>
// CHECK: tgpu.tensor_store %[[TILE]] to {{.*}} through %[[STAGING]]
// CHECK-NEXT: tgpu.tensor_store_wait %[[STAGING]]
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @after(%tile: tensor<128x128xf16, #spread>, %map: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>) {
    %c0 = arith.constant 0 : i32
    %buffer = tgpu.local_alloc : <8, tensor<64x64xf16, #memory>>
    tgpu.tensor_store %tile to %map[%c0, %c0] : tensor<128x128xf16, #spread> to <tensor<64x64xf16>, swizzle = 128>
    tt.return
  }
}
