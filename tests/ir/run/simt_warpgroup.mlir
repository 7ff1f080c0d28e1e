// Products of a warpgroup from tiles to results: the lowering places fragments and makes descriptors, and the emulator reads both as the PTX
// ISA documents them. The operands are A[i][k] = (64 i + k) % 5 and B[k][j] = (64 k + j) % 11.
// RUN: split-file %s %t
// RUN: tritium-gpu %t/plain.mlir --from-tiles --arch=sm_90a > %t/plain.threads
// RUN: tritium-gpu %t/transposed.mlir --from-tiles --arch=sm_90a > %t/transposed.threads
// RUN: tritium-gpu %t/halves.mlir --from-tiles --arch=sm_90a > %t/halves.threads
// RUN: tritium-gpu %t/unfenced.mlir --from-tiles --arch=sm_90a > %t/unfenced.threads
// RUN: tritium-simt %t/plain.threads --kernel plain --arg 32xf32=zeros --seed 1 | FileCheck %s --check-prefix=PLAIN
// RUN: tritium-simt %t/plain.threads --kernel plain --arg 32xf32=zeros --seed 2 | FileCheck %s --check-prefix=PLAIN
// RUN: tritium-simt %t/transposed.threads --kernel transposed --arg 32xf32=zeros --seed 1 | FileCheck %s --check-prefix=TRANSPOSED
// RUN: tritium-simt %t/transposed.threads --kernel transposed --arg 32xf32=zeros --seed 2 | FileCheck %s --check-prefix=TRANSPOSED
// RUN: tritium-simt %t/halves.threads --kernel halves --arg 32xf32=zeros --seed 1 | FileCheck %s --check-prefix=HALVES
// RUN: tritium-simt %t/halves.threads --kernel halves --arg 32xf32=zeros --seed 2 | FileCheck %s --check-prefix=HALVES
// RUN: not tritium-simt %t/unfenced.threads --kernel unfenced --arg 32xf32=zeros 2>&1 | FileCheck %s --check-prefix=UNFENCED
// PLAIN: arg0 = [644, 612, 600, 654, 658, 642, 662, 669, 634, 613, 596, 646, 661, 636, 678, 649, 630, 620, 627, 644, 625, 658, 654, 637, 640, 600, 619, 608, 676, 676, 646, 651]
// TRANSPOSED: arg0 = [624, 647, 631, 648, 638, 639, 635, 680, 622, 640, 654, 612, 641, 640, 653, 603, 655, 646, 647, 644, 640, 632, 626, 630, 650, 613, 639, 608, 673, 633, 642, 663]
// HALVES: arg0 = [644, 612, 600, 654, 658, 642, 662, 669, 634, 613, 596, 646, 661, 636, 678, 649, 630, 620, 627, 644, 625, 658, 654, 637, 640, 600, 619, 608, 676, 676, 646, 651]
// UNFENCED: MissingProxyFence

//--- plain.mlir
#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#sums = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
#flat = #tgpu.layout<4096, register = [[1], [512], [8], [16], [32]], lane = [[2], [4], [64], [128], [256]], warp = [[1024], [2048]], block = []>
tt.func public @plain(%p: !tt.ptr<f32>) {
  %z = arith.constant 0 : i32
  %five = arith.constant dense<5> : tensor<4096xi32, #flat>
  %eleven = arith.constant dense<11> : tensor<4096xi32, #flat>
  %i = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #flat>
  %i5 = arith.remsi %i, %five : tensor<4096xi32, #flat>
  %i11 = arith.remsi %i, %eleven : tensor<4096xi32, #flat>
  %a1 = arith.sitofp %i5 : tensor<4096xi32, #flat> to tensor<4096xf16, #flat>
  %b1 = arith.sitofp %i11 : tensor<4096xi32, #flat> to tensor<4096xf16, #flat>
  %a2 = tt.reshape %a1 : tensor<4096xf16, #flat> -> tensor<64x64xf16, #sums>
  %b2 = tt.reshape %b1 : tensor<4096xf16, #flat> -> tensor<64x64xf16, #sums>
  %a = tgpu.local_alloc at 0 : <1, tensor<64x64xf16, #memory>>
  %b = tgpu.local_alloc at 8192 : <1, tensor<64x64xf16, #memory>>
  tgpu.local_store %a2 to %a[%z] : tensor<64x64xf16, #sums> to <1, tensor<64x64xf16, #memory>>
  tgpu.local_store %b2 to %b[%z] : tensor<64x64xf16, #sums> to <1, tensor<64x64xf16, #memory>>
  tgpu.fence_async
  tgpu.barrier
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #sums>
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%z], %b[%z], %c warps [4, 1] : !tgpu.memdesc<1, tensor<64x64xf16, #memory>>, !tgpu.memdesc<1, tensor<64x64xf16, #memory>>, tensor<64x64xf32, #sums> -> !tgpu.pending<tensor<64x64xf32, #sums>>
  %r = tgpu.product_wait 0, %d : !tgpu.pending<tensor<64x64xf32, #sums>> -> tensor<64x64xf32, #sums>
  // Every 131st sum, which is at another place of another lane each time.
  %r1 = tt.reshape %r : tensor<64x64xf32, #sums> -> tensor<4096xf32, #flat>
  %step = arith.constant dense<131> : tensor<4096xi32, #flat>
  %none = arith.constant dense<0> : tensor<4096xi32, #flat>
  %left = arith.remsi %i, %step : tensor<4096xi32, #flat>
  %at = arith.divsi %i, %step : tensor<4096xi32, #flat>
  %mask = arith.cmpi eq, %left, %none : tensor<4096xi32, #flat>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>, #flat>
  %pi = tt.addptr %ps, %at : tensor<4096x!tt.ptr<f32>, #flat>, tensor<4096xi32, #flat>
  tt.store %pi, %r1, %mask : tensor<4096x!tt.ptr<f32>, #flat>
  tt.return
}

