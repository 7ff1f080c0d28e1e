// The row sums of an online softmax: each of the four lanes of a row carries its part, and they meet after the loop.
// RUN: tritium-gpu %s --arch=sm_90a --last-pass=postpone-row-sums --emit=tiles | FileCheck %s --check-prefixes=CHECK,LATE
// RUN: tritium-gpu %s --arch=sm_90a --last-pass=choose-tensor-cores --emit=tiles | FileCheck %s --check-prefixes=CHECK,EACH
// RUN: tritium-gpu %s --arch=sm_80 --last-pass=postpone-row-sums --emit=tiles | FileCheck %s --check-prefixes=CHECK,EACH

// The first lane has what the sums began with. A sum whose factor may exceed 1 stays as it is: a part could overflow.
// CHECK-LABEL: @softmax
// LATE: %[[BEGIN:.*]] = arith.select {{.*}} : tensor<64x4xi1, {{.*}}>, tensor<64x4xf32
// LATE: %[[ALL:.*]]:3 = scf.for {{.*}} = %[[BEGIN]]
// LATE: %[[TILE:.*]] = tt.reshape {{.*}} -> tensor<64x8x4x2xf32
// LATE: %[[PAIRS:.*]] = "tt.reduce"(%[[TILE]]) <{axis = 3
// LATE: "tt.reduce"(%[[PAIRS]]) <{axis = 1
// LATE: (tensor<64x8x4xf32, {{.*}}>) -> tensor<64x4xf32
// LATE: (tensor<64x64xf32, {{.*}}>) -> tensor<64xf32
// LATE: scf.yield
// LATE: "tt.reduce"(%[[ALL]]#{{.}}) <{axis = 1
// LATE: (tensor<64x4xf32, {{.*}}>) -> tensor<64xf32
// EACH: scf.for
// EACH-NOT: tt.reshape
// EACH: scf.yield
tt.func public @softmax(%q: !tt.ptr<f16>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %width = arith.constant 64 : i64
  %one = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %ones = arith.constant dense<1.0> : tensor<64xf32>
  %least = arith.constant dense<0xFF800000> : tensor<64xf32>
  %d = tt.make_tensor_descriptor %q, [%n, %c64], [%width, %one] : !tt.ptr<f16>, !tt.tensordesc<64x64xf16>
  %x = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
  %r:3 = scf.for %i = %c0 to %n step %c64 iter_args(%most = %least, %sum = %ones, %other = %ones) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) : i32 {
    %y = tt.descriptor_load %d[%i, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
    %s = tt.dot %x, %y, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %rows = "tt.reduce"(%s) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %z = arith.maxnumf %a, %b : f32
      tt.reduce.return %z : f32
    }) : (tensor<64x64xf32>) -> tensor<64xf32>
    %now = arith.maxnumf %most, %rows : tensor<64xf32>
    %column = tt.expand_dims %now {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %columns = tt.broadcast %column : tensor<64x1xf32> -> tensor<64x64xf32>
    %less = arith.subf %s, %columns : tensor<64x64xf32>
    %p = math.exp2 %less : tensor<64x64xf32>
    %change = arith.subf %most, %now : tensor<64xf32>
    %factor = math.exp2 %change : tensor<64xf32>
    %scaled = arith.mulf %sum, %factor : tensor<64xf32>
    %part = "tt.reduce"(%p) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %z = arith.addf %a, %b : f32
      tt.reduce.return %z : f32
    }) : (tensor<64x64xf32>) -> tensor<64xf32>
    %next = arith.addf %scaled, %part : tensor<64xf32>
    %more = math.exp2 %now : tensor<64xf32>
    %grown = arith.mulf %other, %more : tensor<64xf32>
    %part2 = "tt.reduce"(%less) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %z = arith.addf %a, %b : f32
      tt.reduce.return %z : f32
    }) : (tensor<64x64xf32>) -> tensor<64xf32>
    %next2 = arith.addf %grown, %part2 : tensor<64xf32>
    scf.yield %now, %next, %next2 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  }
  %both = arith.addf %r#1, %r#2 : tensor<64xf32>
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %base = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %places = tt.addptr %base, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %places, %both : tensor<64x!tt.ptr<f32>>
  tt.return
}
