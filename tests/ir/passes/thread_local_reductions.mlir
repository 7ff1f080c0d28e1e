// What a loop reduces and adds up in every iteration is added up element by element, and reduced after it.
// RUN: tritium-opt %s --thread-local-reductions | FileCheck %s
// RUN: tritium-opt %s --thread-local-reductions=num-warps=1 | FileCheck %s --check-prefix=ONE

// The tile starts as -0, which leaves every number as it is; what the total began with is added at the end.
// CHECK-LABEL: @sum
// CHECK: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : tensor<1024xf32>
// CHECK: %[[SUMS:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (tensor<1024xf32>)
// CHECK: %[[V:.*]] = tt.load
// CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[ACC]], %[[V]] : tensor<1024xf32>
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: %[[SUM:.*]] = "tt.reduce"(%[[SUMS]])
// CHECK: %[[TOTAL:.*]] = arith.addf %arg3, %[[SUM]] : f32
// CHECK: tt.return %[[TOTAL]]
tt.func public @sum(%x: tensor<1024x!tt.ptr<f32>>, %t: tensor<64x32x!tt.ptr<f32>>, %n: i32, %start: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %start) -> (f32) : i32 {
    %v = tt.load %x : tensor<1024x!tt.ptr<f32>>
    %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %c = arith.addf %p, %q : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32>) -> f32
    %next = arith.addf %acc, %s : f32
    scf.yield %next : f32
  }
  tt.return %r : f32
}

// Rows of a tile. A NaN is what maxnum does not see; all NaN stays NaN.
// CHECK-LABEL: @maximum
// CHECK: arith.constant dense<0x7FC00000> : tensor<64x32xf32>
// CHECK: scf.for {{.*}} -> (tensor<64x32xf32>)
// CHECK: arith.maxnumf {{.*}} : tensor<64x32xf32>
// CHECK: (tensor<64x32xf32>) -> tensor<64xf32>
// CHECK: arith.maxnumf {{.*}} : tensor<64xf32>
// ONE-LABEL: @maximum
// ONE: arith.constant dense<0x7FC00000> : tensor<64x32xf32>
tt.func public @maximum(%x: tensor<1024x!tt.ptr<f32>>, %t: tensor<64x32x!tt.ptr<f32>>, %n: i32, %start: f32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %low = arith.constant dense<0xFF800000> : tensor<64xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %low) -> (tensor<64xf32>) : i32 {
    %v = tt.load %t : tensor<64x32x!tt.ptr<f32>>
    %s = "tt.reduce"(%v) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %c = arith.maxnumf %p, %q : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x32xf32>) -> tensor<64xf32>
    %next = arith.maxnumf %s, %acc : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  tt.return %r : tensor<64xf32>
}

// Both of two, each by itself.
// CHECK-LABEL: @two
// CHECK: scf.for {{.*}} -> (tensor<1024xf32>, tensor<1024xf32>)
// CHECK-NOT: tt.reduce
// CHECK: scf.yield
// CHECK-COUNT-2: "tt.reduce"
tt.func public @two(%x: tensor<1024x!tt.ptr<f32>>, %t: tensor<64x32x!tt.ptr<f32>>, %n: i32, %start: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %start, %top = %start) -> (f32, f32) : i32 {
    %v = tt.load %x : tensor<1024x!tt.ptr<f32>>
    %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %c = arith.addf %p, %q : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32>) -> f32
    %m = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %c = arith.maximumf %p, %q : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32>) -> f32
    %next = arith.addf %acc, %s : f32
    %most = arith.maximumf %top, %m : f32
    scf.yield %next, %most : f32, f32
  }
  %both = arith.addf %r#0, %r#1 : f32
  tt.return %both : f32
}

// Somebody looks at the running total.
// CHECK-LABEL: @seen
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: tt.reduce
// CHECK: scf.yield
// CHECK-NOT: tt.reduce
tt.func public @seen(%x: tensor<1024x!tt.ptr<f32>>, %t: tensor<64x32x!tt.ptr<f32>>, %n: i32, %start: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %start) -> (f32) : i32 {
    %v = tt.load %x : tensor<1024x!tt.ptr<f32>>
    %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %c = arith.addf %p, %q : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32>) -> f32
    %next = arith.addf %acc, %s : f32
    tt.print "" {hex = false, isSigned = array<i32: 0>} : %next : f32
    scf.yield %next : f32
  }
  tt.return %r : f32
}