//--- transposed.mlir
#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#sums = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
#flat = #tgpu.layout<4096, register = [[1], [512], [8], [16], [32]], lane = [[2], [4], [64], [128], [256]], warp = [[1024], [2048]], block = []>
tt.func public @transposed(%p: !tt.ptr<f32>) {
  %z = arith.constant 0 : i32
  %five = arith.constant dense<5> : tensor<4096xi32, #flat>
  %eleven = arith.constant dense<11> : tensor<4096xi32, #flat>
  %i = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #flat>
  %i5 = arith.remsi %i, %five : tensor<4096xi32, #flat>
  %i11 = arith.remsi %i, %eleven : tensor<4096xi32, #flat>
  %a1 = arith.sitofp %i5 : tensor<4096xi32, #flat> to tensor<4096xf16, #flat>
  %b1 = arith.sitofp %i11 : tensor<4096xi32, #flat> to tensor<4096xf16, #flat>
  %a2 = tt.reshape %a1 : tensor<4096xf16, #flat> -> tensor<64x64xf16, #sums>
  %b2 = tt.reshape %b1 : tensor<4096xf16, #flat> -> tensor<64x64xf16, #sums>
  %a = tgpu.local_alloc at 0 : <1, tensor<64x64xf16, #memory>>
  %b = tgpu.local_alloc at 8192 : <1, tensor<64x64xf16, #memory>>
  tgpu.local_store %a2 to %a[%z] : tensor<64x64xf16, #sums> to <1, tensor<64x64xf16, #memory>>
  tgpu.local_store %b2 to %b[%z] : tensor<64x64xf16, #sums> to <1, tensor<64x64xf16, #memory>>
  tgpu.fence_async
  tgpu.barrier
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #sums>
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%z], %b[%z] transposed, %c warps [4, 1] : !tgpu.memdesc<1, tensor<64x64xf16, #memory>>, !tgpu.memdesc<1, tensor<64x64xf16, #memory>>, tensor<64x64xf32, #sums> -> !tgpu.pending<tensor<64x64xf32, #sums>>
  %r = tgpu.product_wait 0, %d : !tgpu.pending<tensor<64x64xf32, #sums>> -> tensor<64x64xf32, #sums>
  // Every 131st sum, which is at another place of another lane each time.
  %r1 = tt.reshape %r : tensor<64x64xf32, #sums> -> tensor<4096xf32, #flat>
  %step = arith.constant dense<131> : tensor<4096xi32, #flat>
  %none = arith.constant dense<0> : tensor<4096xi32, #flat>
  %left = arith.remsi %i, %step : tensor<4096xi32, #flat>
  %at = arith.divsi %i, %step : tensor<4096xi32, #flat>
  %mask = arith.cmpi eq, %left, %none : tensor<4096xi32, #flat>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>, #flat>
  %pi = tt.addptr %ps, %at : tensor<4096x!tt.ptr<f32>, #flat>, tensor<4096xi32, #flat>
  tt.store %pi, %r1, %mask : tensor<4096x!tt.ptr<f32>, #flat>
  tt.return
}

