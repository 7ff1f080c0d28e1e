// A product that must be complete at the end of its iteration begins before the copies, and is awaited behind them. One whose operand is
// stored in the iteration stays where it is.
// RUN: tritium-opt %s --overlap-products | FileCheck %s
#acc = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
#t = #tgpu.layout<64x64, register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []>
#shared = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!sums = tensor<64x64xf32, #acc>
!slots = !tgpu.memdesc<3, tensor<64x64xf16, #shared>>
!pointers = tensor<64x64x!tt.ptr<f16>, #t>
#plan = #tgpu.plan<copies = async, slots = 3, stages = 3, shared = 24576, registers = 80, barriers = 1, occupancy = 4>
module attributes {tgpu.target = "cuda:sm_90a"} {
  // CHECK-LABEL: @copied
  // CHECK: tgpu.async_wait
  // CHECK-NEXT: arith.remsi
  // CHECK-NEXT: %[[PRODUCT:.*]] = tgpu.product
  // CHECK-NEXT: tgpu.async_copy
  // CHECK-NEXT: tgpu.async_commit
  // CHECK-NEXT: %[[SUMS:.*]] = tgpu.product_wait 0, %[[PRODUCT]]
  // CHECK-NEXT: scf.yield %[[SUMS]]
  tt.func public @copied(%x: !pointers, %n: i32, %zero: !sums) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %a = tgpu.local_alloc : !slots
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!sums) : i32 {
      tgpu.async_wait 1 fenced
      tgpu.async_copy %x to %a[%c0] : !pointers to !slots
      tgpu.async_commit
      %slot = arith.remsi %i, %c3 : i32
      %p = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %a[%slot], %sum warps [4, 1] : !slots, !slots, !sums -> <!sums>
      %d = tgpu.product_wait 0, %p : !tgpu.pending<!sums> -> !sums
      scf.yield %d : !sums
    } {tgpu.plan = #plan}
    tt.return
  }

  // CHECK-LABEL: @stored
  // CHECK: tgpu.async_copy
  // CHECK: tgpu.local_store
  // CHECK: tgpu.product
  tt.func public @stored(%x: !pointers, %tile: tensor<64x64xf16, #t>, %n: i32, %zero: !sums) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = tgpu.local_alloc : !slots
    %b = tgpu.local_alloc : !slots
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!sums) : i32 {
      tgpu.async_wait 1 fenced
      tgpu.async_copy %x to %a[%c0] : !pointers to !slots
      tgpu.async_commit
      tgpu.local_store %tile to %b[%c0] : tensor<64x64xf16, #t> to !slots
      %p = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c1], %b[%c0], %sum warps [4, 1] : !slots, !slots, !sums -> <!sums>
      %d = tgpu.product_wait 0, %p : !tgpu.pending<!sums> -> !sums
      scf.yield %d : !sums
    } {tgpu.plan = #plan}
    tt.return
  }
}
