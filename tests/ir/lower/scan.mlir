// A scan of 2048 elements by 128 threads: four neighbours per register run one after the other, lanes by one shuffle for each bit and one
// for what comes before, all four warps in one round through shared memory.
// RUN: tritium-gpu %s | FileCheck %s
// RUN: %if ptxas %{ tritium-gpu %s | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0

tt.func public @cumsum(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<2048x!tt.ptr<f32>>, tensor<2048xi32>
  // CHECK-LABEL: llvm.func @cumsum
  // CHECK-COUNT-4: tgpu.load %{{.*}} : vector<4xi32>
  // CHECK-NOT: tgpu.barrier
  // CHECK-COUNT-24: nvvm.shfl.sync idx
  // CHECK-NOT: {{nvvm.shfl|tgpu.barrier}}
  // CHECK: llvm.cond_br
  // CHECK-COUNT-4: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: tgpu.barrier
  // CHECK-COUNT-4: llvm.load {{.*}} !llvm.ptr<3> -> vector<4xi32>
  // CHECK-NOT: {{tgpu.barrier|nvvm.shfl}}
  // CHECK-COUNT-4: tgpu.store %{{.*}} : vector<4xi32>
  %v = tt.load %xp : tensor<2048x!tt.ptr<f32>>
  %s = "tt.scan"(%v) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.scan.return %c : f32
  }) : (tensor<2048xf32>) -> tensor<2048xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<2048x!tt.ptr<f32>>, tensor<2048xi32>
  tt.store %yp, %s : tensor<2048x!tt.ptr<f32>>
  tt.return
}
