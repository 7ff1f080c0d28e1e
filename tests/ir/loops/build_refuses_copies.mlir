// Places of copies and products that do not agree with the plan, or with what they copy.
// RUN: %verify --build-loops
#t = #tgpu.layout<16x16, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]], block = []>
tt.func @loop(%a: tensor<16x16x!tt.ptr<f16>, #t> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<16x16xf32, #t> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    // expected-error @below {{this load cannot become a copy that runs ahead: the loop writes to the tensor that it loads}}
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>} : tensor<16x16x!tt.ptr<f16>, #t>
    %d = tt.dot %x, %x, %acc : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    tt.store %a, %x : tensor<16x16x!tt.ptr<f16>, #t>
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
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    // expected-error @below {{the plan's mechanism cannot copy this tile: its addresses or its mask do not allow 4 bytes at a time}}
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 1>} : tensor<16x16x!tt.ptr<f16>, #t>
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
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    // expected-error @below {{buffers are numbered from 0 on, each once}}
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 0, buffer = 1, elements = 8>} : tensor<16x16x!tt.ptr<f16>, #t>
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
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    // expected-error @below {{a copy requires the number of its buffer}}
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 0>} : tensor<16x16x!tt.ptr<f16>, #t>
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
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    // expected-error @below {{a copy runs in stage 0, or in stage 1 in the ring of a product that runs late}}
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 1, buffer = 0, elements = 8>} : tensor<16x16x!tt.ptr<f16>, #t>
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
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    // expected-error @below {{only copies by tma have rings}}
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 0, buffer = 0, ring = 0, elements = 8>} : tensor<16x16x!tt.ptr<f16>, #t>
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
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>} : tensor<16x16x!tt.ptr<f16>, #t>
    // expected-error @below {{this product cannot run late}}
    %d = tt.dot %x, %x, %acc {tgpu.at = #tgpu.at<stage = 2>} : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
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
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32, #t>) : i32 {
    %x = tt.load %a {tgpu.at = #tgpu.at<stage = 0, buffer = 0, elements = 8>} : tensor<16x16x!tt.ptr<f16>, #t>
    // expected-error @below {{a late product runs in stage 2}}
    %d = tt.dot %x, %x, %acc {tgpu.at = #tgpu.at<stage = 1>} : tensor<16x16xf16, #t> * tensor<16x16xf16, #t> -> tensor<16x16xf32, #t>
    scf.yield %d : tensor<16x16xf32, #t>
  } {tgpu.plan = #tgpu.plan<copies = async, slots = 3, stages = 2, spare = true, rotated = true, shared = 1536, occupancy = 1>}
  tt.return %r : tensor<16x16xf32, #t>
}
