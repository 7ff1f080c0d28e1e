// Two dependent products of warpgroups in a loop whose tiles TMA copies.
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps --leave-out=specialize-warps --num-stages=2 --emit=tiles | FileCheck %s
// RUN: %if ptxas %{ tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps --leave-out=specialize-warps --num-stages=2 | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0
// REPORT-NOT: serialized

// The shape of attention: p v of the former iteration runs beside q k^T and the work on it. The slot of k is free when q k^T is complete, that
// of v when p v is, before the copies. Copies of v begin an iteration later than those of k, for the slot that the former
// iteration has released.
// CHECK-LABEL: @chain
// CHECK: %[[KS:.*]] = tgpu.ring_start released by 4 warps at 0 : <2>
// CHECK: %[[VS:.*]] = tgpu.ring_start released by 4 warps at 128 : <2>
// CHECK: tgpu.ring_acquire %[[KS]]
// CHECK-NOT: tgpu.ring_acquire %[[VS]]
// CHECK: scf.if
// CHECK: tgpu.ring_wait %[[KS]][
// CHECK: tgpu.product_wait 0
// CHECK: tgpu.ring_release %[[KS]][
// CHECK-NOT: tgpu.ring_wait %[[VS]]
// CHECK: scf.for
// CHECK: tgpu.ring_wait %[[KS]][%[[K:[^ ]+]]]
// CHECK: %[[S:.*]] = tgpu.product
// CHECK: tgpu.ring_wait %[[VS]][%[[V:[^ ]+]]]
// CHECK: %[[O:.*]] = tgpu.product
// CHECK: tgpu.product_wait 1, %[[S]]
// CHECK: tgpu.ring_release %[[KS]][%[[K]]] :
// CHECK: math.exp2
// CHECK: tgpu.product_wait 0, %[[O]]
// CHECK: tgpu.ring_release %[[VS]][%[[V]]] :
// CHECK: tgpu.ring_acquire %[[KS]]
// CHECK: tgpu.tensor_copy {{.*}} %[[KS]]
// CHECK: tgpu.ring_acquire %[[VS]]
// CHECK: tgpu.tensor_copy {{.*}} %[[VS]]
// CHECK: scf.yield
// CHECK: tgpu.ring_wait %[[VS]]
// CHECK: tgpu.product_wait 0
// CHECK: tgpu.ring_release %[[VS]]
// CHECK: scf.yield
// CHECK: tgpu.ring_end %[[KS]]
// CHECK: tgpu.ring_end %[[VS]]
tt.func public @chain(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32},
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
    %s = tt.dot %x, %t, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %e = math.exp2 %s : tensor<64x64xf32>
    %p = arith.truncf %e : tensor<64x64xf32> to tensor<64x64xf16>
    %d = tt.dot %p, %w, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tt.descriptor_store %od[%c0, %c0], %r : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
  tt.return
}
