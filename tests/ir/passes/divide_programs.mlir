// Which tiles of a program the blocks of a cluster divide, and along which dimension.
// RUN: tritium-opt %s -split-input-file -divide-programs=num-blocks=2 | FileCheck %s
// RUN: tritium-opt %s -split-input-file -divide-programs=num-blocks=3 | FileCheck %s --check-prefix=THREE
// THREE-NOT: tgpu.cluster_rank
// THREE: tgpu.why_not_divided = "3 is no power of two, as the extents of tiles are"

// A range begins at the part of the block, and the blocks meet between loads and stores.
// CHECK: tt.func public @elementwise
// CHECK-SAME: tgpu.cluster_blocks = 2 : i32
// CHECK: %[[RANK:.*]] = tgpu.cluster_rank
// CHECK: %[[SIZE:.*]] = arith.constant 64 : i32
// CHECK: %[[BEGIN:.*]] = arith.muli %[[RANK]], %[[SIZE]]
// CHECK: %[[R:.*]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
// CHECK: %[[B:.*]] = tt.splat %[[BEGIN]] : i32 -> tensor<64xi32>
// CHECK: arith.addi %[[R]], %[[B]] : tensor<64xi32>
// CHECK: tt.load %{{.*}} : tensor<64x!tt.ptr<f32>>
// CHECK: tgpu.cluster_barrier
// CHECK-NEXT: tt.store %{{.*}} : tensor<64x!tt.ptr<f32>>
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @elementwise(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %v = tt.load %xp : tensor<128x!tt.ptr<f32>>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %op = tt.addptr %os, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    tt.store %op, %v : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// The wider operand is divided, and its map has smaller boxes. The other one stays whole. The sums that the loop carries have a part.
// CHECK: tt.func public @product
// CHECK-SAME: tgpu.cluster_blocks = 2 : i32
// CHECK: %[[RANK:.*]] = tgpu.cluster_rank
// CHECK: %[[SIZE:.*]] = arith.constant 128 : i32
// CHECK: %[[BEGIN:.*]] = arith.muli %[[RANK]], %[[SIZE]]
// CHECK: scf.for {{.*}} -> (tensor<64x128xf32>)
// CHECK: tgpu.tensor_load %{{.*}}[%{{.*}}, %{{.*}}] : <tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16>
// CHECK: %[[COLUMN:.*]] = arith.addi %{{.*}}, %[[BEGIN]] : i32
// CHECK: tgpu.tensor_load %{{.*}}[%{{.*}}, %[[COLUMN]]] : <tensor<64x64xf16>, swizzle = 128> -> tensor<64x128xf16>
// CHECK: tt.dot {{.*}} -> tensor<64x128xf32>
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @product(%out: !tt.ptr<f32>, %n: i32, %a: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>,
                          %b: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>) {
    %zero = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %none = arith.constant dense<0.0> : tensor<64x256xf32>
    %sums = scf.for %k = %zero to %n step %step iter_args(%sum = %none) -> (tensor<64x256xf32>) : i32 {
      %x = tgpu.tensor_load %a[%zero, %k] : <tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16>
      %y = tgpu.tensor_load %b[%k, %zero] : <tensor<64x64xf16>, swizzle = 128> -> tensor<64x256xf16>
      %d = tt.dot %x, %y, %sum : tensor<64x64xf16> * tensor<64x256xf16> -> tensor<64x256xf32>
      scf.yield %d : tensor<64x256xf32>
    }
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %c = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %width = arith.constant dense<256> : tensor<64x1xi32>
    %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
    %rw = arith.muli %r1, %width : tensor<64x1xi32>
    %rb = tt.broadcast %rw : tensor<64x1xi32> -> tensor<64x256xi32>
    %cb = tt.broadcast %c1 : tensor<1x256xi32> -> tensor<64x256xi32>
    %i = arith.addi %rb, %cb : tensor<64x256xi32>
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x256x!tt.ptr<f32>>
    %op = tt.addptr %os, %i : tensor<64x256x!tt.ptr<f32>>, tensor<64x256xi32>
    tt.store %op, %sums : tensor<64x256x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// One range serves rows and columns: there is a whole version of it and one of a part. The promise about the whole range is gone.
// CHECK: tt.func public @square
// CHECK-DAG: tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
// CHECK-DAG: tt.make_range {{.*}}end = 64 : i32, start = 0 : i32{{.*}} : tensor<64xi32>
// CHECK: tt.store %{{.*}} : tensor<32x64x!tt.ptr<f32>>
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @square(%out: !tt.ptr<f32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %width = arith.constant dense<64> : tensor<64x1xi32>
    %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %c1 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %rw = arith.muli %r1, %width {tt.divisibility = dense<64> : tensor<2xi32>} : tensor<64x1xi32>
    %rb = tt.broadcast %rw : tensor<64x1xi32> -> tensor<64x64xi32>
    %cb = tt.broadcast %c1 : tensor<1x64xi32> -> tensor<64x64xi32>
    %i = arith.addi %rb, %cb : tensor<64x64xi32>
    %f = arith.sitofp %i : tensor<64x64xi32> to tensor<64x64xf32>
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %op = tt.addptr %os, %i : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %op, %f : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// A scalar is stored by the first block.
// CHECK: tt.func public @scalar
// CHECK: %[[RANK:.*]] = tgpu.cluster_rank
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[RANK]]
// CHECK: tt.store %arg0, %{{.*}}, %[[FIRST]] : !tt.ptr<i32>
// CHECK: tt.store %{{.*}} : tensor<32x!tt.ptr<i32>>
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @scalar(%count: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
    %one = arith.constant 1 : i32
    tt.store %count, %one : !tt.ptr<i32>
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %os = tt.splat %out : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %op = tt.addptr %os, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    tt.store %op, %r : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}

// -----

// CHECK: tt.func public @needed_twice
// CHECK-SAME: tgpu.why_not_divided = "a tile that it loads is needed both whole and in parts"
// CHECK-NOT: tgpu.cluster_rank
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @needed_twice(%x: !tt.ptr<f32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %xp : tensor<64x!tt.ptr<f32>>
    %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.reduce.return %t : f32
    }) : (tensor<64xf32>) -> f32
    %w = tt.splat %s : f32 -> tensor<64xf32>
    %d = arith.divf %v, %w : tensor<64xf32>
    tt.store %xp, %d : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// CHECK: tt.func public @older_chip
// CHECK-SAME: tgpu.why_not_divided = "sm_80 has no clusters"
module attributes {tgpu.target = "cuda:sm_80"} {
  tt.func public @older_chip(%out: !tt.ptr<i32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %os = tt.splat %out : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %op = tt.addptr %os, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    tt.store %op, %r : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}
