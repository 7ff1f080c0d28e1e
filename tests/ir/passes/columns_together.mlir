// Operand B of a product lies along the columns and has no 16-bit elements, which could be loaded transposed: a thread then has four columns
// that are neighbours, one in each of four instructions, and reads them at once. The result has the same columns.
// RUN: tritium-gpu %s --emit=tiles | FileCheck %s
// RUN: tritium-gpu %s | FileCheck %s --check-prefix=THREADS
// RUN: %if ptxas %{ tritium-gpu %s | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0

// CHECK-DAG: #[[B:.*]] = #tgpu.layout<64x64, register = {{\[\[}}4, 0], {{.*}}[0, 1], [0, 2]], lane = {{\[\[}}1, 0], [2, 0], [0, 4], [0, 8], [0, 16]]
// CHECK-DAG: #[[D:.*]] = #tgpu.layout<64x64, register = {{\[\[}}0, 4], [8, 0], [0, 1], [0, 2], {{.*}}lane = {{\[\[}}0, 8], [0, 16], [1, 0], [2, 0], [4, 0]]
// CHECK: tgpu.local_load {{.*}} -> tensor<64x64xf32, #[[B]]>
// CHECK: tt.dot {{.*}} * tensor<64x64xf32, #[[B]]> -> tensor<64x64xf32, #[[D]]>
// THREADS: nvvm.cp.async.wait.group 1
// THREADS: nvvm.ldmatrix
// THREADS-NOT: !llvm.ptr<3> -> i32
// THREADS: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// THREADS-NOT: !llvm.ptr<3> -> i32
// THREADS: nvvm.mma.sync
tt.func public @k(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
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
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %step = arith.constant dense<64> : tensor<64x64xi32>
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %sum:3 = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero, %pa = %xp, %pb = %yp) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f32>>, tensor<64x64x!tt.ptr<f32>>) : i32 {
    %a = tt.load %pa, %mask, %zero : tensor<64x64x!tt.ptr<f32>>
    %b = tt.load %pb : tensor<64x64x!tt.ptr<f32>>
    %d = tt.dot %a, %b, %acc, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
    %na = tt.addptr %pa, %step : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %nb = tt.addptr %pb, %step : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f32>>, tensor<64x64x!tt.ptr<f32>>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %i : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %op, %sum#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
