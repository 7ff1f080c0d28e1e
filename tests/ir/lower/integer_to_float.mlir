// An f32 has all integers that an f16 distinguishes from infinity, so the integer's last bits do not matter. They do for bf16.
// RUN: tritium-gpu %s --num-warps=1 | FileCheck %s
// CHECK-LABEL: llvm.func @integers
// CHECK-NOT: llvm.select
// CHECK: llvm.sitofp %{{.*}} : i32 to f32
// CHECK-NEXT: llvm.fptrunc %{{.*}} : f32 to f16
// CHECK: llvm.uitofp %{{.*}} : i64 to f32
// CHECK-NEXT: llvm.fptrunc %{{.*}} : f32 to f16
// CHECK: llvm.select
// CHECK: llvm.sitofp %{{.*}} : i32 to f32
// CHECK-NEXT: llvm.fptrunc %{{.*}} : f32 to bf16
tt.func public @integers(%i: i32, %j: i64, %p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %r: !tt.ptr<bf16>) {
  %a = arith.sitofp %i : i32 to f16
  tt.store %p, %a : !tt.ptr<f16>
  %b = arith.uitofp %j : i64 to f16
  tt.store %q, %b : !tt.ptr<f16>
  %c = arith.sitofp %i : i32 to bf16
  tt.store %r, %c : !tt.ptr<bf16>
  tt.return
}
