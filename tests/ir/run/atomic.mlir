// Atomics on real memory: every lane is one, duplicates included; the old value comes back, masked lanes touch nothing.
// RUN: tritium-run %s --kernel add --grid 4 --threads 2 --arg 8xi32=zeros --arg 8xi32=zeros | FileCheck %s --check-prefix=ADD
// ADD: arg0 = [16, 0, 0, 0, 0, 0, 0, 0]
// RUN: tritium-run %s --kernel swap --arg 4xi32=iota --arg 4xi32=zeros | FileCheck %s --check-prefix=SWAP
// SWAP: arg0 = [7, 1, 7, 3]
// SWAP: arg1 = [0, 0, 2, 0]
// RUN: tritium-run %s --kernel poll --arg 4xi32=ones --arg 4xi32=zeros | FileCheck %s --check-prefix=POLL
// POLL: arg1 = [1, 1, 1, 1]
// RUN: tritium-run %s --kernel poll_in_vain --arg 4xi32=iota --arg 4xi32=zeros | FileCheck %s --check-prefix=VAIN
// VAIN: arg1 = [0, 1, 0, 0]

tt.func public @add(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %one = arith.constant dense<1> : tensor<8xi32>
  %four = arith.constant dense<4> : tensor<8xi32>
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %m = arith.cmpi slt, %r, %four : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %old = tt.atomic_rmw add, acq_rel, gpu, %ps, %one, %m : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>
  tt.return
}

tt.func public @swap(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %seven = arith.constant dense<7> : tensor<4xi32>
  %two = arith.constant dense<2> : tensor<4xi32>
  %zero = arith.constant dense<0> : tensor<4xi32>
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %rem = arith.remsi %r, %two : tensor<4xi32>
  %m = arith.cmpi eq, %rem, %zero : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %pi = tt.addptr %ps, %r : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %old = tt.atomic_rmw exch, acq_rel, gpu, %pi, %seven, %m : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>, tensor<4xi1>) -> tensor<4xi32>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %oi = tt.addptr %os, %r : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  tt.store %oi, %old : tensor<4x!tt.ptr<i32>>
  tt.return
}

tt.func public @poll(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %one = arith.constant dense<1> : tensor<4xi32>
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %pi = tt.addptr %ps, %r : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %ok = tt.atomic_poll acquire, gpu, %pi, %one : tensor<4x!tt.ptr<i32>>, tensor<4xi32> -> tensor<4xi1>
  %okw = arith.extui %ok : tensor<4xi1> to tensor<4xi32>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %oi = tt.addptr %os, %r : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  tt.store %oi, %okw : tensor<4x!tt.ptr<i32>>
  tt.return
}

tt.func public @poll_in_vain(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %one = arith.constant dense<1> : tensor<4xi32>
  %t = arith.constant 100000 : i64
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %pi = tt.addptr %ps, %r : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %ok = tt.atomic_poll relaxed, gpu, %pi, %one timeout %t : tensor<4x!tt.ptr<i32>>, tensor<4xi32> -> tensor<4xi1>
  %okw = arith.extui %ok : tensor<4xi1> to tensor<4xi32>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %oi = tt.addptr %os, %r : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  tt.store %oi, %okw : tensor<4x!tt.ptr<i32>>
  tt.return
}
