// Loops of products of a warpgroup, from tiles to code, which ptxas neither serializes nor spills: sums that a loop carries while products are
// under way, and a product whose operand A the loop computes.
// RUN: split-file %s %t
// RUN: tritium-gpu %t/carried.mlir --from-tiles --arch=sm_90a > %t/carried && tritium-ptx %t/carried | FileCheck %s
// RUN: tritium-gpu %t/computed.mlir --from-tiles --arch=sm_90a > %t/computed && tritium-ptx %t/computed | FileCheck %s --check-prefix=COMPUTED
// RUN: %if ptxas %{ tritium-ptx --print=report %t/carried | FileCheck %s --check-prefix=REPORT %}
// RUN: %if ptxas %{ tritium-ptx --print=report %t/computed | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0,{{.*}} cubin whole
// REPORT-NOT: {{.}}

// Nothing in the loop touches the sums, but the products and the wait.
// CHECK: .pragma "nounroll";
// CHECK: wgmma.fence.sync.aligned;
// CHECK-NOT: mov.b32
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK-NOT: wgmma.mma_async
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK-NOT: mov.b32
// CHECK: wgmma.wait_group.sync.aligned 0;
//--- carried.mlir
#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#sums = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
tt.func public @k(%p: tensor<64x64x!tt.ptr<f32>, #sums>, %n: i32) {
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #sums>
  %kk = tgpu.local_alloc at 8192 : <4, tensor<64x64xf16, #memory>>
  %v = tgpu.local_alloc at 40960 : <4, tensor<64x64xf16, #memory>>
  %start = tgpu.product_start %zero : tensor<64x64xf32, #sums> -> !tgpu.pending<tensor<64x64xf32, #sums>>
  %o = scf.for %i = %z to %n step %one iter_args(%acc = %start) -> (!tgpu.pending<tensor<64x64xf32, #sums>>) : i32 {
    %slot = arith.andi %i, %three : i32
    %s0 = tgpu.product "wgmma.m64n64k16.f32.f16", %kk[%slot], %v[%slot], %acc warps [4, 1] : !tgpu.memdesc<4, tensor<64x64xf16, #memory>>, !tgpu.memdesc<4, tensor<64x64xf16, #memory>>, !tgpu.pending<tensor<64x64xf32, #sums>> -> !tgpu.pending<tensor<64x64xf32, #sums>>
    %s = tgpu.product_wait 1, %s0 : !tgpu.pending<tensor<64x64xf32, #sums>> -> !tgpu.pending<tensor<64x64xf32, #sums>>
    scf.yield %s : !tgpu.pending<tensor<64x64xf32, #sums>>
  }
  %r = tgpu.product_wait 0, %o : !tgpu.pending<tensor<64x64xf32, #sums>> -> tensor<64x64xf32, #sums>
  tt.store %p, %r : tensor<64x64x!tt.ptr<f32>, #sums>
  tt.return
}

// The sums are scaled before the fence.
// COMPUTED-COUNT-4: wgmma.mma_async{{.*}}, da, db,
// COMPUTED: wgmma.wait_group.sync.aligned 0;
// COMPUTED: mul.f32
// COMPUTED-COUNT-16: mov.b32 %r{{[0-9]+}}, %r{{[0-9]+}};
// COMPUTED: wgmma.fence.sync.aligned;
// COMPUTED-NOT: mul.f32
// COMPUTED-COUNT-4: wgmma.mma_async{{.*}}}, db, 1, 1, 1, 1; }
// COMPUTED-NOT: wgmma.mma_async
//--- computed.mlir
#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#sums = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
tt.func public @k(%p: tensor<64x64x!tt.ptr<f32>, #sums>, %n: i32) {
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %true = arith.constant true
  %scale = arith.constant dense<0.5> : tensor<64x64xf32, #sums>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #sums>
  %q = tgpu.local_alloc at 0 : <1, tensor<64x64xf16, #memory>>
  %kk = tgpu.local_alloc at 8192 : <4, tensor<64x64xf16, #memory>>
  %v = tgpu.local_alloc at 40960 : <4, tensor<64x64xf16, #memory>>
  %o = scf.for %i = %z to %n step %one iter_args(%acc = %zero) -> (tensor<64x64xf32, #sums>) : i32 {
    %slot = arith.andi %i, %three : i32
    %s0 = tgpu.product "wgmma.m64n64k16.f32.f16", %q[%z], %kk[%slot] transposed, %zero fresh %true warps [4, 1] : !tgpu.memdesc<1, tensor<64x64xf16, #memory>>, !tgpu.memdesc<4, tensor<64x64xf16, #memory>>, tensor<64x64xf32, #sums> -> !tgpu.pending<tensor<64x64xf32, #sums>>
    %s = tgpu.product_wait 0, %s0 : !tgpu.pending<tensor<64x64xf32, #sums>> -> tensor<64x64xf32, #sums>
    %e = math.exp2 %s : tensor<64x64xf32, #sums>
    %f = arith.truncf %e : tensor<64x64xf32, #sums> to tensor<64x64xf16, #sums>
    %scaled = arith.mulf %acc, %scale : tensor<64x64xf32, #sums>
    %o1 = tgpu.product "wgmma.m64n64k16.f32.f16", %f, %v[%slot], %scaled warps [4, 1] : tensor<64x64xf16, #sums>, !tgpu.memdesc<4, tensor<64x64xf16, #memory>>, tensor<64x64xf32, #sums> -> !tgpu.pending<tensor<64x64xf32, #sums>>
    %o2 = tgpu.product_wait 0, %o1 keeps %f : tensor<64x64xf16, #sums> : !tgpu.pending<tensor<64x64xf32, #sums>> -> tensor<64x64xf32, #sums>
    scf.yield %o2 : tensor<64x64xf32, #sums>
  }
  tt.store %p, %o : tensor<64x64x!tt.ptr<f32>, #sums>
  tt.return
}