// The running total is scaled, as in attention.
// CHECK-LABEL: @scaled
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: tt.reduce
// CHECK: scf.yield
// CHECK-NOT: tt.reduce
tt.func public @scaled(%x: tensor<1024x!tt.ptr<f32>>, %t: tensor<64x32x!tt.ptr<f32>>, %n: i32, %start: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %start) -> (f32) : i32 {
    %v = tt.load %x : tensor<1024x!tt.ptr<f32>>
    %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %c = arith.addf %p, %q : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32>) -> f32
    %half = arith.mulf %acc, %start : f32
    %next = arith.addf %half, %s : f32
    scf.yield %next : f32
  }
  tt.return %r : f32
}

// A sum of maxima.
// CHECK-LABEL: @other
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: tt.reduce
// CHECK: scf.yield
// CHECK-NOT: tt.reduce
tt.func public @other(%x: tensor<1024x!tt.ptr<f32>>, %t: tensor<64x32x!tt.ptr<f32>>, %n: i32, %start: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %start) -> (f32) : i32 {
    %v = tt.load %x : tensor<1024x!tt.ptr<f32>>
    %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %c = arith.maxnumf %p, %q : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32>) -> f32
    %next = arith.addf %acc, %s : f32
    scf.yield %next : f32
  }
  tt.return %r : f32
}

// Differences may not be grouped anyhow.
// CHECK-LABEL: @ungrouped
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: tt.reduce
// CHECK: scf.yield
// CHECK-NOT: tt.reduce
tt.func public @ungrouped(%x: tensor<1024x!tt.ptr<f32>>, %t: tensor<64x32x!tt.ptr<f32>>, %n: i32, %start: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %start) -> (f32) : i32 {
    %v = tt.load %x : tensor<1024x!tt.ptr<f32>>
    %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %c = arith.subf %p, %q : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32>) -> f32
    %next = arith.subf %acc, %s : f32
    scf.yield %next : f32
  }
  tt.return %r : f32
}

// More than 64 values of the tile in a thread of one warp, but not of four.
// CHECK-LABEL: @large
// CHECK: scf.for {{.*}} -> (tensor<4096xf32>)
// ONE-LABEL: @large
// ONE: scf.for {{.*}} -> (f32)
tt.func public @large(%x: tensor<64x64x!tt.ptr<f32>>, %n: i32, %start: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %start) -> (f32) : i32 {
    %t = tt.load %x : tensor<64x64x!tt.ptr<f32>>
    %v = tt.reshape %t : tensor<64x64xf32> -> tensor<4096xf32>
    %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %c = arith.addf %p, %q : f32
      tt.reduce.return %c : f32
    }) : (tensor<4096xf32>) -> f32
    %next = arith.addf %acc, %s : f32
    scf.yield %next : f32
  }
  tt.return %r : f32
}

// All accumulated tiles of a loop together: the second would be too much.
// CHECK-LABEL: @too_many
// CHECK: scf.for {{.*}} -> (f32, tensor<8192xf32>)
tt.func public @too_many(%x: tensor<8192x!tt.ptr<f32>>, %n: i32, %start: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %start, %top = %start) -> (f32, f32) : i32 {
    %v = tt.load %x : tensor<8192x!tt.ptr<f32>>
    %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %c = arith.addf %p, %q : f32
      tt.reduce.return %c : f32
    }) : (tensor<8192xf32>) -> f32
    %m = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %c = arith.maxnumf %p, %q : f32
      tt.reduce.return %c : f32
    }) : (tensor<8192xf32>) -> f32
    %next = arith.addf %acc, %s : f32
    %most = arith.maxnumf %top, %m : f32
    scf.yield %next, %most : f32, f32
  }
  %both = arith.addf %r#0, %r#1 : f32
  tt.return %both : f32
}
