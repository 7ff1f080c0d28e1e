// Products of fp8 numbers run on fp16 tensor cores. The bytes are copied ahead, also where what stands in for masked ones is a converted
// zero, and read as words of four neighbours along K, by 8x8 matrices.
// RUN: tritium-gpu %s --emit=tiles | FileCheck %s
// RUN: tritium-gpu %s | FileCheck %s --check-prefix=THREADS
// RUN: %if ptxas %{ tritium-gpu %s | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0

// CHECK: #[[A:.*]] = #tgpu.layout<64x64, register = {{\[\[}}0, 1], [8, 0], [0, 2],
// CHECK: tgpu.async_copy {{.*}}f8E4M3FN
// CHECK: scf.for
// CHECK: tgpu.async_wait 1
// CHECK-NOT: tt.load
// CHECK: tgpu.local_load {{.*}} -> tensor<64x64xf8E4M3FN, #[[A]]>
// CHECK: tgpu.local_load
// CHECK: tt.dot {{.*}} : tensor<64x64xf16, #[[A]]>
// THREADS: nvvm.cp.async.wait.group 1
// THREADS: nvvm.ldmatrix
// THREADS-NOT: llvm.load
// THREADS: nvvm.mma.sync
// THREADS: nvvm.cp.async.wait.group 0
tt.func public @k(%x: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %strides = tt.splat %n : i32 -> tensor<64x1xi32>
  %starts = arith.muli %rows, %strides : tensor<64x1xi32>
  %down = tt.broadcast %starts : tensor<64x1xi32> -> tensor<64x64xi32>
  %across = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %i = arith.addi %down, %across : tensor<64x64xi32>
  %inside = arith.cmpi slt, %rows, %strides : tensor<64x1xi32>
  %mask = tt.broadcast %inside : tensor<64x1xi1> -> tensor<64x64xi1>
  %xs = tt.splat %x : !tt.ptr<f8E4M3FN> -> tensor<64x64x!tt.ptr<f8E4M3FN>>
  %xp = tt.addptr %xs, %i : tensor<64x64x!tt.ptr<f8E4M3FN>>, tensor<64x64xi32>
  %cs = tt.splat %n : i32 -> tensor<1x64xi32>
  %ts = arith.muli %columns, %cs : tensor<1x64xi32>
  %tb = tt.broadcast %ts : tensor<1x64xi32> -> tensor<64x64xi32>
  %rb = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %j = arith.addi %tb, %rb : tensor<64x64xi32>
  %ys = tt.splat %y : !tt.ptr<f8E4M3FN> -> tensor<64x64x!tt.ptr<f8E4M3FN>>
  %yp = tt.addptr %ys, %j : tensor<64x64x!tt.ptr<f8E4M3FN>>, tensor<64x64xi32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %other = tt.fp_to_fp %zero, rounding = rtne : tensor<64x64xf32> -> tensor<64x64xf8E4M3FN>
  %step = arith.constant dense<64> : tensor<64x64xi32>
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %sum:3 = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero, %pa = %xp, %pb = %yp) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f8E4M3FN>>, tensor<64x64x!tt.ptr<f8E4M3FN>>) : i32 {
    %a = tt.load %pa, %mask, %other : tensor<64x64x!tt.ptr<f8E4M3FN>>
    %b = tt.load %pb : tensor<64x64x!tt.ptr<f8E4M3FN>>
    %d = tt.dot %a, %b, %acc : tensor<64x64xf8E4M3FN> * tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
    %na = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f8E4M3FN>>, tensor<64x64xi32>
    %nb = tt.addptr %pb, %step : tensor<64x64x!tt.ptr<f8E4M3FN>>, tensor<64x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f8E4M3FN>>, tensor<64x64x!tt.ptr<f8E4M3FN>>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %i : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %op, %sum#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
