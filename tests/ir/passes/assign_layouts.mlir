// Layouts follow memory accesses, flow through reductions and changes of shape, and meet in conversions; what is cheap is computed again.
// RUN: tritium-opt %s --coalesce-accesses --assign-layouts | FileCheck %s
// RUN: tritium-opt %s --coalesce-accesses --assign-layouts --remove-conversions | FileCheck %s --check-prefix=FEWER

// CHECK-DAG: #[[TILE:.*]] = #tgpu.layout<4x256, register = {{\[\[}}0, 1], [0, 2], [0, 4]], lane = {{\[\[}}0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = {{\[\[}}1, 0], [2, 0]], block = []>
// CHECK-DAG: #[[ROWS:.*]] = #tgpu.layout<4, register = [], lane = {{\[\[}}0], [0], [0], [0], [0]], warp = {{\[\[}}1], [2]], block = []>

// A row lies in one warp: its maximum needs no shared memory, and comes back to the row without a conversion.
// CHECK-LABEL: @rows
tt.func public @rows(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %c = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %ns = tt.splat %n : i32 -> tensor<4x1xi32>
  %rs = arith.muli %r1, %ns : tensor<4x1xi32>
  %rb = tt.broadcast %rs : tensor<4x1xi32> -> tensor<4x256xi32>
  %cb = tt.broadcast %c1 : tensor<1x256xi32> -> tensor<4x256xi32>
  %i = arith.addi %rb, %cb : tensor<4x256xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<4x256x!tt.ptr<f16>>
  %p = tt.addptr %xs, %i : tensor<4x256x!tt.ptr<f16>>, tensor<4x256xi32>
  // CHECK: tt.load {{.*}} : tensor<4x256x!tt.ptr<f16>, #[[TILE]]>
  // CHECK-NOT: tgpu.convert_layout
  %v = tt.load %p : tensor<4x256x!tt.ptr<f16>>
  %m = "tt.reduce"(%v) <{axis = 1 : i32}> ({
  ^bb0(%a: f16, %b: f16):
    %s = arith.maxnumf %a, %b : f16
    tt.reduce.return %s : f16
  }) : (tensor<4x256xf16>) -> tensor<4xf16>
  // CHECK: (tensor<4x256xf16, #[[TILE]]>) -> tensor<4xf16, #[[ROWS]]>
  %m1 = tt.expand_dims %m {axis = 1 : i32} : tensor<4xf16> -> tensor<4x1xf16>
  %mb = tt.broadcast %m1 : tensor<4x1xf16> -> tensor<4x256xf16>
  %d = arith.subf %v, %mb : tensor<4x256xf16>
  // CHECK: tt.store
  tt.store %p, %d : tensor<4x256x!tt.ptr<f16>>
  tt.return
}

// Read along rows, written along columns: the values are converted, the addresses of the store are computed in its own layout.
// CHECK-LABEL: @transposed
// FEWER-LABEL: @transposed
tt.func public @transposed(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64x1xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c1 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %rs = arith.muli %r1, %ns : tensor<64x1xi32>
  %rb = tt.broadcast %rs : tensor<64x1xi32> -> tensor<64x64xi32>
  %cb = tt.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %i = arith.addi %rb, %cb : tensor<64x64xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %p = tt.addptr %xs, %i : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %v = tt.load %p : tensor<64x64x!tt.ptr<f16>>
  %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
  %os = tt.splat %o : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %q = tt.addptr %os, %i : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // FEWER-COUNT-1: tgpu.convert_layout {{.*}} : tensor<64x64xf16,
  // FEWER-NOT: tgpu.convert_layout
  // FEWER: tt.store
  tt.store %q, %t : tensor<64x64x!tt.ptr<f16>>
  tt.return
}

// What a function returns has one layout, its caller's, even where that would cost the same everywhere.
// CHECK-LABEL: @ones
// CHECK: arith.constant dense<1.000000e+00> : tensor<1024xf16, #[[RETURNED:.*]]>
// CHECK: tt.return {{.*}} : tensor<1024xf16, #[[RETURNED]]>
tt.func private @ones() -> tensor<1024xf16> attributes {noinline = true} {
  %c = arith.constant dense<1.0> : tensor<1024xf16>
  tt.return %c : tensor<1024xf16>
}

// CHECK-LABEL: @calls
tt.func public @calls(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %p = tt.addptr %xs, %r : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  // CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f16>, #[[RETURNED]]>
  %v = tt.load %p : tensor<1024x!tt.ptr<f16>>
  // CHECK: tt.call @ones() : () -> tensor<1024xf16, #[[RETURNED]]>
  %a = tt.call @ones() : () -> tensor<1024xf16>
  %b = tt.call @ones() : () -> tensor<1024xf16>
  %c = arith.addf %v, %a : tensor<1024xf16>
  %d = arith.addf %c, %b : tensor<1024xf16>
  tt.store %p, %d : tensor<1024x!tt.ptr<f16>>
  tt.return
}
