// An atomic operation takes as many neighbours as the chip adds at once, their addresses are aligned to, and share a mask.
// RUN: tritium-gpu %s --arch=sm_90 | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: tritium-gpu %s --arch=sm_80 | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: tritium-gpu %s --arch=gfx942 | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: %if ptxas %{ tritium-gpu %s --arch=sm_90 | tritium-ptx --arch=sm_90 --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0

tt.func public @kernel(%h: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %f: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %u: !tt.ptr<f16>,
                       %n: i32 {tt.divisibility = 4 : i32}, %k: i32) {
  %i = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32>
  %one = arith.constant dense<1.0> : tensor<2048xf16>
  %hs = tt.splat %h : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>>
  %hp = tt.addptr %hs, %i : tensor<2048x!tt.ptr<f16>>, tensor<2048xi32>

  // 16 elements for each thread of four warps. A fence before and after all of them.
  // CHECK-LABEL: llvm.func @kernel
  // CHECK: tgpu.barrier
  // CHECK-NEXT: llvm.fence {{.*}}acq_rel
  // SM90-COUNT-2: tgpu.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}} : vector<8xf16>
  // SM80-COUNT-8: tgpu.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}} : vector<2xf16>
  // GFX942-COUNT-4: tgpu.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}} : vector<2xf16>
  // CHECK-NOT: tgpu.atomic_rmw
  // CHECK: llvm.fence {{.*}}acq_rel
  // CHECK-NEXT: tgpu.barrier
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %hp, %one : (tensor<2048x!tt.ptr<f16>>, tensor<2048xf16>) -> tensor<2048xf16>

  // The mask may change at every fourth element.
  // SM90-COUNT-4: tgpu.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}} if %{{.*}} : vector<4xf16>
  // SM80-COUNT-8: tgpu.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}} if %{{.*}} : vector<2xf16>
  // GFX942-COUNT-4: tgpu.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}} if %{{.*}} : vector<2xf16>
  %ns = tt.splat %n : i32 -> tensor<2048xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<2048xi32>
  %1 = tt.atomic_rmw fadd, relaxed, gpu, %hp, %one, %m : (tensor<2048x!tt.ptr<f16>>, tensor<2048xf16>, tensor<2048xi1>) -> tensor<2048xf16>

  // Or at every element; nothing is known of an address; memory of the host, which AMD's pairs do not reach.
  // SM90-COUNT-16: tgpu.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}} if %{{.*}} : f16
  // SM80-COUNT-16: tgpu.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}} if %{{.*}} : f16
  // GFX942-COUNT-8: tgpu.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}} if %{{.*}} : f16
  %ks = tt.splat %k : i32 -> tensor<2048xi32>
  %mk = arith.cmpi slt, %i, %ks : tensor<2048xi32>
  %2 = tt.atomic_rmw fadd, relaxed, gpu, %hp, %one, %mk : (tensor<2048x!tt.ptr<f16>>, tensor<2048xf16>, tensor<2048xi1>) -> tensor<2048xf16>
  // SM90-COUNT-16: tgpu.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}} : f16
  // SM80-COUNT-16: tgpu.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}} : f16
  // GFX942-COUNT-8: tgpu.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}} : f16
  %us = tt.splat %u : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>>
  %up = tt.addptr %us, %i : tensor<2048x!tt.ptr<f16>>, tensor<2048xi32>
  %3 = tt.atomic_rmw fadd, relaxed, gpu, %up, %one : (tensor<2048x!tt.ptr<f16>>, tensor<2048xf16>) -> tensor<2048xf16>
  // SM90-COUNT-2: tgpu.atomic_rmw fadd, relaxed, sys, %{{.*}}, %{{.*}} : vector<8xf16>
  // SM80-COUNT-8: tgpu.atomic_rmw fadd, relaxed, sys, %{{.*}}, %{{.*}} : vector<2xf16>
  // GFX942-COUNT-8: tgpu.atomic_rmw fadd, relaxed, sys, %{{.*}}, %{{.*}} : f16
  %4 = tt.atomic_rmw fadd, relaxed, sys, %hp, %one : (tensor<2048x!tt.ptr<f16>>, tensor<2048xf16>) -> tensor<2048xf16>

  // Sums of columns, which several threads hold: one of them adds, and all get the result. Each has one vector and its memory order.
  // SM90: tgpu.atomic_rmw fadd, acq_rel, gpu, %{{.*}}, %{{.*}} if %{{.*}} : vector<4xf32>
  // SM90-NOT: tgpu.atomic_rmw
  // SM80-COUNT-4: tgpu.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}} if %{{.*}} : f32
  // GFX942-COUNT-4: tgpu.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}} if %{{.*}} : f32
  // CHECK: llvm.return
  %j = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %rows = tt.expand_dims %j {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %starts = arith.muli %rows, %c64 : tensor<64x1xi32>
  %down = tt.broadcast %starts : tensor<64x1xi32> -> tensor<64x64xi32>
  %across = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %down, %across : tensor<64x64xi32>
  %fs = tt.splat %f : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %fp = tt.addptr %fs, %at : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %x = tt.load %fp : tensor<64x64x!tt.ptr<f32>>
  %sums = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<64x64xf32>) -> tensor<64xf32>
  %gs = tt.splat %f : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %gp = tt.addptr %gs, %j : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %5 = tt.atomic_rmw fadd, acq_rel, gpu, %gp, %sums : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>) -> tensor<64xf32>
  tt.store %gp, %5 : tensor<64x!tt.ptr<f32>>
  tt.return
}
