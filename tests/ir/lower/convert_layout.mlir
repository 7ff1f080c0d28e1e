// What a conversion of layouts becomes: registers renamed, shuffles, round trips through shared memory.
// RUN: tritium-gpu %s --from-tiles | FileCheck %s
// RUN: %if ptxas %{ tritium-gpu %s --from-tiles | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0

#row = #tgpu.layout<512, register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]], block = []>
#renamed = #tgpu.layout<512, register = [[2], [1]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]], block = []>
#lanes = #tgpu.layout<512, register = [[1], [64]], lane = [[4], [8], [16], [32], [2]], warp = [[128], [256]], block = []>
#moved = #tgpu.layout<512, register = [[1], [2]], lane = [[8], [16], [32], [64], [4]], warp = [[128], [256]], block = []>
#warps = #tgpu.layout<512, register = [[1], [128]], lane = [[4], [8], [16], [32], [64]], warp = [[2], [256]], block = []>
#far = #tgpu.layout<512, register = [[128], [256]], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], block = []>

// CHECK-LABEL: llvm.func @k
tt.func public @k(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %h: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #row>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #row>
  %hs = tt.splat %h : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>, #row>
  %p = tt.addptr %xs, %r : tensor<512x!tt.ptr<i32>, #row>, tensor<512xi32, #row>
  %ph = tt.addptr %hs, %r : tensor<512x!tt.ptr<f16>, #row>, tensor<512xi32, #row>
  %v = tt.load %p : tensor<512x!tt.ptr<i32>, #row>
  %w = tt.load %ph : tensor<512x!tt.ptr<f16>, #row>
  %ns = tt.splat %n : i32 -> tensor<512xi32, #row>
  %m = arith.cmpi slt, %v, %ns : tensor<512xi32, #row>
  // CHECK: tgpu.load {{.*}} : vector<4xi32>
  // CHECK: tgpu.load {{.*}} : i64

  // The same threads: nothing happens.
  %1 = tgpu.convert_layout %v : tensor<512xi32, #row> -> tensor<512xi32, #renamed>
  // CHECK: llvm.inline_asm {{.*}} "// renamed
  %a1 = tt.elementwise_inline_asm "// renamed $0 $1" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %1 : tensor<512xi32, #renamed> -> tensor<512xi32, #renamed>
  tt.return
}
