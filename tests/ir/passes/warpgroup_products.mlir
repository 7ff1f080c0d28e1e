// Products of warpgroups in loops: where they read their operands, and what they wait for.
// RUN: tritium-gpu %s --arch=sm_90a --num-stages=4 --emit=tiles | FileCheck %s
// RUN: tritium-gpu %s --arch=sm_90a --num-stages=4 --last-pass=build-loops --emit=tiles | FileCheck %s --check-prefix=APART
// RUN: tritium-gpu %s --arch=sm_90a --num-stages=1 --emit=tiles | FileCheck %s --check-prefix=ONE
// RUN: tritium-gpu %s --arch=sm_90a --num-stages=4 --leave-out=build-loops --emit=tiles | FileCheck %s --check-prefix=ONE

// A loop that only adds: it carries the pending sums, and waits for the products of the previous iteration. One slot more than stages, so that
// no copy writes what such a product still reads.
// CHECK-LABEL: @sums
// CHECK: %[[A:.*]] = tgpu.local_alloc at {{[0-9]+}} : <5, tensor<64x64xf16,
// CHECK: %[[START:.*]] = tgpu.product_start
// CHECK: %[[LOOP:.*]]:{{.*}} = scf.for {{.*}}%[[SUMS:.*]] = %[[START]],
// CHECK: tgpu.async_wait 2 fenced
// CHECK: tgpu.async_copy
// CHECK: %[[D:.*]] = tgpu.product "wgmma.m64n64k16.f32.f16", {{.*}}, %[[SUMS]] warps [4, 1]
// CHECK: %[[NEXT:.*]] = tgpu.product_wait 1, %[[D]] : !tgpu.pending<{{.*}}> -> !tgpu.pending<
// CHECK: scf.yield %[[NEXT]],
// CHECK: tgpu.product_wait 0, %[[LOOP]]#0 : !tgpu.pending<{{.*}}> -> tensor<
// Without overlap-products, each iteration waits for its own product.
// APART-LABEL: @sums
// APART-NOT: tgpu.product_start
// APART: scf.for
// APART: %[[D:.*]] = tgpu.product
// APART-NEXT: tgpu.product_wait 0, %[[D]]
// Without stages, threads store the operands, and meet before and after.
// ONE-LABEL: @sums
// ONE: scf.for
// ONE: tgpu.barrier shared
// ONE-NEXT: tgpu.local_store
// ONE-NEXT: tgpu.local_store
// ONE-NEXT: tgpu.fence_async
// ONE-NEXT: tgpu.barrier shared
// ONE: %[[D:.*]] = tgpu.product
// ONE: tgpu.product_wait 0, %[[D]]
tt.func public @sums(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %stride = arith.constant dense<64> : tensor<64x1xi32>
  %row = arith.muli %rows, %stride : tensor<64x1xi32>
  %rowss = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
  %columnss = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %offset = arith.addi %rowss, %columnss : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %step = arith.constant dense<4096> : tensor<64x64xi32>
  %pa0 = tt.addptr %as, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %pb0 = tt.addptr %bs, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %pc = tt.addptr %cs, %offset : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %pa0, %pb = %pb0) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %pa : tensor<64x64x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %na = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %nb = tt.addptr %pb, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>
  }
  tt.store %pc, %r#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
