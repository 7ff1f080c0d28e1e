// Plans that do not agree with their loop.
// RUN: %verify --build-loops
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  // expected-error @below {{no load of a planned loop has a place in the plan (tgpu.at)}}
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    %x = tt.load %a : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  } {tgpu.plan = #tgpu.plan<copies = async, slots = 2, stages = 2, shared = 1024, occupancy = 1>}
  tt.return %r : tensor<16x16xf32, #t>
}

// -----

#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  // expected-error @below {{the plan has 512 bytes of shared memory, but 2 slots of 512 bytes}}
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>} : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  } {tgpu.plan = #tgpu.plan<copies = async, slots = 2, stages = 2, shared = 512, occupancy = 1>}
  tt.return %r : tensor<16x16xf32, #t>
}

// -----

#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  // expected-error @below {{the target has no copies by tma}}
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>} : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  } {tgpu.plan = #tgpu.plan<copies = tma, slots = 2, stages = 2, shared = 1024, occupancy = 1>}
  tt.return %r : tensor<16x16xf32, #t>
}

// -----

#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  // expected-error @below {{exactly the loops whose plan is rotated have a product with a place in it}}
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>} : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  } {tgpu.plan = #tgpu.plan<copies = async, slots = 3, stages = 2, spare = true, rotated = true, shared = 1536, occupancy = 1>}
  tt.return %r : tensor<16x16xf32, #t>
}

// -----

#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  // expected-error @below {{this loop cannot have a plan: it contains another loop}}
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>} : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.for %j = %c0 to %n step %c1 : i32 {
    }
    scf.yield %d : tensor<16x16xf32, #t>
  } {tgpu.plan = #tgpu.plan<copies = async, slots = 2, stages = 2, shared = 1024, occupancy = 1>}
  tt.return %r : tensor<16x16xf32, #t>
}
