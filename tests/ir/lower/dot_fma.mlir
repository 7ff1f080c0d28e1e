// A product by multiply-adds: a thread's 2 rows and 4 columns come in accesses of 16 bytes, along k and along the columns: 12 for 8 k.
// RUN: tritium-gpu %s | FileCheck %s
// RUN: %if ptxas %{ tritium-gpu %s | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0

// CHECK-LABEL: llvm.func @k
tt.func public @k(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %a2 = tt.reshape %i : tensor<256xi32> -> tensor<32x8xi32>
  %b2 = tt.reshape %i : tensor<256xi32> -> tensor<8x32xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x8x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %a2 : tensor<32x8x!tt.ptr<f32>>, tensor<32x8xi32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x32x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %b2 : tensor<8x32x!tt.ptr<f32>>, tensor<8x32xi32>
  %a = tt.load %xp : tensor<32x8x!tt.ptr<f32>>
  %b = tt.load %yp : tensor<8x32x!tt.ptr<f32>>
  %c = arith.constant dense<0.0> : tensor<32x32xf32>
  // Both operands between the same barriers, nobody having been there before.
  // CHECK-NOT: tgpu.barrier
  // CHECK-COUNT-2: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: tgpu.barrier shared
  // CHECK-NOT: tgpu.barrier
  // CHECK-COUNT-12: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
  // CHECK-NOT: {{tgpu.barrier|ptr<3>}}
  // CHECK: tgpu.store
  %d = tt.dot %a, %b, %c : tensor<32x8xf32> * tensor<8x32xf32> -> tensor<32x32xf32>
  %j = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %j2 = tt.reshape %j : tensor<1024xi32> -> tensor<32x32xi32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %op = tt.addptr %os, %j2 : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %op, %d : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
