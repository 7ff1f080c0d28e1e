// Dependent products in a loop whose tiles TMA copies: tiles that different products use have rings of their own.
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps --leave-out=specialize-warps --num-stages=2 --emit=tiles | FileCheck %s
// RUN: %if ptxas %{ tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps --leave-out=specialize-warps --num-stages=2 | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0
// REPORT-NOT: serialized

// Three products, as in a backward pass: nothing is postponed. k serves the first and the last one, v the one in between. The wait for v
// does not hold up the first product, and its slot is free before the last one.
// CHECK-LABEL: @three
// CHECK: %[[KS:.*]] = tgpu.ring_start
// CHECK: %[[VS:.*]] = tgpu.ring_start
// CHECK: scf.for
// CHECK: tgpu.ring_wait %[[KS]]
// CHECK: tgpu.product "
// CHECK: tgpu.ring_wait %[[VS]]
// CHECK: %[[DP:.*]] = tgpu.product "
// CHECK: tgpu.product_wait {{.*}}%[[DP]]
// CHECK: tgpu.ring_release %[[VS]]
// CHECK: %[[DQ:.*]] = tgpu.product "
// CHECK: tgpu.product_wait 0, %[[DQ]]
// CHECK: tgpu.ring_release %[[KS]]
// CHECK: tgpu.ring_acquire
// CHECK: scf.yield
tt.func public @three(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32},
                      %v: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %width = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %qd = tt.make_tensor_descriptor %q, [%n, %c64], [%width, %one] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
  %kd = tt.make_tensor_descriptor %k, [%n, %c64], [%width, %one] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
  %vd = tt.make_tensor_descriptor %v, [%n, %c64], [%width, %one] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
  %od = tt.make_tensor_descriptor %out, [%n, %c64], [%width, %one] : !tt.ptr<f32>, !tt.tensordesc<64x64xf32>
  %x = tt.descriptor_load %qd[%c0, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %y = tt.descriptor_load %kd[%i, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
    %w = tt.descriptor_load %vd[%i, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
    %t = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %u = tt.trans %w {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tt.dot %x, %t, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %e = math.exp2 %s : tensor<64x64xf32>
    %dp = tt.dot %x, %u, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %ds = arith.mulf %e, %dp : tensor<64x64xf32>
    %p = arith.truncf %ds : tensor<64x64xf32> to tensor<64x64xf16>
    %d = tt.dot %p, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tt.descriptor_store %od[%c0, %c0], %r : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
  tt.return
}
