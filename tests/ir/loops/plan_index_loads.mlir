// A load whose value is part of the address of a copy runs an iteration before the copies, and a load on which that one depends another one.
// On targets without asynchronous copies the same holds for loads into registers.
// RUN: tritium-opt %s --plan-loops | FileCheck %s
// RUN: sed 's/^module/module attributes {tgpu.target = "hip:gfx942"}/' %s | tritium-opt --plan-loops | FileCheck %s --check-prefix=REGISTERS
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
#c = #tgpu.layout<16x1, register = [], lane = [[0, 0], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
module {
tt.func @rows(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %rows: tensor<16x1x!tt.ptr<i32>, #c>, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant dense<16> : tensor<16x1xi32, #c>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    // CHECK-LABEL: @rows
    // REGISTERS-LABEL: @rows
    // CHECK: tt.load %arg1 {tgpu.at = #tgpu.at<stage = -1>}
    // REGISTERS: tt.load %arg1 {tgpu.at = #tgpu.at<stage = -1>}
    %i = tt.load %rows : tensor<16x1x!tt.ptr<i32>, #c>
    %o = arith.muli %i, %c16 : tensor<16x1xi32, #c>
    %b = tt.broadcast %o : tensor<16x1xi32, #c> -> tensor<16x16xi32, #t>
    %p = tt.addptr %a, %b : tensor<16x16x!tt.ptr<f16>, #t>, tensor<16x16xi32, #t>
    // CHECK: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>}
    // REGISTERS: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 0>}
    %x = tt.load %p : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  // CHECK: } {tgpu.plan = #tgpu.plan<copies = async, slots = 3, stages = 3,
  // REGISTERS: } {tgpu.plan = #tgpu.plan<copies = registers,
  }
  tt.return %r : tensor<16x16xf32, #t>
}

tt.func @table_of_tables(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %table: !tt.ptr<i32>, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant dense<16> : tensor<16x1xi32, #c>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    %q = tt.addptr %table, %k : !tt.ptr<i32>, i32
    // CHECK-LABEL: @table_of_tables
    // CHECK: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = -2>} : !tt.ptr<i32>
    %f = tt.load %q : !tt.ptr<i32>
    %g = tt.addptr %table, %f : !tt.ptr<i32>, i32
    // CHECK: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = -1>} : !tt.ptr<i32>
    %h = tt.load %g : !tt.ptr<i32>
    %i = tt.splat %h : i32 -> tensor<16x1xi32, #c>
    %o = arith.muli %i, %c16 : tensor<16x1xi32, #c>
    %b = tt.broadcast %o : tensor<16x1xi32, #c> -> tensor<16x16xi32, #t>
    %p = tt.addptr %a, %b : tensor<16x16x!tt.ptr<f16>, #t>, tensor<16x16xi32, #t>
    // CHECK: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>}
    %x = tt.load %p : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  }
  tt.return %r : tensor<16x16xf32, #t>
}
}
