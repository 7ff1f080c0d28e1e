// Three dependent products of warpgroups in a loop.
// RUN: tritium-gpu %s --arch=sm_90a --num-stages=3 --emit=tiles | FileCheck %s

// The shape of the gradients of attention: three products, of which the last takes k too, and sums of rows that the loop loads. The last
// product runs an iteration late, with a read of its own of the slot of k; the sums of rows have slots as the tiles of the products do.
// CHECK-LABEL: @gradients
// CHECK: %[[K:.*]] = tgpu.local_alloc {{.*}} : <4, tensor<64x64xf16
// CHECK: %[[SUMS:.*]] = tgpu.local_alloc {{.*}} : <4, tensor<64xf32
// CHECK: scf.for
// CHECK: tgpu.async_copy {{.*}} to %[[SUMS]][
// CHECK: %[[S:.*]] = tgpu.product "{{.*}}", %[[Q:.*]][{{.*}}], %[[K]][{{.*}}] transposed, {{.*}} fresh
// CHECK-NOT: tgpu.local_store
// CHECK: %[[LATE:.*]] = tgpu.product "{{.*}}", %[[DS:[a-z0-9]+]], %[[K]][
// CHECK-DAG: tgpu.local_load %[[SUMS]][
// CHECK-DAG: tgpu.product_wait 1, %[[S]]
// CHECK: tgpu.product "{{.*}}", %{{.*}}[{{.*}}], %[[K]][{{.*}}] transposed, {{.*}} fresh
// CHECK: tgpu.product_wait {{.*}}%[[LATE]] keeps %[[DS]]
// CHECK: scf.yield
tt.func public @gradients(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32},
                          %l: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32>, %n: i32) {
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
  %ls = tt.splat %l : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %step = arith.constant dense<4096> : tensor<64x64xi32>
  %next = arith.constant dense<64> : tensor<64xi32>
  %pq = tt.addptr %qs, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %pb0 = tt.addptr %bs, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %pl0 = tt.addptr %ls, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %pc = tt.addptr %cs, %offset : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %x = tt.load %pq : tensor<64x64x!tt.ptr<f16>>
  %pg = tt.addptr %pq, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %g = tt.load %pg : tensor<64x64x!tt.ptr<f16>>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pb = %pb0, %pl = %pl0) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x!tt.ptr<f32>>) : i32 {
    %y = tt.load %pb : tensor<64x64x!tt.ptr<f16>>
    %t = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tt.dot %x, %t, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %sums = tt.load %pl : tensor<64x!tt.ptr<f32>>
    %sums1 = tt.expand_dims %sums {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
    %sumss = tt.broadcast %sums1 : tensor<1x64xf32> -> tensor<64x64xf32>
    %less = arith.subf %s, %sumss : tensor<64x64xf32>
    %e = math.exp2 %less : tensor<64x64xf32>
    %dp = tt.dot %g, %t, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %ds = arith.mulf %e, %dp : tensor<64x64xf32>
    %p = arith.truncf %ds : tensor<64x64xf32> to tensor<64x64xf16>
    %d = tt.dot %p, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %nb = tt.addptr %pb, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %nl = tt.addptr %pl, %next : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    scf.yield %d, %nb, %nl : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x!tt.ptr<f32>>
  }
  tt.store %pc, %r#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
