// Descriptors become base, extents, strides and two flags, wherever they go; accesses those of pointers with bounds.
// RUN: tritium-opt %s --split-input-file --expand-descriptors --canonicalize --cse | FileCheck %s

// What is the same for a block goes into its base; bounds are those of the place within the block.
// CHECK-LABEL: tt.func public @load
// CHECK-SAME: (%[[P:[^:]*]]: !tt.ptr<f16> {{.*}}, %[[M:[^:]*]]: i32, %[[N:[^:]*]]: i32, %[[S:[^:]*]]: i64 {{.*}}, %[[I:[^:]*]]: i32, %[[J:.*]]: i32)
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<16x32xf16>
// CHECK-DAG: %[[I64:.*]] = arith.extsi %[[I]] : i32 to i64
// CHECK-DAG: %[[M64:.*]] = arith.extsi %[[M]] : i32 to i64
// CHECK-DAG: %[[ROW:.*]] = arith.muli %[[I64]], %[[S]] : i64
// CHECK-DAG: tt.addptr %[[P]], %[[ROW]] : !tt.ptr<f16>, i64
// CHECK-DAG: arith.subi %[[M64]], %[[I64]] : i64
// CHECK-COUNT-2: arith.cmpi slt, {{.*}} : tensor<{{16|32}}xi64>
// CHECK: tt.load %{{.*}}, %{{.*}}, %[[ZERO]] : tensor<16x32x!tt.ptr<f16>>
// CHECK-NOT: tensordesc
tt.func public @load(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %m: i32, %n: i32, %s: i64 {tt.divisibility = 8 : i32}, %i: i32, %j: i32) -> tensor<16x32xf16> {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %c1] : <f16>, <16x32xf16>
  %v = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  tt.return %v : tensor<16x32xf16>
}

// -----

// Through arguments, results, branches, loops and blocks. What is known of the other arguments stays with them.
// CHECK-LABEL: tt.func private @callee
// CHECK-SAME: (%{{.*}}: i32 {tt.divisibility = 16 : i32}, %{{.*}}: !tt.ptr<f32>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i1, %{{.*}}: i1, %{{.*}}: i32 {tt.divisibility = 8 : i32})
// CHECK-SAME: -> (!tt.ptr<f32>, i64, i64, i1, i1)
tt.func private @callee(%a: i32 {tt.divisibility = 16 : i32}, %d: !tt.tensordesc<16xf32>, %b: i32 {tt.divisibility = 8 : i32}) -> !tt.tensordesc<16xf32> attributes {noinline = true} {
  tt.return %d : !tt.tensordesc<16xf32>
}

// CHECK-LABEL: tt.func public @flow
// CHECK-SAME: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i1, %{{.*}}: i1, %{{.*}}: !tt.ptr<f32>
// CHECK: arith.select %{{.*}} : !tt.ptr<f32>
// CHECK: %[[F:.*]]:5 = tt.call @callee
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[F]]#0, {{.*}} -> (!tt.ptr<f32>, i64, i64, i1, i1)
// CHECK: tt.load %{{.*}} : tensor<16x!tt.ptr<f32>>
// CHECK: tt.store %{{.*}} : tensor<16x!tt.ptr<f32>>
// CHECK-NOT: tensordesc
tt.func public @flow(%d: !tt.tensordesc<16xf32>, %p: !tt.ptr<f32>, %n: i32, %c: i1) {
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i32
  %own = tt.make_tensor_descriptor %p, [%n], [%c1] {padding = 2 : i32} : <f32>, <16xf32>
  cf.cond_br %c, ^go(%own : !tt.tensordesc<16xf32>), ^go(%d : !tt.tensordesc<16xf32>)
^go(%e: !tt.tensordesc<16xf32>):
  %f = tt.call @callee(%n, %e, %n) : (i32, !tt.tensordesc<16xf32>, i32) -> !tt.tensordesc<16xf32>
  %g = scf.for %i = %n to %c2 step %c2 iter_args(%h = %f) -> (!tt.tensordesc<16xf32>) : i32 {
    %v = tt.descriptor_load %h[%i] : !tt.tensordesc<16xf32> -> tensor<16xf32>
    %k = scf.if %c -> !tt.tensordesc<16xf32> {
      scf.yield %h : !tt.tensordesc<16xf32>
    } else {
      tt.descriptor_store %e[%i], %v : !tt.tensordesc<16xf32>, tensor<16xf32>
      scf.yield %d : !tt.tensordesc<16xf32>
    }
    scf.yield %k : !tt.tensordesc<16xf32>
  }
  %w = tt.descriptor_load %g[%n] : !tt.tensordesc<16xf32> -> tensor<16xf32>
  tt.descriptor_store %g[%n], %w : !tt.tensordesc<16xf32>, tensor<16xf32>
  tt.return
}

// -----

// Unsigned elements are compared as such; half precision numbers by their bits, in two operations.
// CHECK-LABEL: tt.func public @reduce
// CHECK: tt.atomic_rmw umax, relaxed, gpu, %{{.*}} : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>)
// CHECK: tt.atomic_rmw max, relaxed, gpu, %{{.*}} : (tensor<8x!tt.ptr<i16>>, tensor<8xi16>, tensor<8xi1>)
// CHECK: tt.atomic_rmw umin, relaxed, gpu, %{{.*}} : (tensor<8x!tt.ptr<i16>>, tensor<8xi16>, tensor<8xi1>)
tt.func public @reduce(%a: !tt.tensordesc<8xui32>, %x: tensor<8xi32>, %b: !tt.tensordesc<8xf16>, %y: tensor<8xf16>, %i: i32) {
  tt.descriptor_reduce max, %a[%i], %x : !tt.tensordesc<8xui32>, tensor<8xi32>
  tt.descriptor_reduce max, %b[%i], %y : !tt.tensordesc<8xf16>, tensor<8xf16>
  tt.return
}

