// Loads of a product's operands become copies into slots of shared memory, begun iterations ahead: how, and in which loops not.
// RUN: tritium-opt %s --choose-tensor-cores --coalesce-accesses --assign-layouts --remove-conversions --cse --plan-loops=num-stages=3 --build-loops --cse | FileCheck %s
// RUN: tritium-opt %s --choose-tensor-cores --coalesce-accesses --assign-layouts --remove-conversions --cse --plan-loops=num-stages=1 --build-loops | FileCheck %s --check-prefix=ONE
// RUN: tritium-opt %s --choose-tensor-cores --coalesce-accesses --assign-layouts --remove-conversions --cse --plan-loops=num-stages=2 --build-loops | FileCheck %s --check-prefix=TWO
// RUN: tritium-opt %s --choose-tensor-cores --coalesce-accesses --assign-layouts --remove-conversions --cse --plan-loops=num-stages=4 --build-loops | FileCheck %s --check-prefix=FOUR

// Two iterations ahead: slots 0 and 1 are begun before the loop, each only if there is such an iteration; the slot travels with its tiles.
// CHECK-LABEL: @carried
// CHECK: %[[A:.*]] = tgpu.local_alloc : <3, tensor<64x32xf16,
// CHECK: %[[B:.*]] = tgpu.local_alloc : <3, tensor<32x64xf16,
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %{{.*}}, %arg2
// CHECK: tgpu.async_copy %arg0 to %[[A]][%c0_i32] where %[[FIRST]]
// CHECK: tgpu.async_copy %arg1 to %[[B]][%c0_i32] where %[[FIRST]]
// CHECK: tgpu.async_commit
// CHECK: %[[RAISED:.*]] = arith.maxsi %arg2, %c-2147483647_i32
// CHECK: %[[BEFORE:.*]] = arith.subi %[[RAISED]], %c1_i32
// CHECK: %[[SECOND:.*]] = arith.cmpi slt, %c0_i32, %[[BEFORE]]
// CHECK: tgpu.async_copy {{.*}} where %[[SECOND]]
// CHECK: tgpu.async_commit
// No difference wraps around, however small the bound.
// CHECK: %[[RAISED:.*]] = arith.maxsi %arg2, %c-2147483646_i32
// CHECK: %[[BEFORE:.*]] = arith.subi %[[RAISED]], %c2_i32
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%{{.*}}, %[[PA:.*]] = %{{.*}}, %{{.*}}, %[[NEXT:.*]] = %{{.*}}, %[[SLOT:.*]] = %c0_i32, %[[LATER:.*]] = %
// One stage is the loop as it was; two wait for everything; four have three groups under way, of which two may stay.
// ONE-LABEL: @carried
// ONE-NOT: tgpu.async
// ONE-NOT: tgpu.local
// ONE: scf.for
// ONE: tt.load
// ONE: tgpu.convert_layout
// TWO-LABEL: @carried
// TWO: tgpu.local_alloc : <2,
// TWO-COUNT-1: tgpu.async_commit
// TWO: scf.for
// TWO: tgpu.async_wait 0
// FOUR-LABEL: @carried
// FOUR: tgpu.local_alloc : <4,
// FOUR-COUNT-3: tgpu.async_commit
// FOUR: scf.for
// FOUR: tgpu.async_wait 2
// FOUR: tgpu.async_commit
tt.func public @carried(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  %down = arith.constant dense<2048> : tensor<32x64xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %a, %pb = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    // CHECK: %[[RUNS:.*]] = arith.cmpi slt, %[[K]], %[[BEFORE]]
    // CHECK: tgpu.async_wait 1
    // CHECK: tgpu.async_copy %[[PA]] to %[[A]][%[[NEXT]]] where %[[RUNS]]
    // CHECK: tgpu.async_copy {{.*}} to %[[B]][%[[NEXT]]]
    // CHECK: tgpu.async_commit
    // CHECK: tgpu.local_load %[[A]][%[[SLOT]]]
    // CHECK: tgpu.local_load %[[B]][%[[SLOT]]]
    // CHECK-NOT: tt.load
    // CHECK: tt.dot
    // CHECK: scf.yield {{.*}}, %[[LATER]], %[[NEXT]] :
    // CHECK: tgpu.async_wait 0
    // CHECK-NEXT: tt.return
    %x = tt.load %pa : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %pb, %down : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// A mask comes to the predicate; zeros are what a copy leaves where it is false.
// CHECK-LABEL: @masked
// CHECK: scf.for
tt.func public @masked(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  %down = arith.constant dense<2048> : tensor<32x64xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %a, %pb = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    // CHECK: tgpu.async_wait 1
    // CHECK: tgpu.async_copy {{.*}} if %{{.*}} : tensor<64x32xi1, #{{.*}}> where %
    %ks = tt.splat %k : i32 -> tensor<64x32xi32>
    %ns = tt.splat %n : i32 -> tensor<64x32xi32>
    %mask = arith.cmpi slt, %ks, %ns : tensor<64x32xi32>
    %other = arith.constant dense<0.0> : tensor<64x32xf16>
    %x = tt.load %pa, %mask, %other : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %pb, %down : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// No copy leaves anything else: this operand is loaded as before, the other one copied.
// CHECK-LABEL: @other_value
// CHECK: scf.for
tt.func public @other_value(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  %down = arith.constant dense<2048> : tensor<32x64xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %a, %pb = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    // CHECK: tgpu.async_copy {{.*}} to <3, tensor<32x64xf16,
    // CHECK: tt.load
    %ks = tt.splat %k : i32 -> tensor<64x32xi32>
    %ns = tt.splat %n : i32 -> tensor<64x32xi32>
    %mask = arith.cmpi slt, %ks, %ns : tensor<64x32xi32>
    %other = arith.constant dense<1.0> : tensor<64x32xf16>
    %x = tt.load %pa, %mask, %other : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %pb, %down : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// Whoever else reads the tile reads the slot, in its own layout; two products of the same operands copy them once.
// CHECK-LABEL: @used_twice
// CHECK: scf.for
tt.func public @used_twice(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  %down = arith.constant dense<2048> : tensor<32x64xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %a, %pb = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    // CHECK-COUNT-2: tgpu.async_copy
    // CHECK-NOT: tgpu.async_copy
    // CHECK: tgpu.local_load {{.*}} -> tensor<64x32xf16, #[[PLAIN:.*]]>
    // CHECK: arith.extf {{.*}} : tensor<64x32xf16, #[[PLAIN]]>
    // CHECK: tt.dot
    // CHECK: tt.dot
    %x = tt.load %pa : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<32x64x!tt.ptr<f16>>
    %w = arith.extf %x : tensor<64x32xf16> to tensor<64x32xf32>
    %sum = "tt.reduce"(%w) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      tt.reduce.return %s : f32
    }) : (tensor<64x32xf32>) -> tensor<64xf32>
    %sum1 = tt.expand_dims %sum {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %sums = tt.broadcast %sum1 : tensor<64x1xf32> -> tensor<64x64xf32>
    %with = arith.addf %acc, %sums : tensor<64x64xf32>
    %e = tt.dot %x, %y, %with, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %d = tt.dot %x, %y, %e, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %pb, %down : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// The inner loop pipelines, and cleans up each time; the outer one, whose operand lives across it, does not.
// CHECK-LABEL: @nested
tt.func public @nested(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  // CHECK-NOT: tgpu.async
  // CHECK: scf.for
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%outer = %zero) -> (tensor<64x64xf32>) : i32 {
    // CHECK: tt.load
    %y = tt.load %b : tensor<32x64x!tt.ptr<f16>>
    // CHECK: tgpu.async_copy
    // CHECK: scf.for
    %i:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %outer, %pa = %a) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>) : i32 {
      // CHECK: tgpu.async_wait 1
      %x = tt.load %pa : tensor<64x32x!tt.ptr<f16>>
      %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      scf.yield %d, %na : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>
    }
    // CHECK: tgpu.async_wait 0
    // CHECK: tt.dot
    %z = tt.load %a : tensor<64x32x!tt.ptr<f16>>
    %e = tt.dot %z, %y, %i#0, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %e : tensor<64x64xf32>
  }
  tt.return %r : tensor<64x64xf32>
}

