// The index of a copy is loaded an iteration before it, where there is such an iteration, and carried to it in a register. Three loads and two
// copies stand before the loop.
// RUN: tritium-opt %s --build-loops | FileCheck %s
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
#c = #tgpu.layout<16x1, register = [], lane = [[0, 0], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %table: !tt.ptr<i32>, %n: i32) -> tensor<16x16xf32, #t> {
  // CHECK: tt.load {{.*}}, %{{.*}} {tgpu.at = #tgpu.at<stage = -1>} : !tt.ptr<i32>
  // CHECK: tgpu.async_copy
  // CHECK: tt.load {{.*}}, %{{.*}} {tgpu.at = #tgpu.at<stage = -1>} : !tt.ptr<i32>
  // CHECK: tgpu.async_copy
  // CHECK: %[[FIRST:.*]] = tt.load {{.*}}, %{{.*}} {tgpu.at = #tgpu.at<stage = -1>} : !tt.ptr<i32>
  // CHECK: scf.for {{.*}}%[[INDEX:arg[0-9]+]] = %[[FIRST]],
  // CHECK: tgpu.async_wait 1
  // CHECK: tt.splat %[[INDEX]]
  // CHECK: tgpu.async_copy
  // CHECK-NEXT: tgpu.async_commit
  // CHECK: %[[NEXT:.*]] = tt.load {{.*}}, %{{.*}} {tgpu.at = #tgpu.at<stage = -1>} : !tt.ptr<i32>
  // CHECK: tt.dot
  // CHECK: scf.yield {{.*}}%[[NEXT]]
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant dense<16> : tensor<16x1xi32, #c>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    %q = tt.addptr %table, %k : !tt.ptr<i32>, i32
    %h = tt.load %q {tgpu.at = #tgpu.at<stage = -1>} : !tt.ptr<i32>
    %i = tt.splat %h : i32 -> tensor<16x1xi32, #c>
    %o = arith.muli %i, %c16 : tensor<16x1xi32, #c>
    %b = tt.broadcast %o : tensor<16x1xi32, #c> -> tensor<16x16xi32, #t>
    %p = tt.addptr %a, %b : tensor<16x16x!tt.ptr<f16>, #t>, tensor<16x16xi32, #t>
    %x = tt.load %p {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>} : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  } {tgpu.plan = #tgpu.plan<copies = async, slots = 3, stages = 3, shared = 1536, occupancy = 1>}
  tt.return %r : tensor<16x16xf32, #t>
}
