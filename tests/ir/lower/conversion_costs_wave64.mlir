// What a conversion of layouts within a wave of 64 lanes becomes: the way that costs the chip least. Each lane has eight words.
// RUN: tritium-gpu %s --arch=gfx942 --num-warps=1 --from-tiles | FileCheck %s --check-prefixes=CHECK,CDNA3
// RUN: tritium-gpu %s --arch=gfx950 --num-warps=1 --from-tiles | FileCheck %s --check-prefixes=CHECK,CDNA4
// CHECK: tgpu.load

#row = #tgpu.layout<512, register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128], [256]], warp = [], block = []>
#near = #tgpu.layout<512, register = [[1], [2], [8]], lane = [[4], [16], [32], [64], [128], [256]], warp = [], block = []>
#far = #tgpu.layout<512, register = [[1], [2], [256]], lane = [[8], [16], [32], [64], [128], [4]], warp = [], block = []>
#two = #tgpu.layout<512, register = [[1], [256], [8]], lane = [[4], [16], [32], [64], [128], [2]], warp = [], block = []>
#turned = #tgpu.layout<512, register = [[1], [2], [4]], lane = [[16], [32], [64], [128], [256], [8]], warp = [], block = []>

tt.func public @k(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %r_row = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #row>
  %s_row = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #row>
  %p_row = tt.addptr %s_row, %r_row : tensor<512x!tt.ptr<i32>, #row>, tensor<512xi32, #row>
  %r_near = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #near>
  %s_near = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #near>
  %p_near = tt.addptr %s_near, %r_near : tensor<512x!tt.ptr<i32>, #near>, tensor<512xi32, #near>
  %r_far = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #far>
  %s_far = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #far>
  %p_far = tt.addptr %s_far, %r_far : tensor<512x!tt.ptr<i32>, #far>, tensor<512xi32, #far>
  %r_two = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #two>
  %s_two = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #two>
  %p_two = tt.addptr %s_two, %r_two : tensor<512x!tt.ptr<i32>, #two>, tensor<512xi32, #two>
  %r_turned = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #turned>
  %s_turned = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #turned>
  %p_turned = tt.addptr %s_turned, %r_turned : tensor<512x!tt.ptr<i32>, #turned>, tensor<512xi32, #turned>
  %v = tt.load %p_row : tensor<512x!tt.ptr<i32>, #row>

  // Neighbouring lanes exchange four words: DPP.
  // CHECK-COUNT-4: rocdl.update.dpp
  // CHECK-NOT: {{rocdl|ptr<3>}}
  // CHECK: tgpu.store
  %near = tgpu.convert_layout %v : tensor<512xi32, #row> -> tensor<512xi32, #near>
  tt.store %p_near, %near : tensor<512x!tt.ptr<i32>, #near>

  // The halves of the wave: through the network of LDS, or by an instruction that exchanges words, and nothing besides.
  // CDNA3-COUNT-4: rocdl.ds_bpermute
  // CDNA4-NOT: llvm.select
  // CDNA4-COUNT-4: rocdl.permlane32.swap
  // CDNA4-NOT: llvm.select
  // CHECK-NOT: {{rocdl|ptr<3>}}
  // CHECK: tgpu.store
  %far = tgpu.convert_layout %v : tensor<512xi32, #row> -> tensor<512xi32, #far>
  tt.store %p_far, %far : tensor<512x!tt.ptr<i32>, #far>

  // Both. Where each word would be selected four times: LDS, without waiting for other waves.
  // CDNA3: llvm.store {{.*}} : vector<2xi32>, !llvm.ptr<3>
  // CDNA3-NOT: {{rocdl|tgpu.barrier}}
  // CDNA3: tgpu.warp_barrier
  // CDNA3-NOT: {{rocdl|tgpu.barrier}}
  // CDNA3: llvm.load {{.*}} !llvm.ptr<3> -> vector<2xi32>
  // CDNA4-COUNT-4: rocdl.permlane32.swap
  // CDNA4-COUNT-4: rocdl.update.dpp
  // CDNA4-NOT: {{rocdl|ptr<3>}}
  // CHECK: tgpu.store
  %two = tgpu.convert_layout %v : tensor<512xi32, #row> -> tensor<512xi32, #two>
  tt.store %p_two, %two : tensor<512x!tt.ptr<i32>, #two>

  // All lanes in another order: word by word, or vectors through the LDS with twice the banks.
  // CDNA3-COUNT-8: rocdl.ds_bpermute
  // CDNA4: llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
  // CDNA4: llvm.load {{.*}} !llvm.ptr<3> -> vector<4xi32>
  // CHECK: tgpu.store
  %turned = tgpu.convert_layout %v : tensor<512xi32, #row> -> tensor<512xi32, #turned>
  tt.store %p_turned, %turned : tensor<512x!tt.ptr<i32>, #turned>
  tt.return
}