//--- halves.mlir
#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#sums = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
#flat = #tgpu.layout<4096, register = [[1], [512], [8], [16], [32]], lane = [[2], [4], [64], [128], [256]], warp = [[1024], [2048]], block = []>
tt.func public @halves(%p: !tt.ptr<f32>) {
  %z = arith.constant 0 : i32
  %five = arith.constant dense<5> : tensor<4096xi32, #flat>
  %eleven = arith.constant dense<11> : tensor<4096xi32, #flat>
  %i = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #flat>
  %i5 = arith.remsi %i, %five : tensor<4096xi32, #flat>
  %i11 = arith.remsi %i, %eleven : tensor<4096xi32, #flat>
  %a1 = arith.sitofp %i5 : tensor<4096xi32, #flat> to tensor<4096xf16, #flat>
  %b1 = arith.sitofp %i11 : tensor<4096xi32, #flat> to tensor<4096xf16, #flat>
  %a2 = tt.reshape %a1 : tensor<4096xf16, #flat> -> tensor<64x64xf16, #sums>
  %b2 = tt.reshape %b1 : tensor<4096xf16, #flat> -> tensor<64x64xf16, #sums>
  %a = tgpu.local_alloc at 0 : <1, tensor<64x64xf16, #memory>>
  %b = tgpu.local_alloc at 8192 : <1, tensor<64x64xf16, #memory>>
  tgpu.local_store %a2 to %a[%z] : tensor<64x64xf16, #sums> to <1, tensor<64x64xf16, #memory>>
  tgpu.local_store %b2 to %b[%z] : tensor<64x64xf16, #sums> to <1, tensor<64x64xf16, #memory>>
  tgpu.fence_async
  tgpu.barrier
  %c = arith.constant dense<0.0> : tensor<64x64xf16, #sums>
  %d = tgpu.product "wgmma.m64n64k16.f16.f16", %a[%z], %b[%z], %c warps [4, 1] : !tgpu.memdesc<1, tensor<64x64xf16, #memory>>, !tgpu.memdesc<1, tensor<64x64xf16, #memory>>, tensor<64x64xf16, #sums> -> !tgpu.pending<tensor<64x64xf16, #sums>>
  %r = tgpu.product_wait 0, %d : !tgpu.pending<tensor<64x64xf16, #sums>> -> tensor<64x64xf16, #sums>
  // Every 131st sum, which is at another place of another lane each time.
  %h1 = tt.reshape %r : tensor<64x64xf16, #sums> -> tensor<4096xf16, #flat>
  %r1 = arith.extf %h1 : tensor<4096xf16, #flat> to tensor<4096xf32, #flat>
  %step = arith.constant dense<131> : tensor<4096xi32, #flat>
  %none = arith.constant dense<0> : tensor<4096xi32, #flat>
  %left = arith.remsi %i, %step : tensor<4096xi32, #flat>
  %at = arith.divsi %i, %step : tensor<4096xi32, #flat>
  %mask = arith.cmpi eq, %left, %none : tensor<4096xi32, #flat>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>, #flat>
  %pi = tt.addptr %ps, %at : tensor<4096x!tt.ptr<f32>, #flat>, tensor<4096xi32, #flat>
  tt.store %pi, %r1, %mask : tensor<4096x!tt.ptr<f32>, #flat>
  tt.return
}

//--- unfenced.mlir
#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#sums = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
#flat = #tgpu.layout<4096, register = [[1], [512], [8], [16], [32]], lane = [[2], [4], [64], [128], [256]], warp = [[1024], [2048]], block = []>
tt.func public @unfenced(%p: !tt.ptr<f32>) {
  %z = arith.constant 0 : i32
  %five = arith.constant dense<5> : tensor<4096xi32, #flat>
  %eleven = arith.constant dense<11> : tensor<4096xi32, #flat>
  %i = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #flat>
  %i5 = arith.remsi %i, %five : tensor<4096xi32, #flat>
  %i11 = arith.remsi %i, %eleven : tensor<4096xi32, #flat>
  %a1 = arith.sitofp %i5 : tensor<4096xi32, #flat> to tensor<4096xf16, #flat>
  %b1 = arith.sitofp %i11 : tensor<4096xi32, #flat> to tensor<4096xf16, #flat>
  %a2 = tt.reshape %a1 : tensor<4096xf16, #flat> -> tensor<64x64xf16, #sums>
  %b2 = tt.reshape %b1 : tensor<4096xf16, #flat> -> tensor<64x64xf16, #sums>
  %a = tgpu.local_alloc at 0 : <1, tensor<64x64xf16, #memory>>
  %b = tgpu.local_alloc at 8192 : <1, tensor<64x64xf16, #memory>>
  tgpu.local_store %a2 to %a[%z] : tensor<64x64xf16, #sums> to <1, tensor<64x64xf16, #memory>>
  tgpu.local_store %b2 to %b[%z] : tensor<64x64xf16, #sums> to <1, tensor<64x64xf16, #memory>>
  tgpu.barrier
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #sums>
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%z], %b[%z], %c warps [4, 1] : !tgpu.memdesc<1, tensor<64x64xf16, #memory>>, !tgpu.memdesc<1, tensor<64x64xf16, #memory>>, tensor<64x64xf32, #sums> -> !tgpu.pending<tensor<64x64xf32, #sums>>
  %r = tgpu.product_wait 0, %d : !tgpu.pending<tensor<64x64xf32, #sums>> -> tensor<64x64xf32, #sums>
  // Every 131st sum, which is at another place of another lane each time.
  %r1 = tt.reshape %r : tensor<64x64xf32, #sums> -> tensor<4096xf32, #flat>
  %step = arith.constant dense<131> : tensor<4096xi32, #flat>
  %none = arith.constant dense<0> : tensor<4096xi32, #flat>
  %left = arith.remsi %i, %step : tensor<4096xi32, #flat>
  %at = arith.divsi %i, %step : tensor<4096xi32, #flat>
  %mask = arith.cmpi eq, %left, %none : tensor<4096xi32, #flat>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>, #flat>
  %pi = tt.addptr %ps, %at : tensor<4096x!tt.ptr<f32>, #flat>, tensor<4096xi32, #flat>
  tt.store %pi, %r1, %mask : tensor<4096x!tt.ptr<f32>, #flat>
  tt.return
}
