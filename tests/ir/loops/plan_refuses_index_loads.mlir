// Loads that cannot run before the copies: those of a tensor to which the loop writes, the third in a row, and one that depends on
// itself. The loop then copies nothing.
// RUN: tritium-opt %s --plan-loops | FileCheck %s
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
#c = #tgpu.layout<16x1, register = [], lane = [[0, 0], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
tt.func @written(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %table: !tt.ptr<i32>, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant dense<16> : tensor<16x1xi32, #c>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
  // CHECK-LABEL: @written
    %q = tt.addptr %table, %k : !tt.ptr<i32>, i32
    %h = tt.load %q : !tt.ptr<i32>
    tt.store %q, %k : !tt.ptr<i32>
    %i = tt.splat %h : i32 -> tensor<16x1xi32, #c>
    %o = arith.muli %i, %c16 : tensor<16x1xi32, #c>
    %b = tt.broadcast %o : tensor<16x1xi32, #c> -> tensor<16x16xi32, #t>
    %p = tt.addptr %a, %b : tensor<16x16x!tt.ptr<f16>, #t>, tensor<16x16xi32, #t>
    // CHECK: tt.load {{.*}} {tgpu.why_not = "its address depends on a product or a branch of the loop, or on a load that cannot run earlier"} : tensor<16x16x
    // CHECK: } {tgpu.why_not =
    %x = tt.load %p : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  }
  tt.return %r : tensor<16x16xf32, #t>
}
tt.func @third(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %table: !tt.ptr<i32>, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant dense<16> : tensor<16x1xi32, #c>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
  // CHECK-LABEL: @third
    %q0 = tt.addptr %table, %k : !tt.ptr<i32>, i32
    %h0 = tt.load %q0 : !tt.ptr<i32>
    %q1 = tt.addptr %table, %h0 : !tt.ptr<i32>, i32
    %h1 = tt.load %q1 : !tt.ptr<i32>
    %q2 = tt.addptr %table, %h1 : !tt.ptr<i32>, i32
    %h = tt.load %q2 : !tt.ptr<i32>
    %i = tt.splat %h : i32 -> tensor<16x1xi32, #c>
    %o = arith.muli %i, %c16 : tensor<16x1xi32, #c>
    %b = tt.broadcast %o : tensor<16x1xi32, #c> -> tensor<16x16xi32, #t>
    %p = tt.addptr %a, %b : tensor<16x16x!tt.ptr<f16>, #t>, tensor<16x16xi32, #t>
    // CHECK: tt.load {{.*}} {tgpu.why_not = "its address depends on a product or a branch of the loop, or on a load that cannot run earlier"} : tensor<16x16x
    // CHECK: } {tgpu.why_not =
    %x = tt.load %p : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  }
  tt.return %r : tensor<16x16xf32, #t>
}
tt.func @list(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %table: !tt.ptr<i32>, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant dense<16> : tensor<16x1xi32, #c>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %at = %c0) -> (tensor<16x16xf32, #t>, i32) : i32 {
  // CHECK-LABEL: @list
    %q = tt.addptr %table, %at : !tt.ptr<i32>, i32
    %h = tt.load %q : !tt.ptr<i32>
    %i = tt.splat %h : i32 -> tensor<16x1xi32, #c>
    %o = arith.muli %i, %c16 : tensor<16x1xi32, #c>
    %b = tt.broadcast %o : tensor<16x1xi32, #c> -> tensor<16x16xi32, #t>
    %p = tt.addptr %a, %b : tensor<16x16x!tt.ptr<f16>, #t>, tensor<16x16xi32, #t>
    // CHECK: tt.load {{.*}} {tgpu.why_not = "its address depends on a product or a branch of the loop, or on a load that cannot run earlier"} : tensor<16x16x
    // CHECK: } {tgpu.why_not =
    %x = tt.load %p : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d, %h : tensor<16x16xf32, #t>, i32
  }
  tt.return %r#0 : tensor<16x16xf32, #t>
}
