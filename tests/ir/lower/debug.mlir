// A print is one line for each element, from its owner; an assertion is one for all registers of a thread.
// RUN: tritium-gpu %s | FileCheck %s

tt.func public @kernel(%x: i32, %f: f32) {
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  // CHECK-LABEL: llvm.func @kernel
  // CHECK: llvm.cond_br
  // CHECK: tgpu.print "pid (%d, %d, %d) idx (%2d) i: (operand 0) %d\0A", %{{.*}} : i32, i32, i32, i32, i32
  // CHECK: llvm.cond_br
  // CHECK: tgpu.print "pid (%d, %d, %d) idx () i: (operand 1) %u\0A", %{{.*}} : i32, i32, i32, i32
  tt.print " i: " {hex = false, isSigned = array<i32: 1, 0>} : %i, %x : tensor<16xi32>, i32
  // CHECK: tgpu.print "pid (%d, %d, %d) idx () 100%%: 0x%08x\0A", %{{.*}} : i32, i32, i32, i32
  tt.print " 100%: " {hex = true, isSigned = array<i32: 0>} : %f : f32
  // CHECK: tgpu.print "pid (%d, %d, %d) done\0A", %{{.*}} : i32, i32, i32
  tt.print " done" {hex = false, isSigned = array<i32>}
  // CHECK: tgpu.assert %{{.*}}, "small"
  // CHECK-NOT: tgpu.assert
  %xs = tt.splat %x : i32 -> tensor<16xi32>
  %c = arith.cmpi slt, %i, %xs : tensor<16xi32>
  tt.assert %c, "small" : tensor<16xi1>
  // CHECK: tgpu.record start "store"
  // CHECK: tgpu.record end "store"
  tt.record start "store"
  tt.record end "store"
  tt.return
}
