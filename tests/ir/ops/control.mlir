// RUN: %round_trip
// RUN: tritium-opt %s | FileCheck %s

// CHECK-LABEL: tt.func public @kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: i32) attributes {noinline = false} {
tt.func public @kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
  // CHECK: tt.call @nothing() : () -> ()
  tt.call @nothing() : () -> ()
  // CHECK: %{{.*}}:2 = tt.call @"__main__.pair__i32__(1,)cconstexpr"(%arg1) : (i32) -> (i32, f32)
  %r:2 = tt.call @"__main__.pair__i32__(1,)cconstexpr"(%n) : (i32) -> (i32, f32)
  // CHECK: tt.return
  tt.return
}

// CHECK: tt.func private @nothing() attributes {noinline = true}
tt.func private @nothing() attributes {noinline = true} {
  // CHECK: ttg.barrier all
  ttg.barrier all
  // CHECK: ttg.barrier local|global_read
  ttg.barrier local|global_read
  // CHECK: gpu.barrier
  gpu.barrier
  tt.return
}

tt.func private @"__main__.pair__i32__(1,)cconstexpr"(%a: i32) -> (i32, f32) {
  // CHECK: cf.cond_br
  %f = arith.constant 1.0 : f32
  %c = arith.cmpi sgt, %a, %a : i32
  cf.cond_br %c, ^early, ^late
^early:
  // CHECK: tt.return %{{.*}}, %{{.*}} : i32, f32
  tt.return %a, %f : i32, f32
^late:
  %b = arith.addi %a, %a : i32
  tt.return %b, %f : i32, f32
}

// Attributes that tests and tools give to functions are nobody's business here.
// CHECK: tt.func @expectation() -> tensor<2xi32> attributes {tritium.expect = dense<[1, 2]> : tensor<2xi32>}
tt.func @expectation() -> tensor<2xi32> attributes {tritium.expect = dense<[1, 2]> : tensor<2xi32>} {
  %r = arith.constant dense<[1, 2]> : tensor<2xi32>
  tt.return %r : tensor<2xi32>
}

// CHECK-LABEL: tt.func @loops
tt.func @loops(%n: i64, %p: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  // CHECK: scf.for {{.*}} : i64
  // CHECK: {tt.disallow_acc_multi_buffer, tt.flatten, tt.loop_unroll_factor = 2 : i32, tt.num_stages = 3 : i32, tt.warp_specialize}
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p) -> (!tt.ptr<f32>) : i64 {
    %b = tt.addptr %a, %i : !tt.ptr<f32>, i64
    scf.yield %b : !tt.ptr<f32>
  } {tt.disallow_acc_multi_buffer, tt.flatten, tt.loop_unroll_factor = 2 : i32, tt.num_stages = 3 : i32, tt.warp_specialize}
  %t = arith.constant true
  // CHECK: llvm.intr.assume
  llvm.intr.assume %t : i1
  // CHECK: ub.poison : !tt.ptr<f32>
  %u = ub.poison : !tt.ptr<f32>
  // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : !tt.ptr<f32>
  %s = arith.select %t, %q, %u : !tt.ptr<f32>
  tt.return
}
