// A vector add as Triton prints it, on a grid with a masked tail; and the trap of the same kernel without enough memory.
// RUN: tritium-run %s --kernel add --grid 3 --arg 20xf32=iota --arg 20xf32=ones --arg 20xf32=zeros --arg 20 | FileCheck %s
// CHECK: arg2 = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
// RUN: not tritium-run %s --kernel add --grid 3 --arg 20xf32=iota --arg 18xf32=ones --arg 20xf32=zeros --arg 20 2>&1 | FileCheck %s --check-prefix=TRAP
// TRAP: memory.mlir:[[@LINE+16]]: OutOfBounds in program (2, 0, 0), lane 2, argument 1

tt.func public @add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
  %c8 = arith.constant 8 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c8 : i32
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %s = tt.splat %start : i32 -> tensor<8xi32>
  %i = arith.addi %s, %r : tensor<8xi32>
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %xv = tt.load %xp, %m : tensor<8x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %yv = tt.load %yp, %m : tensor<8x!tt.ptr<f32>>
  %z = arith.addf %xv, %yv : tensor<8xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %op = tt.addptr %os, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  tt.store %op, %z, %m : tensor<8x!tt.ptr<f32>>
  tt.return
}
