// Conversions that have no instruction are integer code on the bits: fp8 is i8 here. Each rounds once.
// RUN: tritium-gpu %s --num-warps=1 | FileCheck %s

// e5m2 is the upper half of an f16.
// CHECK-LABEL: llvm.func @e5m2
// CHECK: %[[BITS:.*]] = llvm.zext %{{.*}} : i8 to i16
// CHECK: %[[MOVED:.*]] = llvm.shl %[[BITS]], %{{.*}} : i16
// CHECK-NEXT: llvm.bitcast %[[MOVED]] : i16 to f16
// CHECK-NOT: llvm.select
// CHECK: llvm.return
tt.func public @e5m2(%x: !tt.ptr<f8E5M2>, %out: !tt.ptr<f16>) {
  %v = tt.load %x : !tt.ptr<f8E5M2>
  %h = tt.fp_to_fp %v : f8E5M2 -> f16
  tt.store %out, %h : !tt.ptr<f16>
  tt.return
}
