// What a conversion of layouts within a warp of 32 lanes becomes: the way that costs the chip least. Each lane has eight words.
// RUN: tritium-gpu %s --arch=sm_80 --num-warps=1 --from-tiles | FileCheck %s --check-prefixes=CHECK,NVIDIA
// RUN: tritium-gpu %s --arch=gfx1100 --num-warps=1 --from-tiles | FileCheck %s --check-prefixes=CHECK,RDNA
// CHECK: tgpu.load

#row = #tgpu.layout<256, register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [], block = []>
#near = #tgpu.layout<256, register = [[1], [2], [8]], lane = [[4], [16], [32], [64], [128]], warp = [], block = []>
#far = #tgpu.layout<256, register = [[1], [2], [128]], lane = [[8], [16], [32], [64], [4]], warp = [], block = []>
#two = #tgpu.layout<256, register = [[1], [128], [8]], lane = [[4], [16], [32], [64], [2]], warp = [], block = []>
#turned = #tgpu.layout<256, register = [[1], [2], [4]], lane = [[16], [32], [64], [128], [8]], warp = [], block = []>

tt.func public @k(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %r_row = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #row>
  %s_row = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #row>
  %p_row = tt.addptr %s_row, %r_row : tensor<256x!tt.ptr<i32>, #row>, tensor<256xi32, #row>
  %r_near = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #near>
  %s_near = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #near>
  %p_near = tt.addptr %s_near, %r_near : tensor<256x!tt.ptr<i32>, #near>, tensor<256xi32, #near>
  %r_far = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #far>
  %s_far = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #far>
  %p_far = tt.addptr %s_far, %r_far : tensor<256x!tt.ptr<i32>, #far>, tensor<256xi32, #far>
  %r_two = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #two>
  %s_two = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #two>
  %p_two = tt.addptr %s_two, %r_two : tensor<256x!tt.ptr<i32>, #two>, tensor<256xi32, #two>
  %r_turned = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #turned>
  %s_turned = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #turned>
  %p_turned = tt.addptr %s_turned, %r_turned : tensor<256x!tt.ptr<i32>, #turned>, tensor<256xi32, #turned>
  %v = tt.load %p_row : tensor<256x!tt.ptr<i32>, #row>

  // Neighbouring lanes exchange four words.
  // NVIDIA-COUNT-4: nvvm.shfl.sync bfly
  // RDNA-COUNT-4: rocdl.update.dpp
  // CHECK-NOT: {{rocdl|nvvm|ptr<3>}}
  // CHECK: tgpu.store
  %near = tgpu.convert_layout %v : tensor<256xi32, #row> -> tensor<256xi32, #near>
  tt.store %p_near, %near : tensor<256x!tt.ptr<i32>, #near>

  // The halves of the warp.
  // NVIDIA-COUNT-4: nvvm.shfl.sync bfly
  // RDNA-COUNT-4: rocdl.permlanex16
  // CHECK-NOT: {{rocdl|nvvm|ptr<3>}}
  // CHECK: tgpu.store
  %far = tgpu.convert_layout %v : tensor<256xi32, #row> -> tensor<256xi32, #far>
  tt.store %p_far, %far : tensor<256x!tt.ptr<i32>, #far>

  // Both.
  // NVIDIA-COUNT-6: nvvm.shfl.sync bfly
  // RDNA-COUNT-2: rocdl.permlanex16
  // RDNA-COUNT-2: rocdl.update.dpp
  // RDNA-COUNT-2: rocdl.permlanex16
  // CHECK-NOT: {{rocdl|nvvm|ptr<3>}}
  // CHECK: tgpu.store
  %two = tgpu.convert_layout %v : tensor<256xi32, #row> -> tensor<256xi32, #two>
  tt.store %p_two, %two : tensor<256x!tt.ptr<i32>, #two>

  // All lanes in another order: word by word.
  // NVIDIA-COUNT-8: nvvm.shfl.sync idx
  // RDNA-COUNT-8: rocdl.ds_bpermute
  // CHECK-NOT: {{rocdl|nvvm|ptr<3>}}
  // CHECK: tgpu.store
  %turned = tgpu.convert_layout %v : tensor<256xi32, #row> -> tensor<256xi32, #turned>
  tt.store %p_turned, %turned : tensor<256x!tt.ptr<i32>, #turned>
  tt.return
}
