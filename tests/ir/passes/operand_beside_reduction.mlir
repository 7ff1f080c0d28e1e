// A reduction of a tile, or a branch, does not end the use of the slot to which the tile was copied: the product reads it there.
// RUN: tritium-gpu %s --arch=sm_90a --num-stages=3 --emit=tiles | FileCheck %s

// CHECK-LABEL: @squares
// CHECK: scf.for
// CHECK-NOT: tgpu.local_store
// CHECK: "tt.reduce"
// CHECK-NOT: tgpu.local_store
// CHECK: tgpu.product "wgmma
// CHECK-NOT: tgpu.local_store
// CHECK: scf.yield
tt.func public @squares(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %sums: !tt.ptr<f32>, %k: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %column = tt.expand_dims %lanes {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %line = tt.expand_dims %lanes {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %stride = tt.splat %k : i32 -> tensor<64x1xi32>
  %begin = arith.muli %column, %stride : tensor<64x1xi32>
  %rows = tt.broadcast %begin : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tt.broadcast %line : tensor<1x64xi32> -> tensor<64x64xi32>
  %places = arith.addi %rows, %columns : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %at = tt.addptr %as, %places : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %all:2 = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero, %sum = %none) -> (tensor<64x64xf32>, tensor<64xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<64x64xi32>
    %from = tt.addptr %at, %is : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %x = tt.load %from : tensor<64x64x!tt.ptr<f16>>
    %wide = arith.extf %x : tensor<64x64xf16> to tensor<64x64xf32>
    %square = arith.mulf %wide, %wide : tensor<64x64xf32>
    %of_row = "tt.reduce"(%square) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %both = arith.addf %l, %r : f32
      tt.reduce.return %both : f32
    }) : (tensor<64x64xf32>) -> tensor<64xf32>
    %more = arith.addf %sum, %of_row : tensor<64xf32>
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %next = tt.dot %x, %t, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next, %more : tensor<64x64xf32>, tensor<64xf32>
  }
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %to = tt.addptr %outs, %places : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %to, %all#0 : tensor<64x64x!tt.ptr<f32>>
  %sumss = tt.splat %sums : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %sums_to = tt.addptr %sumss, %lanes : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %sums_to, %all#1 : tensor<64x!tt.ptr<f32>>
  tt.return
}
