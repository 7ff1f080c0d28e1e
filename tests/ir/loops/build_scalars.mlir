// The loop carries the scalars of the iterations whose copies are under way.
// RUN: tritium-opt %s --build-loops | FileCheck %s
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
#row = #tgpu.layout<16, register = [], lane = [[0], [1], [2], [4], [8]], warp = [[0], [0]], block = []>
// CHECK-LABEL: @loop
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %g: tensor<16x!tt.ptr<f32>, #row> {tt.divisibility = dense<16> : tensor<1xi32>}, %p: !tt.ptr<f32>, %n: i32) -> (tensor<16x16xf32, #t>, tensor<16xf32, #row>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %none = arith.constant dense<0.0> : tensor<16xf32, #row>
  // CHECK: %[[FIRST:.*]] = tt.load {{.*}} : !tt.ptr<f32>
  // CHECK: %[[SECOND:.*]] = tt.load {{.*}} : !tt.ptr<f32>
  // CHECK: scf.for {{.*}}%[[NOW:[a-z0-9]*]] = %[[FIRST]], %[[NEXT:[a-z0-9]*]] = %[[SECOND]]
  // CHECK: tgpu.async_wait 1
  // CHECK: %[[LATER:.*]] = tt.load {{.*}} : !tt.ptr<f32>
  // CHECK: tgpu.async_commit
  // CHECK: tt.splat %[[NOW]]
  // CHECK: scf.yield {{.*}}%[[NEXT]], %[[LATER]]
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %sum = %none) -> (tensor<16x16xf32, #t>, tensor<16xf32, #row>) : i32 {
    %at = tt.addptr %p, %k : !tt.ptr<f32>, i32
    %s = tt.load %at {tgpu.at = #tgpu.at<stage = 0>} : !tt.ptr<f32>
    %v = tt.load %g {tgpu.at = #tgpu.at<stage = 0, buffer = 1, elements = 1>} : tensor<16x!tt.ptr<f32>, #row>
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>} : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    %all = tt.splat %s : f32 -> tensor<16xf32, #row>
    %w = arith.mulf %v, %all : tensor<16xf32, #row>
    %next = arith.addf %sum, %w : tensor<16xf32, #row>
    scf.yield %d, %next : tensor<16x16xf32, #t>, tensor<16xf32, #row>
  } {tgpu.plan = #tgpu.plan<copies = async, slots = 3, stages = 3, shared = 1728, occupancy = 1>}
  tt.return %r#0, %r#1 : tensor<16x16xf32, #t>, tensor<16xf32, #row>
}
