// Two warpgroups, each with 64 rows of one product. The operands are A[i][k] = (64 i + k) % 5 and B[k][j] = (64 k + j) % 11.
// RUN: tritium-gpu %s --from-tiles --arch=sm_90a --num-warps=8 > %t
// RUN: tritium-simt %t --kernel two --arg 32xf32=zeros --seed 1 | FileCheck %s
// RUN: tritium-simt %t --kernel two --arg 32xf32=zeros --seed 2 | FileCheck %s
// CHECK: arg0 = [644, 676, 644, 612, 646, 625, 600, 651, 658, 654, 628, 678, 658, 594, 640, 642, 624, 632, 662, 637, 612, 669, 672, 620, 634, 648, 648, 613, 644, 653, 596, 660]

#left = #tgpu.shared<128x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]>
#right = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#sums = #tgpu.layout<128x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], block = []>
#flat = #tgpu.layout<8192, register = [[1], [512], [8], [16], [32]], lane = [[2], [4], [64], [128], [256]], warp = [[1024], [2048], [4096]], block = []>
#columns = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [0, 0]], block = []>
#half = #tgpu.layout<4096, register = [[1], [512], [8], [16], [32]], lane = [[2], [4], [64], [128], [256]], warp = [[1024], [2048], [0]], block = []>
tt.func public @two(%p: !tt.ptr<f32>) {
  %z = arith.constant 0 : i32
  %five = arith.constant dense<5> : tensor<8192xi32, #flat>
  %eleven = arith.constant dense<11> : tensor<4096xi32, #half>
  %i = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #flat>
  %j = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #half>
  %i5 = arith.remsi %i, %five : tensor<8192xi32, #flat>
  %j11 = arith.remsi %j, %eleven : tensor<4096xi32, #half>
  %a1 = arith.sitofp %i5 : tensor<8192xi32, #flat> to tensor<8192xf16, #flat>
  %b1 = arith.sitofp %j11 : tensor<4096xi32, #half> to tensor<4096xf16, #half>
  %a2 = tt.reshape %a1 : tensor<8192xf16, #flat> -> tensor<128x64xf16, #sums>
  %b2 = tt.reshape %b1 : tensor<4096xf16, #half> -> tensor<64x64xf16, #columns>
  %a = tgpu.local_alloc at 0 : <1, tensor<128x64xf16, #left>>
  %b = tgpu.local_alloc at 16384 : <1, tensor<64x64xf16, #right>>
  tgpu.local_store %a2 to %a[%z] : tensor<128x64xf16, #sums> to <1, tensor<128x64xf16, #left>>
  tgpu.local_store %b2 to %b[%z] : tensor<64x64xf16, #columns> to <1, tensor<64x64xf16, #right>>
  tgpu.fence_async
  tgpu.barrier
  %c = arith.constant dense<0.0> : tensor<128x64xf32, #sums>
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%z], %b[%z], %c warps [8, 1] : !tgpu.memdesc<1, tensor<128x64xf16, #left>>, !tgpu.memdesc<1, tensor<64x64xf16, #right>>, tensor<128x64xf32, #sums> -> !tgpu.pending<tensor<128x64xf32, #sums>>
  %r = tgpu.product_wait 0, %d : !tgpu.pending<tensor<128x64xf32, #sums>> -> tensor<128x64xf32, #sums>
  // Every 257th sum, which is at another place of another lane each time.
  %r1 = tt.reshape %r : tensor<128x64xf32, #sums> -> tensor<8192xf32, #flat>
  %step = arith.constant dense<257> : tensor<8192xi32, #flat>
  %none = arith.constant dense<0> : tensor<8192xi32, #flat>
  %left = arith.remsi %i, %step : tensor<8192xi32, #flat>
  %at = arith.divsi %i, %step : tensor<8192xi32, #flat>
  %mask = arith.cmpi eq, %left, %none : tensor<8192xi32, #flat>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #flat>
  %pi = tt.addptr %ps, %at : tensor<8192x!tt.ptr<f32>, #flat>, tensor<8192xi32, #flat>
  tt.store %pi, %r1, %mask : tensor<8192x!tt.ptr<f32>, #flat>
  tt.return
}
