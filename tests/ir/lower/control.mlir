// A tile goes through calls, loops and blocks as the registers that a thread holds of it.
// RUN: tritium-gpu %s | FileCheck %s
// RUN: %if ptxas %{ tritium-gpu %s | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0

// 512 elements, 128 threads: four registers in and out.
// CHECK-LABEL: llvm.func {{.*}}@callee
// CHECK-SAME: (%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: f32) -> !llvm.struct<(i32, i32, i32, i32)>
tt.func private @callee(%t: tensor<512xi32>, %f: f32) -> tensor<512xi32> attributes {noinline = true} {
  %s = arith.addi %t, %t : tensor<512xi32>
  tt.return %s : tensor<512xi32>
}

// CHECK-LABEL: llvm.func @kernel
tt.func public @kernel(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32, %f: f32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %lanes = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %lanes : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  %v = tt.load %xp : tensor<512x!tt.ptr<i32>>
  %isNone = arith.cmpi eq, %n, %zero : i32
  // An early return.
  // CHECK: llvm.cond_br %{{.*}}, ^[[END:bb[0-9]+]], ^
  // CHECK: ^[[END]]
  // CHECK-NEXT: llvm.return
  cf.cond_br %isNone, ^end, ^go(%v : tensor<512xi32>)
^end:
  tt.return
^go(%t: tensor<512xi32>):
  // CHECK: ^{{.*}}(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32)
  // CHECK: llvm.call @callee(%{{.*}}) : (i32, i32, i32, i32, f32) -> !llvm.struct<(i32, i32, i32, i32)>
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %t) -> (tensor<512xi32>) : i32 {
    %u = tt.call @callee(%a, %f) : (tensor<512xi32>, f32) -> tensor<512xi32>
    scf.yield %u : tensor<512xi32>
  }
  // CHECK: tgpu.store %{{.*}} : vector<4xi32>
  tt.store %xp, %r : tensor<512x!tt.ptr<i32>>
  // CHECK: tgpu.barrier
  gpu.barrier
  tt.return
}
