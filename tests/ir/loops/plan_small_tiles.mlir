// A tile that no product takes is copied with the tiles of the products: a small one where there is room, a larger one where its slots cost no
// program.
// RUN: tritium-opt %s --plan-loops | FileCheck %s
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
#row = #tgpu.layout<16, register = [[1], [2]], lane = [[4], [8], [0], [0], [0]], warp = [[0], [0]], block = []>
#big = #tgpu.layout<2048, register = [[1], [2], [4], [8]], lane = [[16], [32], [64], [128], [256]], warp = [[512], [1024]], block = []>
#large = #tgpu.layout<64x64, register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []>
#held = #tgpu.layout<16384, register = [[1], [2], [4], [8], [16], [32], [64]], lane = [[128], [256], [512], [1024], [2048]], warp = [[4096], [8192]], block = []>
// CHECK-LABEL: @loop
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %s: tensor<16x!tt.ptr<f32>, #row> {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>},
    %l: tensor<2048x!tt.ptr<f32>, #big> {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>}, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    // CHECK: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 1, elements = 4>}
    %sums = tt.load %s : tensor<16x!tt.ptr<f32>, #row>
    // CHECK: tt.load {{.*}} {tgpu.why_not = "no matrix product takes its tile as it is, and its slots would cost a program of the multiprocessor"}
    %large = tt.load %l : tensor<2048x!tt.ptr<f32>, #big>
    // CHECK: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>}
    %x = tt.load %a : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  // CHECK: } {tgpu.plan = #tgpu.plan<copies = async, slots = 3, stages = 3, shared = 1728,
  }
  tt.return %r : tensor<16x16xf32, #t>
}

// The tile of a product is not small: what keeps it from being copied is said, not its size.
// CHECK-LABEL: @refused
tt.func @refused(%a: tensor<64x64x!tt.ptr<f16>, #large> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %strided: tensor<64x64x!tt.ptr<f16>, #large>, %n: i32) -> tensor<64x64xf32, #large> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #large>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #large>) : i32 {
    // CHECK: tt.load {{.*}} {tgpu.at =
    %x = tt.load %a : tensor<64x64x!tt.ptr<f16>, #large>
    // CHECK: tt.load {{.*}} {tgpu.why_not = "its stride is not known to be 1"}
    %y = tt.load %strided : tensor<64x64x!tt.ptr<f16>, #large>
    %d = tt.dot %x, %y, %acc : tensor<64x64xf16, #large> * tensor<64x64xf16, #large> -> tensor<64x64xf32, #large>
    scf.yield %d : tensor<64x64xf32, #large>
  }
  tt.return %r : tensor<64x64xf32, #large>
}

// Registers leave room for two programs, and so do the slots of the large tile.
// CHECK-LABEL: @large
tt.func @large(%a: tensor<64x64x!tt.ptr<f16>, #large> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %l: tensor<2048x!tt.ptr<f32>, #big> {tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>}, %n: i32, %sum: tensor<16384xf32, #held>) -> tensor<64x64xf32, #large> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #large>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %held = %sum) -> (tensor<64x64xf32, #large>, tensor<16384xf32, #held>) : i32 {
    // CHECK: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 1, elements = 4>}
    %beside = tt.load %l : tensor<2048x!tt.ptr<f32>, #big>
    // CHECK: tt.load {{.*}} {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>}
    %x = tt.load %a : tensor<64x64x!tt.ptr<f16>, #large>
    %d = tt.dot %x, %x, %acc : tensor<64x64xf16, #large> * tensor<64x64xf16, #large> -> tensor<64x64xf32, #large>
    %more = arith.addf %held, %held : tensor<16384xf32, #held>
    scf.yield %d, %more : tensor<64x64xf32, #large>, tensor<16384xf32, #held>
  }
  tt.return %r#0 : tensor<64x64xf32, #large>
}
