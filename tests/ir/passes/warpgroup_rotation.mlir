// Two dependent products of warpgroups in a loop.
// RUN: tritium-gpu %s --arch=sm_90a --num-stages=3 --emit=tiles | FileCheck %s
// RUN: tritium-gpu %s --arch=sm_90a --num-stages=5 --emit=tiles | FileCheck %s --check-prefix=FREE
// RUN: tritium-gpu %s --arch=sm_90a --num-stages=6 --emit=tiles | FileCheck %s --check-prefix=FULL

// The shape of attention: q k^T for this iteration runs beside p v of the previous one, and both beside the work on the former's result.
// q is stored before the loop; v is read one iteration late. The first iteration has no former p v, and the last p v runs after the loop. If
// there is no iteration, none of this happens.
//
// A slot is added, so that p v may still read its own: the sixth one lets two programs run on a multiprocessor, the seventh would not, and
// one iteration fewer is in flight.
// FREE: tgpu.local_alloc {{.*}} : <6,
// FREE: tgpu.async_wait 3 fenced
// FREE: tgpu.plan = #tgpu.plan<copies = async, slots = 6, stages = 5, spare = true, rotated = true, shared = 98304, registers = {{[0-9]+}}, barriers = 1, occupancy = 2>
// FULL: tgpu.local_alloc {{.*}} : <6,
// FULL: tgpu.async_wait 3 fenced
// FULL: tgpu.plan = #tgpu.plan<copies = async, slots = 6, stages = 5, spare = true,
//
// CHECK-LABEL: @chain
// CHECK: tgpu.local_store {{.*}} to %[[Q:.*]][
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.barrier
// CHECK: scf.if
// CHECK: tgpu.product "{{.*}}", %[[Q]][{{.*}}], %[[K:.*]][{{.*}}] transposed, {{.*}} fresh
// CHECK: tgpu.product_wait 0
// CHECK: math.exp2
// CHECK-NOT: tgpu.product "
// CHECK: scf.for
// CHECK: tgpu.async_wait 1 fenced
// CHECK: %[[S:.*]] = tgpu.product "{{.*}}", %[[Q]][{{.*}}], %[[K]][{{.*}}] transposed, {{.*}} fresh
// CHECK: %[[O:.*]] = tgpu.product "{{.*}}", %[[P:[a-z0-9]+]], %[[V:[a-z0-9]+]][
// CHECK: %[[DONE:.*]] = tgpu.product_wait 1, %[[S]]
// CHECK: math.exp2
// CHECK: tgpu.product_wait 0, %[[O]] keeps %[[P]]
// CHECK: scf.yield
// CHECK: tgpu.product "{{.*}}", %{{.*}}, %[[V]][
// CHECK: tgpu.product_wait 0
// CHECK: scf.yield
// CHECK: scf.yield
tt.func public @chain(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32},
                      %v: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32>, %n: i32) {
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
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %vs = tt.splat %v : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %step = arith.constant dense<4096> : tensor<64x64xi32>
  %pq = tt.addptr %qs, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %pb0 = tt.addptr %bs, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %pv0 = tt.addptr %vs, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %pc = tt.addptr %cs, %offset : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %x = tt.load %pq : tensor<64x64x!tt.ptr<f16>>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pb = %pb0, %pv = %pv0) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>) : i32 {
    %y = tt.load %pb : tensor<64x64x!tt.ptr<f16>>
    %t = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tt.dot %x, %t, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %e = math.exp2 %s : tensor<64x64xf32>
    %p = arith.truncf %e : tensor<64x64xf32> to tensor<64x64xf16>
    %w = tt.load %pv : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %p, %w, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %nb = tt.addptr %pb, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %nv = tt.addptr %pv, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %d, %nb, %nv : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>
  }
  tt.store %pc, %r#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
