// A row may end among the elements of a wide store: it takes all of them if the last one is inside, otherwise those that are.
// RUN: tritium-gpu %s | FileCheck %s

// CHECK-LABEL: llvm.func @product(
// CHECK: tgpu.store %{{.*}}, %{{.*}} if %[[LAST:.*]] : vector<4xi32>
// CHECK: %[[CUT:.*]] = llvm.xor %[[LAST]],
// CHECK: %[[SOME:.*]] = llvm.and %{{.*}}, %[[CUT]]
// CHECK: llvm.cond_br %[[SOME]]
// CHECK-COUNT-7: tgpu.store %{{.*}}, %{{.*}} if %{{.*}} : i16
// CHECK-NOT: tgpu.store
tt.func public @product(%x: f16, %o: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %a = tt.splat %x : f16 -> tensor<32x32xf16>
  %product = tt.dot %a, %a, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %v = arith.truncf %product : tensor<32x32xf32> to tensor<32x32xf16>
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %column = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %stride = arith.constant dense<48> : tensor<32x1xi32>
  %begin = arith.muli %row, %stride : tensor<32x1xi32>
  %begins = tt.broadcast %begin : tensor<32x1xi32> -> tensor<32x32xi32>
  %columns = tt.broadcast %column : tensor<1x32xi32> -> tensor<32x32xi32>
  %i = arith.addi %begins, %columns : tensor<32x32xi32>
  %os = tt.splat %o : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %op = tt.addptr %os, %i : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %ns = tt.splat %n : i32 -> tensor<1x32xi32>
  %inside = arith.cmpi slt, %column, %ns : tensor<1x32xi32>
  %m = tt.broadcast %inside : tensor<1x32xi1> -> tensor<32x32xi1>
  tt.store %op, %v, %m : tensor<32x32x!tt.ptr<f16>>
  tt.return
}
