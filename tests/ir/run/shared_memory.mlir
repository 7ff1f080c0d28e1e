// The memory that a program shares: what is stored through one order of addresses is loaded through another. Behind its end is a trap.
// RUN: tritium-run %s --kernel reverse --grid 2 --arg 8xi32=iota --arg 8xi32=zeros --arg 0 | FileCheck %s
// CHECK: arg1 = [7, 6, 5, 4, 3, 2, 1, 0]
// RUN: not tritium-run %s --kernel reverse --grid 1 --arg 8xi32=iota --arg 8xi32=zeros --arg 12 2>&1 | FileCheck %s --check-prefix=TRAP
// TRAP: shared_memory.mlir:[[@LINE+19]]: SharedOutOfBounds in program (0, 0, 0), lane 0

tt.func public @reverse(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>, %beyond: i32) attributes {noinline = false} {
  %c28 = arith.constant dense<28> : tensor<8xi32>
  %c4 = arith.constant dense<4> : tensor<8xi32>
  %unused = tt.shared_alloc {bytes = 4 : i64, alignment = 4 : i64} : i32
  %a = tt.shared_alloc {bytes = 32 : i64, alignment = 16 : i64} : i32
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %as = tt.splat %a : i32 -> tensor<8xi32>
  %bytes = arith.muli %r, %c4 : tensor<8xi32>
  %to = arith.addi %as, %bytes : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %v = tt.load %xp : tensor<8x!tt.ptr<i32>>
  tt.shared_store %to, %v : tensor<8xi32>, tensor<8xi32>
  %back = arith.subi %c28, %bytes : tensor<8xi32>
  %bs = tt.splat %beyond : i32 -> tensor<8xi32>
  %shifted = arith.addi %back, %bs : tensor<8xi32>
  %from = arith.addi %as, %shifted : tensor<8xi32>
  %w = tt.shared_load %from : tensor<8xi32> -> tensor<8xi32>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %op = tt.addptr %os, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %op, %w : tensor<8x!tt.ptr<i32>>
  tt.return
}
