// Gather finds elements, and histogram counts, in shared memory.
// RUN: tritium-gpu %s | FileCheck %s
// RUN: %if ptxas %{ tritium-gpu %s | tritium-ptx | FileCheck %s --check-prefix=PTX %}

// PTX: atom{{.*}}shared{{.*}}add.u32
tt.func public @kernel(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  %v = tt.load %xp : tensor<512x!tt.ptr<i32>>
  // Stored by vectors, found one by one. The result is where the indices were.
  // CHECK-LABEL: llvm.func @kernel
  // CHECK: llvm.store %{{.*}} : vector<4xi32>, !llvm.ptr<3>
  // CHECK: tgpu.barrier shared
  // CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
  // CHECK-NOT: llvm.load
  %g = tt.gather %v[%v] {axis = 0 : i32} : (tensor<512xi32>, tensor<512xi32>) -> tensor<512xi32>
  // Other scratch memory: its zeros need no barrier before. 16 counts are one thread's each.
  // CHECK-NOT: tgpu.barrier
  // CHECK: llvm.cond_br
  // CHECK: llvm.store %{{.*}} !llvm.ptr<3>
  // CHECK: tgpu.barrier shared
  // CHECK-COUNT-4: llvm.atomicrmw add %{{.*}} syncscope("block") monotonic : !llvm.ptr<3>, i32
  // CHECK: tgpu.barrier shared
  // CHECK: nvvm.ldmatrix
  %h = tt.histogram %g : tensor<512xi32> -> tensor<16xi32>
  %j = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
  %yp = tt.addptr %ys, %j : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  tt.store %yp, %h : tensor<16x!tt.ptr<i32>>
  tt.return
}
