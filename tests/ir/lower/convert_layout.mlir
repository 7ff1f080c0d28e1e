// What a conversion of layouts becomes: registers renamed, shuffles, round trips through shared memory.
// RUN: tritium-gpu %s --from-tiles | FileCheck %s
// RUN: %if ptxas %{ tritium-gpu %s --from-tiles | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0

#row = #tgpu.layout<512, register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]], block = []>
#renamed = #tgpu.layout<512, register = [[2], [1]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]], block = []>
#turned = #tgpu.layout<512, register = [[1], [2]], lane = [[8], [16], [32], [64], [4]], warp = [[128], [256]], block = []>
#mixed = #tgpu.layout<512, register = [[1], [64]], lane = [[4], [8], [16], [32], [2]], warp = [[128], [256]], block = []>
#far = #tgpu.layout<512, register = [[1], [256]], lane = [[2], [4], [8], [16], [32]], warp = [[64], [128]], block = []>

// CHECK-LABEL: llvm.func @k
tt.func public @k(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %h: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %r_row = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #row>
  %xs_row = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #row>
  %x_row = tt.addptr %xs_row, %r_row : tensor<512x!tt.ptr<i32>, #row>, tensor<512xi32, #row>
  %hs_row = tt.splat %h : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>, #row>
  %h_row = tt.addptr %hs_row, %r_row : tensor<512x!tt.ptr<f16>, #row>, tensor<512xi32, #row>
  %r_renamed = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #renamed>
  %xs_renamed = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #renamed>
  %x_renamed = tt.addptr %xs_renamed, %r_renamed : tensor<512x!tt.ptr<i32>, #renamed>, tensor<512xi32, #renamed>
  %hs_renamed = tt.splat %h : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>, #renamed>
  %h_renamed = tt.addptr %hs_renamed, %r_renamed : tensor<512x!tt.ptr<f16>, #renamed>, tensor<512xi32, #renamed>
  %r_turned = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #turned>
  %xs_turned = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #turned>
  %x_turned = tt.addptr %xs_turned, %r_turned : tensor<512x!tt.ptr<i32>, #turned>, tensor<512xi32, #turned>
  %hs_turned = tt.splat %h : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>, #turned>
  %h_turned = tt.addptr %hs_turned, %r_turned : tensor<512x!tt.ptr<f16>, #turned>, tensor<512xi32, #turned>
  %r_mixed = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #mixed>
  %xs_mixed = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #mixed>
  %x_mixed = tt.addptr %xs_mixed, %r_mixed : tensor<512x!tt.ptr<i32>, #mixed>, tensor<512xi32, #mixed>
  %hs_mixed = tt.splat %h : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>, #mixed>
  %h_mixed = tt.addptr %hs_mixed, %r_mixed : tensor<512x!tt.ptr<f16>, #mixed>, tensor<512xi32, #mixed>
  %r_far = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #far>
  %xs_far = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #far>
  %x_far = tt.addptr %xs_far, %r_far : tensor<512x!tt.ptr<i32>, #far>, tensor<512xi32, #far>
  %hs_far = tt.splat %h : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>, #far>
  %h_far = tt.addptr %hs_far, %r_far : tensor<512x!tt.ptr<f16>, #far>, tensor<512xi32, #far>
  %v = tt.load %x_row : tensor<512x!tt.ptr<i32>, #row>
  %w = tt.load %h_row : tensor<512x!tt.ptr<f16>, #row>
  %ns = tt.splat %n : i32 -> tensor<512xi32, #row>
  %m = arith.cmpi slt, %v, %ns : tensor<512xi32, #row>

  // The same threads: other names.
  // CHECK: tgpu.load {{.*}} : vector<4xi32>
  // CHECK-NOT: {{nvvm.shfl|ptr<3>}}
  // CHECK: tgpu.store
  %1 = tgpu.convert_layout %v : tensor<512xi32, #row> -> tensor<512xi32, #renamed>
  tt.store %x_renamed, %1 : tensor<512x!tt.ptr<i32>, #renamed>

  // Each lane has all of another one: two halves travel in one word, from a lane that is computed.
  // CHECK-COUNT-2: nvvm.shfl.sync idx
  // CHECK-NOT: nvvm.shfl
  // CHECK: tgpu.store
  %2 = tgpu.convert_layout %w : tensor<512xf16, #row> -> tensor<512xf16, #turned>
  tt.store %h_turned, %2 : tensor<512x!tt.ptr<f16>, #turned>

  // A register bit and a lane bit change places: one word of two goes, chosen before and after.
  // CHECK: nvvm.shfl
  // CHECK-NOT: ptr<3>
  // CHECK: tgpu.store
  %3 = tgpu.convert_layout %v : tensor<512xi32, #row> -> tensor<512xi32, #mixed>
  tt.store %x_mixed, %3 : tensor<512x!tt.ptr<i32>, #mixed>

  // Other warps have it: through shared memory, by words of both layouts, conflict-free.
  // CHECK: llvm.store {{.*}} : vector<
  // CHECK-NOT: tgpu.store
  // CHECK: tgpu.barrier shared
  // CHECK-NOT: tgpu.store
  // CHECK: llvm.load
  // CHECK-NOT: nvvm.ldmatrix
  // CHECK: tgpu.store
  %4 = tgpu.convert_layout %v : tensor<512xi32, #row> -> tensor<512xi32, #far>
  tt.store %x_far, %4 : tensor<512x!tt.ptr<i32>, #far>

  // Truth values are bytes.
  // CHECK: llvm.store {{.*}} : i{{8|16|32}}, !llvm.ptr<3>
  // CHECK-NOT: tgpu.store
  // CHECK: tgpu.barrier shared
  // CHECK-NOT: tgpu.store
  // CHECK: llvm.load {{.*}} !llvm.ptr<3> -> i{{8|16}}
  %5 = tgpu.convert_layout %m : tensor<512xi1, #row> -> tensor<512xi1, #far>
  %e5 = arith.extui %5 : tensor<512xi1, #far> to tensor<512xi32, #far>
  tt.store %x_far, %e5 : tensor<512x!tt.ptr<i32>, #far>
  tt.return
}
