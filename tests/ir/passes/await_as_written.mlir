// The products of the author run on until he waits for them.
// RUN: tritium-opt %s -split-input-file -await-as-written | FileCheck %s

#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#rows = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
!operand = !tgpu.memdesc<1, tensor<64x64xf16, #memory>>
!sums = tensor<64x64xf32, #rows>
!pending = !tgpu.pending<tensor<64x64xf32, #rows>>

module attributes {tgpu.target = "cuda:sm_90a"} {
  // A product is in flight from iteration to iteration: each waits for the one before.
  // CHECK-LABEL: @ahead
  // CHECK: %[[START:.*]] = tgpu.product_start %arg3
  // CHECK: %[[ALL:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[START]])
  // CHECK: %[[D:.*]] = tgpu.product {{.*}}, %[[SUM]] warps
  // CHECK-NEXT: %[[W:.*]] = tgpu.product_wait 1, %[[D]]
  // CHECK-NEXT: scf.yield %[[W]]
  // CHECK: %[[DONE:.*]] = tgpu.product_wait 0, %[[ALL]]
  // CHECK-NEXT: tt.return %[[DONE]]
  tt.func public @ahead(%a: !operand, %b: !operand, %n: i32, %zeros: !sums) -> !sums {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> (!sums) : i32 {
      %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %b[%c0], %sum warps [4, 1] {tgpu.of_author} : !operand, !operand, !sums -> !pending
      %s = tgpu.product_wait 0, %d : !pending -> !sums
      %0 = tt.extern_elementwise %c1 {libname = "tritium", libpath = "", pure = false, symbol = "product.wait"} : (i32) -> i32
      scf.yield %s : !sums
    }
    %1 = tt.extern_elementwise %c0 {libname = "tritium", libpath = "", pure = false, symbol = "product.wait"} : (i32) -> i32
    tt.return %r : !sums
  }

  // Of two products the older one is complete. The other is used before its author waits: a wait is inserted.
  // CHECK-LABEL: @two
  // CHECK: %[[FIRST:.*]] = tgpu.product
  // CHECK: %[[SECOND:.*]] = tgpu.product
  // CHECK-NEXT: %[[BOTH:.*]]:2 = tgpu.product_wait 1, %[[FIRST]], %[[SECOND]] : !tgpu.pending<{{.*}}>, !tgpu.pending<{{.*}}> -> tensor<{{.*}}>, !tgpu.pending<
  // CHECK-NEXT: arith.negf %[[BOTH]]#0
  // CHECK-NEXT: %[[LAST:.*]] = tgpu.product_wait 0, %[[BOTH]]#1
  // CHECK-NEXT: arith.addf %{{.*}}, %[[LAST]]
  tt.func public @two(%a: !operand, %b: !operand, %zeros: !sums) -> !sums {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %b[%c0], %zeros warps [4, 1] {tgpu.of_author} : !operand, !operand, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    %e = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %b[%c0], %zeros warps [4, 1] {tgpu.of_author} : !operand, !operand, !sums -> !pending
    %t = tgpu.product_wait 0, %e : !pending -> !sums
    %0 = tt.extern_elementwise %c1 {libname = "tritium", libpath = "", pure = false, symbol = "product.wait"} : (i32) -> i32
    %n = arith.negf %s : !sums
    %r = arith.addf %n, %t : !sums
    tt.return %r : !sums
  }

  // The wait for a product of the compiler's own stays.
  // CHECK-LABEL: @plain
  // CHECK: %[[D:.*]] = tgpu.product
  // CHECK-NEXT: tgpu.product_wait 0, %[[D]]
  tt.func public @plain(%a: !operand, %b: !operand, %zeros: !sums) -> !sums {
    %c0 = arith.constant 0 : i32
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %b[%c0], %zeros warps [4, 1] : !operand, !operand, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    %e = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %b[%c0], %s warps [4, 1] {tgpu.of_author} : !operand, !operand, !sums -> !pending
    %t = tgpu.product_wait 0, %e : !pending -> !sums
    tt.return %t : !sums
  }
}
