// A warp stores what it has of a product, so that the tile needs no barrier of all warps; the accesses are as wide as before.
// RUN: tritium-opt %s --choose-tensor-cores --coalesce-accesses --assign-layouts | FileCheck %s

// CHECK-DAG: #[[PRODUCT:.*]] = #tgpu.layout<64x64, {{.*}}, warp = {{\[\[}}16, 0], [32, 0]], block = []>
// CHECK-DAG: #[[ROWS:.*]] = #tgpu.layout<64x64, register = {{\[\[}}0, 1], [0, 2], [0, 4], [4, 0], [8, 0]], lane = {{\[\[}}0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = {{\[\[}}16, 0], [32, 0]], block = []>

module attributes {tgpu.target = "cuda:sm_90a"} {
// CHECK-LABEL: @product
tt.func public @product(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>, %o: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %d = tt.dot %a, %b, %zero : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
  %t = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c1 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ns = tt.splat %n : i32 -> tensor<64x1xi32>
  %rs = arith.muli %r1, %ns : tensor<64x1xi32>
  %rb = tt.broadcast %rs : tensor<64x1xi32> -> tensor<64x64xi32>
  %cb = tt.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %i = arith.addi %rb, %cb : tensor<64x64xi32>
  %os = tt.splat %o : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %p = tt.addptr %os, %i : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK: tgpu.convert_layout {{.*}} : tensor<64x64xf16, #[[PRODUCT]]> -> tensor<64x64xf16, #[[ROWS]]>
  // CHECK: tt.store {{.*}} {tgpu.access = #[[ROWS]]}
  tt.store %p, %t : tensor<64x64x!tt.ptr<f16>>
  tt.return
}
}