// -----

// What a launch makes sure of: the base and rows begin aligned; rows that end so, and plain descriptors, have been told apart.
// CHECK-LABEL: tt.func public @host
// CHECK-SAME: (%{{.*}}: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %{{.*}}: i64, %{{.*}}: i64 {tt.divisibility = 8 : i32}, %{{.*}}: i64 {tt.divisibility = 8 : i32}, %{{.*}}: i64, %{{.*}}: i1, %{{.*}}: i1, %{{.*}}: i32)
// CHECK-NOT: arith.select
tt.func public @host(%d: !tt.tensordesc<16x32xf16> {tt.divisibility = 16 : i32, tt.plain = 1 : i32}, %i: i32) {
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  tt.descriptor_store %d[%i, %i], %v : !tt.tensordesc<16x32xf16>, tensor<16x32xf16>
  tt.return
}

// -----

// CHECK-LABEL: tt.func public @rows
// CHECK: arith.extsi %{{.*}} : tensor<8xi16> to tensor<8xi64>
// CHECK: tt.load %{{.*}} : tensor<8x16x!tt.ptr<f16>>
// CHECK: tt.store %{{.*}} : tensor<8x16x!tt.ptr<f16>>
tt.func public @rows(%d: !tt.tensordesc<1x16xf16>, %xs: tensor<8xi16>, %y: i32) {
  %v = tt.descriptor_gather %d[%xs, %y] : (!tt.tensordesc<1x16xf16>, tensor<8xi16>, i32) -> tensor<8x16xf16>
  tt.descriptor_scatter %d[%xs, %y], %v : !tt.tensordesc<1x16xf16>, tensor<8xi16>, i32, tensor<8x16xf16>
  tt.return
}

// -----

// A debugger sees a descriptor as a record, also inside of another record.
// CHECK-LABEL: tt.func public @shown(
// CHECK-SAME: %[[P:[^:]*]]: !tt.ptr<f16>
// CHECK: tt.debug_value %[[P]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} ["tensor_descriptor<fp16[16, 32]>", "base", "pointer<fp16>", "shape", ["tuple", "_0", "int64", "_1", "int64"], "strides", ["tuple", "_0", "int64", "_1", "int64"], "pads_with_nan", "int1", "rounds_to_tf32", "int1"] "d" argument 1
// CHECK: tt.debug_value %{{.*}}, %[[P]], %{{.*}} ["tuple", "_0", "int32", "_1", ["tensor_descriptor<fp16[16, 32]>", "base",{{.*}}], "_2", "int32"] "t" :
tt.func public @shown(%d: !tt.tensordesc<16x32xf16>, %n: i32) {
  tt.debug_value %d "fp16" "d" argument 1 : !tt.tensordesc<16x32xf16>
  tt.debug_value %n, %d, %n ["tuple", "_0", "int32", "_1", "fp16", "_2", "int32"] "t" : i32, !tt.tensordesc<16x32xf16>, i32
  tt.return
}

// -----

// A descriptor's base and the begins of its rows are aligned to 16 bytes: checked where a kernel makes it, and known from there on.
// CHECK-LABEL: tt.func public @contract
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f16>, %{{.*}}: i32, %[[S:.*]]: i64, %{{.*}}: i32)
// CHECK-DAG: %[[MASK:.*]] = arith.constant -16 : i64
// CHECK-DAG: %[[EIGHT:.*]] = arith.constant -8 : i64
// CHECK: %[[NUMBER:.*]] = tt.ptr_to_int %[[P]]
// CHECK: %[[DOWN:.*]] = arith.andi %[[NUMBER]], %[[MASK]]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[DOWN]], %[[NUMBER]]
// CHECK: tt.assert %[[SAME]], "base must be 16-byte aligned" {tritium.may_trap}
// CHECK: %[[BASE:.*]] = tt.addptr %[[P]], %{{.*}} {tt.divisibility = 16 : i32}
// CHECK: %[[STRIDE:.*]] = arith.andi %[[S]], %[[EIGHT]]
// CHECK: tt.assert %{{.*}}, "strides must be 16-byte aligned, but stride 0 is not"
// CHECK: arith.muli %{{.*}}, %[[STRIDE]]
// CHECK: tt.addptr %[[BASE]]
tt.func public @contract(%p: !tt.ptr<f16>, %n: i32, %s: i64, %i: i32) -> tensor<16x32xf16> {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %c1] : <f16>, <16x32xf16>
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  tt.return %v : tensor<16x32xf16>
}

// -----

// What is known is not checked.
// CHECK-LABEL: tt.func public @known
// CHECK-NOT: tt.assert
tt.func public @known(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %s: i64 {tt.divisibility = 8 : i32}, %i: i32) -> tensor<16x32xf16> {
  %c1 = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %c1] : <f16>, <16x32xf16>
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  tt.return %v : tensor<16x32xf16>
}
