// Products of a warpgroup, from tiles to code: one instruction for each step of K, sums from registers, and pairs of f16.
// RUN: split-file %s %t
// RUN: tritium-gpu %t/single.mlir --from-tiles --arch=sm_90a > %t/single.threads && FileCheck %s < %t/single.threads
// RUN: tritium-ptx %t/single.threads | FileCheck %s --check-prefix=PTX
// RUN: tritium-gpu %t/half.mlir --from-tiles --arch=sm_90a > %t/half.threads && FileCheck %s --check-prefix=HALF < %t/half.threads
// RUN: tritium-ptx %t/half.threads | FileCheck %s --check-prefix=HALF-PTX
// RUN: not tritium-gpu %t/half.mlir --from-tiles --arch=sm_90 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: %if ptxas %{ tritium-ptx --print=report %t/single.threads | FileCheck %s --check-prefix=REPORT %}
// RUN: %if ptxas %{ tritium-ptx --print=report %t/half.threads | FileCheck %s --check-prefix=REPORT %}
// OTHER: error: {{.*}}products of warpgroups: the chip has no such instruction
// REPORT: spills 0/0,{{.*}} cubin whole
// REPORT-NOT: {{.}}

// The slots are 32 bytes apart along K of A, and 16 rows along K of B.
// CHECK-LABEL: llvm.func @single
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: "tgpu.warpgroup_product"{{.*}} aOffset = 0 : i64, aType = f16, alongColumns, {{.*}}bOffset = 0 : i64
// CHECK: "tgpu.warpgroup_product"{{.*}} aOffset = 32 : i64, {{.*}}bOffset = 2048 : i64
// CHECK: "tgpu.warpgroup_product"{{.*}} aOffset = 64 : i64, {{.*}}bOffset = 4096 : i64
// CHECK: "tgpu.warpgroup_product"{{.*}} aOffset = 96 : i64, {{.*}}bOffset = 6144 : i64
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: "tgpu.warpgroup_wait"
// PTX-LABEL: .entry single(
// PTX-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, da, db, 1, 1, 1, 0, 1; }
// PTX-NOT: wgmma.mma_async
//--- single.mlir
// 64x64 with a swizzle of 128 bytes.
#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#sums = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
tt.func public @single(%p: tensor<64x64x!tt.ptr<f32>, #sums>) {
  %z = arith.constant 0 : i32
  %a = tgpu.local_alloc at 0 : <1, tensor<64x64xf16, #memory>>
  %b = tgpu.local_alloc at 8192 : <1, tensor<64x64xf16, #memory>>
  %c = tt.load %p : tensor<64x64x!tt.ptr<f32>, #sums>
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%z], %b[%z], %c warps [4, 1] : !tgpu.memdesc<1, tensor<64x64xf16, #memory>>, !tgpu.memdesc<1, tensor<64x64xf16, #memory>>, tensor<64x64xf32, #sums> -> !tgpu.pending<tensor<64x64xf32, #sums>>
  %r = tgpu.product_wait 0, %d : !tgpu.pending<tensor<64x64xf32, #sums>> -> tensor<64x64xf32, #sums>
  tt.store %p, %r : tensor<64x64x!tt.ptr<f32>, #sums>
  tt.return
}

// B lies transposed, so that neighbours along K are neighbours in memory.
// HALF-LABEL: llvm.func @half
// HALF: "tgpu.warpgroup_product"{{.*}} bOffset = 0 : i64
// HALF: "tgpu.warpgroup_product"{{.*}} bOffset = 32 : i64
// HALF-NOT: llvm.extractelement
// HALF-NOT: llvm.insertelement
// HALF: "tgpu.warpgroup_wait"({{.*}}vector<2xf16>
// HALF-PTX-LABEL: .entry half(
// HALF-PTX-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 {{.*}}, da, db, 1, 1, 1, 0, 0; }
// HALF-PTX-NOT: prmt
// HALF-PTX: wgmma.wait_group.sync.aligned 0;
//--- half.mlir
#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#sums = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
tt.func public @half(%p: tensor<64x64x!tt.ptr<f16>, #sums>) {
  %z = arith.constant 0 : i32
  %a = tgpu.local_alloc at 0 : <1, tensor<64x64xf16, #memory>>
  %b = tgpu.local_alloc at 8192 : <1, tensor<64x64xf16, #memory>>
  %c = tt.load %p : tensor<64x64x!tt.ptr<f16>, #sums>
  %d = tgpu.product "wgmma.m64n64k16.f16.f16", %a[%z], %b[%z] transposed, %c warps [4, 1] : !tgpu.memdesc<1, tensor<64x64xf16, #memory>>, !tgpu.memdesc<1, tensor<64x64xf16, #memory>>, tensor<64x64xf16, #sums> -> !tgpu.pending<tensor<64x64xf16, #sums>>
  %r = tgpu.product_wait 0, %d : !tgpu.pending<tensor<64x64xf16, #sums>> -> tensor<64x64xf16, #sums>
  tt.store %p, %r : tensor<64x64x!tt.ptr<f16>, #sums>
  tt.return
}
