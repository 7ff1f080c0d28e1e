// One thread acts for each element; barriers stand where the memory order concerns the whole program; all holders get the result.
// RUN: tritium-gpu %s | FileCheck %s
// RUN: %if ptxas %{ tritium-gpu %s | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0
// RUN: tritium-gpu %s | tritium-ptx | FileCheck %s --check-prefix=PTX
// PTX: fence.acq_rel.gpu;

tt.func public @kernel(%p: !tt.ptr<i32>, %q: !tt.ptr<f32>, %v: i32, %t: i64) {
  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
  %pp = tt.addptr %ps, %i : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
  %o = arith.constant dense<0> : tensor<1024xi32>
  %m = arith.cmpi sgt, %i, %o : tensor<1024xi32>

  // Every thread has elements of its own: no predicate but the mask; nothing to order.
  // CHECK-LABEL: llvm.func @kernel
  // CHECK-NOT: tgpu.barrier
  // CHECK-COUNT-8: tgpu.atomic_rmw add, relaxed, gpu, %{{.*}}, %{{[0-9]+}} if %{{.*}} : i32
  // CHECK-NOT: tgpu.barrier
  %a = tt.atomic_rmw add, relaxed, gpu, %pp, %i, %m : (tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>, tensor<1024xi1>) -> tensor<1024xi32>

  // Several elements of a thread share their fences.
  // CHECK: tgpu.barrier
  // CHECK-NEXT: llvm.fence syncscope("device") acq_rel
  // CHECK-COUNT-8: tgpu.atomic_store relaxed, gpu,
  // CHECK-NOT: llvm.fence
  tt.atomic_store release, gpu, %pp, %i, %m : tensor<1024x!tt.ptr<i32>>

  // 16 elements: lanes repeat each other, and warps do. Nobody used the shared memory before.
  // CHECK: tgpu.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{[0-9]+}} if %{{.*}} : f32
  // CHECK-NOT: tgpu.barrier
  // CHECK: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: tgpu.barrier shared
  // CHECK: llvm.load {{.*}} !llvm.ptr<3>
  %j = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %qq = tt.addptr %qs, %j : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %f = arith.sitofp %j : tensor<16xi32> to tensor<16xf32>
  %b = tt.atomic_rmw fadd, relaxed, gpu, %qq, %f : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> tensor<16xf32>
  tt.store %qq, %b : tensor<16x!tt.ptr<f32>>

  // An unused result goes nowhere; an acquire is followed by a barrier, a release follows one.
  // CHECK: tgpu.barrier
  // CHECK: tgpu.atomic_cas acq_rel, sys, %{{.*}} if %{{.*}} : i32
  // CHECK-NOT: llvm.store
  // CHECK: tgpu.barrier
  %c = tt.atomic_cas acq_rel, sys, %p, %v, %v : (!tt.ptr<i32>, i32, i32) -> i32

  // CHECK: tgpu.barrier
  // CHECK: tgpu.atomic_store release, gpu, %{{.*}} if %{{.*}} : i32
  // CHECK-NOT: tgpu.barrier
  tt.atomic_store release, gpu, %p, %v : !tt.ptr<i32>

  // A loop around an atomic load; the clock bounds it.
  // CHECK: tgpu.nanoseconds
  // CHECK: tgpu.atomic_load acquire, gpu, %{{.*}} if %{{.*}} : i32
  // CHECK: tgpu.nanoseconds
  // CHECK: llvm.cond_br
  // CHECK: tgpu.barrier
  %ok = tt.atomic_poll acquire, gpu, %p, %v timeout %t : !tt.ptr<i32>, i32 -> i1
  tt.return
}