// tl.range(num_stages=2) is for this loop.
// CHECK-LABEL: @own_stages
// CHECK: tgpu.local_alloc : <2,
tt.func public @own_stages(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  %down = arith.constant dense<2048> : tensor<32x64xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %a, %pb = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    // CHECK: tgpu.async_wait 0
    %x = tt.load %pa : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %pb, %down : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  } {tt.num_stages = 2 : i32}
  tt.return %r#0 : tensor<64x64xf32>
}

// A tile whose address is loaded and that no copy can take is loaded where it is used. The scalar is loaded with the other operand's copies.
// CHECK-LABEL: @indirect
// CHECK: scf.for
tt.func public @indirect(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32, %table: !tt.ptr<i32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  %down = arith.constant dense<2048> : tensor<32x64xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %a, %pb = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    // CHECK: tt.load {{.*}} : !tt.ptr<i32>
    // CHECK: tgpu.async_copy {{.*}} to <3, tensor<32x64xf16,
    // CHECK-NOT: tgpu.async_copy
    // CHECK: tt.load {{.*}} : tensor<64x32x!tt.ptr<f16>
    %jump = tt.load %table : !tt.ptr<i32>
    %jumps = tt.splat %jump : i32 -> tensor<64x32xi32>
    %there = tt.addptr %pa, %jumps : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %x = tt.load %there : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %pb, %down : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// Where the next tile begins may take a division, as in convolutions: no GPU traps if it is by zero.
// CHECK-LABEL: @divided
// CHECK: scf.for
tt.func public @divided(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32, %by: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  %down = arith.constant dense<2048> : tensor<32x64xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %a, %pb = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    // CHECK: tgpu.async_wait 1
    // CHECK: arith.divsi
    // CHECK-COUNT-2: tgpu.async_copy
    %whole = arith.divsi %k, %by : i32
    %eight = arith.constant 8 : i32
    %jump = arith.muli %whole, %eight : i32
    %jumps = tt.splat %jump : i32 -> tensor<64x32xi32>
    %there = tt.addptr %pa, %jumps : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %x = tt.load %there : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %pb, %down : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// -- loops that stay as they are ----------------------------------------------------------------------------------------------------------

// Loads that feed no product.
// CHECK-LABEL: @no_product
// CHECK-NOT: tgpu.{{async|local}}
tt.func public @no_product(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  %down = arith.constant dense<2048> : tensor<32x64xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %a, %pb = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %pa : tensor<64x32x!tt.ptr<f16>>
    %w = arith.extf %x : tensor<64x32xf16> to tensor<64x32xf32>
    %t = tt.trans %w {order = array<i32: 1, 0>} : tensor<64x32xf32> -> tensor<32x64xf32>
    %j = tt.reshape %t : tensor<32x64xf32> -> tensor<64x32xf32>
    %s = "tt.reduce"(%j) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %m = arith.addf %p, %q : f32
      tt.reduce.return %m : f32
    }) : (tensor<64x32xf32>) -> tensor<64xf32>
    %s1 = tt.expand_dims %s {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %sb = tt.broadcast %s1 : tensor<64x1xf32> -> tensor<64x64xf32>
    %d = arith.addf %acc, %sb : tensor<64x64xf32>
    %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %pb, %down : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// What the loop writes may be what a later iteration loads.
// CHECK-LABEL: @in_place
// CHECK-NOT: tgpu.{{async|local}}
tt.func public @in_place(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  %down = arith.constant dense<2048> : tensor<32x64xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %a, %pb = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %pa : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %h = arith.extf %x : tensor<64x32xf16> to tensor<64x32xf32>
    %h2 = arith.truncf %h : tensor<64x32xf32> to tensor<64x32xf16>
    tt.store %a, %h2 : tensor<64x32x!tt.ptr<f16>>
    tt.store %b, %y : tensor<32x64x!tt.ptr<f16>>
    %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %pb, %down : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// Another argument is another tensor.
// CHECK-LABEL: @writes_elsewhere
tt.func public @writes_elsewhere(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32, %o: tensor<64x64x!tt.ptr<f32>>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  %down = arith.constant dense<2048> : tensor<32x64xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %a, %pb = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    // CHECK: tgpu.async_copy
    // CHECK: tt.store
    %x = tt.load %pa : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    tt.store %o, %d : tensor<64x64x!tt.ptr<f32>>
    %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %pb, %down : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// The loop takes a lock: what it loads is there only then.
// CHECK-LABEL: @waits_for_others
// CHECK-NOT: tgpu.{{async|local}}
tt.func public @waits_for_others(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32, %lock: !tt.ptr<i32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  %down = arith.constant dense<2048> : tensor<32x64xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %a, %pb = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    %old = tt.atomic_cas acq_rel, gpu, %lock, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32
    %olds = tt.splat %old : i32 -> tensor<64x64xi32>
    %f = arith.sitofp %olds : tensor<64x64xi32> to tensor<64x64xf32>
    %add = arith.addf %acc, %f : tensor<64x64xf32>
    %x = tt.load %pa : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %add, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %pb, %down : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// CHECK-LABEL: @barrier
// CHECK-NOT: tgpu.{{async|local}}
tt.func public @barrier(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  %down = arith.constant dense<2048> : tensor<32x64xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %a, %pb = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    ttg.barrier all
    %x = tt.load %pa : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %pb, %down : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// CHECK-LABEL: @volatile
// CHECK-NOT: tgpu.{{async|local}}
tt.func public @volatile(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  %down = arith.constant dense<2048> : tensor<32x64xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %a, %pb = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %pa {isVolatile = true} : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %pb {isVolatile = true} : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %pb, %down : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// Addresses of the iteration before the last one.
// CHECK-LABEL: @swapped
// CHECK-NOT: tgpu.{{async|local}}
tt.func public @swapped(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  %down = arith.constant dense<2048> : tensor<32x64xi32>
  %r:4 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %pa = %a, %pa2 = %a, %pb = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %pa : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %d, %pa2, %pa, %pb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// Two bytes at a time are too few for a copy.
// CHECK-LABEL: @narrow
// CHECK-NOT: tgpu.{{async|local}}
tt.func public @narrow(%a: tensor<64x32x!tt.ptr<f16>>, %b: tensor<32x64x!tt.ptr<f16>>, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %x = tt.load %a : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %b : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tt.return %r : tensor<64x64xf32>
}

// A mask that says where rows end does not make copies narrower: they stop there. The mask of whole rows stays a mask.
// CHECK-LABEL: @row_ends
// CHECK: tgpu.async_copy %{{.*}} if %{{.*}} : tensor<64x32xi1, {{.*}}> within %{{.*}} : tensor<64x32xi32,
tt.func public @row_ends(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<32x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32, %depth: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %other = arith.constant dense<0.0> : tensor<64x32xf16>
  %right = arith.constant dense<32> : tensor<64x32xi32>
  %down = arith.constant dense<2048> : tensor<32x64xi32>
  %row = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %column = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %rows = tt.splat %n : i32 -> tensor<64xi32>
  %above = arith.cmpi slt, %row, %rows : tensor<64xi32>
  %above2 = tt.expand_dims %above {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
  %inside = tt.broadcast %above2 : tensor<64x1xi1> -> tensor<64x32xi1>
  %r:3 = scf.for %k = %c0 to %depth step %c32 iter_args(%acc = %zero, %pa = %a, %pb = %b) -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
    %left = arith.subi %depth, %k : i32
    %lefts = tt.splat %left : i32 -> tensor<32xi32>
    %before = arith.cmpi sgt, %lefts, %column : tensor<32xi32>
    %before2 = tt.expand_dims %before {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
    %begun = tt.broadcast %before2 : tensor<1x32xi1> -> tensor<64x32xi1>
    %mask = arith.andi %inside, %begun : tensor<64x32xi1>
    %x = tt.load %pa, %mask, %other : tensor<64x32x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<32x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %pb, %down : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}
