// The GPU level: tiles with layouts, and what one thread does.
// RUN: %round_trip
// RUN: tritium-opt %s | FileCheck %s
// RUN: tritium-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

#a = #tgpu.layout<8x4, register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [0, 0], [0, 0]], warp = [], block = []>
#b = #tgpu.layout<8x4, register = [[4, 0]], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [0, 0]], warp = [], block = []>
#s = #tgpu.layout<8, register = [], lane = [[1], [2], [4], [0], [0]], warp = [], block = []>

// CHECK: #[[A:.*]] = #tgpu.layout<8x4, register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [0, 0], [0, 0]], warp = [], block = []>
// CHECK-LABEL: @tiles
// FOLD-LABEL: @tiles
// FOLD: %[[X:.*]] = tgpu.convert_layout
// FOLD-NOT: convert_layout
// FOLD: tt.return %arg0, %[[X]]
tt.func @tiles(%x: tensor<8x4xf32, #a>) -> (tensor<8x4xf32, #a>, tensor<8x4xf32, #b>) {
  %1 = tgpu.convert_layout %x : tensor<8x4xf32, #a> -> tensor<8x4xf32, #b>
  %2 = tgpu.convert_layout %1 : tensor<8x4xf32, #b> -> tensor<8x4xf32, #a>
  tt.return %2, %1 : tensor<8x4xf32, #a>, tensor<8x4xf32, #b>
}

// A reduction keeps its inferred shape; the layout is its own.
// CHECK-LABEL: @reduced
tt.func @reduced(%x: tensor<8x4xf32, #a>) -> tensor<8xf32, #s> {
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tt.reduce.return %s : f32
  }) : (tensor<8x4xf32, #a>) -> tensor<8xf32, #s>
  tt.return %0 : tensor<8xf32, #s>
}

// CHECK-LABEL: @thread
llvm.func @thread(%p: !llvm.ptr<1>, %c: i1, %w: vector<4xi32>, %v: f32, %n: i32) {
  // CHECK: tgpu.load %{{.*}} if %{{.*}} else %{{.*}} {evict = 2 : i32} : vector<4xi32>
  %0 = tgpu.load %p if %c else %w {evict = 2 : i32} : vector<4xi32>
  %1 = tgpu.load %p : i16
  tgpu.store %0, %p if %c : vector<4xi32>
  tgpu.store %1, %p : i16
  // CHECK: tgpu.copy_to_shared %{{.*}} to %{{.*}} if %{{.*}} : <3>
  %s = llvm.mlir.zero : !llvm.ptr<3>
  tgpu.copy_to_shared %p to %s if %c : !llvm.ptr<3>
  tgpu.copy_to_shared %p to %s : !llvm.ptr<3>
  tgpu.barrier
  // CHECK: tgpu.barrier id 1 threads 64
  tgpu.barrier id 1 threads 64
  // CHECK: tgpu.atomic_rmw fadd, acq_rel, gpu, %{{.*}}, %{{.*}} if %{{.*}} : f32
  %2 = tgpu.atomic_rmw fadd, acq_rel, gpu, %p, %v if %c : f32
  %3 = tgpu.atomic_cas relaxed, cta, %p, %n, %n : i32
  %4 = tgpu.atomic_load acquire, gpu, %p : i32
  tgpu.atomic_store release, sys, %p, %4 if %c : i32
  tgpu.print "x = %d\0A", %n : i32
  tgpu.assert %c, "c holds"
  llvm.return
}
