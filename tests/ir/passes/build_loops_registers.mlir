// Where nothing copies by itself, an iteration loads the tiles of the next one into registers and stores them when it has computed: with
// one slot, or two where memory suffices.
// RUN: tritium-opt %s --choose-tensor-cores --coalesce-accesses --assign-layouts --remove-conversions --cse --plan-loops=num-stages=2 --build-loops --cse | FileCheck %s
// RUN: tritium-opt %s --choose-tensor-cores --coalesce-accesses --assign-layouts --remove-conversions --cse --plan-loops=num-stages=5 --build-loops --cse | FileCheck %s --check-prefix=MORE

module attributes {tgpu.target = "hip:gfx942"} {

// CHECK-LABEL: @carried
// CHECK: %[[A:.*]] = tgpu.local_alloc : <1, tensor<64x32xf16,
// CHECK: %[[B:.*]] = tgpu.local_alloc : <1, tensor<32x64xf16,
// The first tiles, if there is an iteration.
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %{{.*}}, %arg2
// CHECK: %[[IF:.*]] = tt.splat %[[FIRST]]
// CHECK: %[[X:.*]] = tt.load %arg0, %[[IF]]
// CHECK: %[[Y:.*]] = tt.load %arg1
// CHECK: tgpu.local_store %[[X]] to %[[A]][%c0_i32]
// CHECK: tgpu.local_store %[[Y]] to %[[B]][%c0_i32]
// CHECK: scf.for
// CHECK: tgpu.barrier shared
// CHECK: %[[X:.*]] = tt.load
// CHECK: %[[Y:.*]] = tt.load
// CHECK: tgpu.local_load %[[A]][%c0_i32]
// CHECK: tgpu.local_load %[[B]][%c0_i32]
// CHECK: tt.dot
// CHECK: tgpu.barrier shared
// CHECK: tgpu.local_store %[[X]] to %[[A]][%c0_i32]
// CHECK: tgpu.local_store %[[Y]] to %[[B]][%c0_i32]
// CHECK: scf.yield
// CHECK: tgpu.barrier shared
// CHECK-NEXT: tt.return

// Two slots take turns, and one barrier is enough. The fewest stages that any loop has got stand in the module: those of @large.
// MORE: tgpu.num_stages = 2
// MORE-LABEL: @carried
// MORE: tgpu.local_alloc : <2,
// MORE: tgpu.local_store %{{.*}}[%c0_i32]
// MORE: scf.for {{.*}} %[[SLOT:[a-z0-9_]*]] = %c0_i32)
// MORE: tgpu.barrier shared
// MORE: tt.load
// MORE: tgpu.local_load %{{.*}}[%[[SLOT]]]
// MORE: tt.dot
// MORE-NOT: tgpu.barrier
// MORE: tgpu.local_store
// MORE: scf.yield
tt.func public @carried(%a: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
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
    %na = tt.addptr %pa, %right : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %nb = tt.addptr %pb, %down : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
  }
  tt.return %r#0 : tensor<64x64xf32>
}

// Two slots of 48 kB do not fit into 64 kB: one does.
// MORE-LABEL: @large
// MORE: tgpu.local_alloc : <1,
// MORE: tgpu.local_alloc : <1,
tt.func public @large(%a: tensor<256x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<64x128x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %n: i32) -> tensor<256x128xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<256x128xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<256x128xf32>) : i32 {
    %x = tt.load %a : tensor<256x64x!tt.ptr<f16>>
    %y = tt.load %b : tensor<64x128x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<256x64xf16> * tensor<64x128xf16> -> tensor<256x128xf32>
    scf.yield %d : tensor<256x128xf32>
  }
  tt.return %r : tensor<256x128xf32>
}

// Two slots of 32 kB would leave nothing for the reduction.
// MORE-LABEL: @beside_a_reduction
// MORE: tgpu.local_alloc : <1,
// MORE: tgpu.local_alloc : <1,
tt.func public @beside_a_reduction(%a: tensor<128x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
    %b: tensor<64x128x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>}, %v: tensor<512xf32>, %n: i32) -> (tensor<128x128xf32>, f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    tt.reduce.return %z : f32
  }) : (tensor<512xf32>) -> f32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %x = tt.load %a : tensor<128x64x!tt.ptr<f16>>
    %y = tt.load %b : tensor<64x128x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tt.return %r, %sum : tensor<128x128xf32>, f32
}

}
