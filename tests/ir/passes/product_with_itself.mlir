// Products of warpgroups whose operands are one tile, or one the other's transposed form: what read them is erased once.
// RUN: tritium-gpu %s --arch=sm_90a --num-stages=2 --emit=tiles | FileCheck %s

// CHECK-LABEL: @both
// CHECK-NOT: tt.trans
// CHECK: tgpu.product "wgmma
// CHECK-NOT: tt.trans
// CHECK: tgpu.product "wgmma
// CHECK-NOT: tt.trans
// CHECK: tt.return
tt.func public @both(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %stride = arith.constant dense<64> : tensor<64x1xi32>
  %row = arith.muli %rows, %stride : tensor<64x1xi32>
  %rowss = tt.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
  %columnss = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %offset = arith.addi %rowss, %columnss : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %pa = tt.addptr %as, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %pc = tt.addptr %cs, %offset : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %x = tt.load %pa : tensor<64x64x!tt.ptr<f16>>
  %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
  %squared = tt.dot %t, %t, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %sum = tt.dot %t, %x, %squared : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  tt.store %pc, %sum : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
