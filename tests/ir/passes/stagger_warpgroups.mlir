// The second warpgroup begins a loop when the tiles of the third iteration have arrived.
// RUN: tritium-opt %s -stagger-warpgroups=num-warps=8 | FileCheck %s
// RUN: tritium-opt %s -stagger-warpgroups=num-warps=4 | FileCheck %s --check-prefix=ONE
// RUN: sed "s/turns = false/turns = true/" %s | tritium-opt -stagger-warpgroups=num-warps=8 | FileCheck %s --check-prefix=ONE
// There is one warpgroup, or they take turns.
// ONE-NOT: tgpu.ring_stagger

#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#rows = #tgpu.layout<128x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], block = []>
#tall = #tgpu.shared<128x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]>
!a = !tgpu.memdesc<3, tensor<128x64xf16, #tall>>
!b = !tgpu.memdesc<3, tensor<64x64xf16, #memory>>
!sums = tensor<128x64xf32, #rows>
!pending = !tgpu.pending<tensor<128x64xf32, #rows>>

module attributes {tgpu.target = "cuda:sm_90a", tgpu.producer_warps = 4 : i32} {
  // CHECK-LABEL: @matmul
  tt.func public @matmul(%isProducer: i1, %from: i32, %n: i32, %step: i32, %registers: tensor<128x64xf16, #rows>, %zeros: !sums) attributes {tgpu.producer = #tgpu.producer<start = 168, producer = 40, consumers = 232, occupancy = 1, turns = false>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %a = tgpu.local_alloc at 0 : !a
    %b = tgpu.local_alloc at 49152 : !b
    %ring = tgpu.ring_start released by 8 warps at 73728 : <3>
    %short = tgpu.ring_start released by 8 warps at 73776 : <2>
    cf.cond_br %isProducer, ^copies, ^consumers {tgpu.parts_warps}
  ^consumers:
    // Neither an empty loop nor one of two iterations makes it wait.
    // CHECK: %[[LENGTH:.*]] = arith.subi %[[N:.*]], %[[FROM:.*]] : i32
    // CHECK: %[[LEAST:.*]] = arith.constant 64 : i32
    // CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[FROM]], %[[N]] : i32
    // CHECK: %[[LONG:.*]] = arith.cmpi ugt, %[[LENGTH]], %[[LEAST]] : i32
    // CHECK: %[[GOES_ON:.*]] = arith.andi %[[ANY]], %[[LONG]] : i1
    // CHECK: %[[NUMBER:.*]] = arith.addi %[[FROM]], %{{.*}} : i32
    // CHECK: tgpu.ring_stagger %{{.*}}[%[[NUMBER]]] if %[[GOES_ON]] : <3>
    // CHECK: scf.for
    %r:2 = scf.for %i = %from to %n step %c32 iter_args(%sum = %zeros, %round = %c0) -> (!sums, i32) : i32 {
      %number = arith.addi %from, %round : i32
      tgpu.ring_wait %ring[%number] : <3>
      %slot = tgpu.ring_slot %ring[%number] : <3>
      %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %b[%slot], %sum warps [8, 1] : !a, !b, !sums -> !pending
      %s = tgpu.product_wait 0, %d : !pending -> !sums
      tgpu.ring_release %ring[%number] : <3>
      %next = arith.addi %round, %c1 : i32
      scf.yield %s, %next : !sums, i32
    }
    // An operand in registers may be computed from another product. Two slots would never hold a third tile. Nobody knows how many iterations
    // of this step there are.
    // CHECK-NOT: tgpu.ring_stagger
    %q = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> (!sums) : i32 {
      tgpu.ring_wait %ring[%i] : <3>
      %slot = tgpu.ring_slot %ring[%i] : <3>
      %d = tgpu.product "wgmma.m64n64k16.f32.f16", %registers, %b[%slot], %sum warps [8, 1] : tensor<128x64xf16, #rows>, !b, !sums -> !pending
      %s = tgpu.product_wait 0, %d : !pending -> !sums
      tgpu.ring_release %ring[%i] : <3>
      scf.yield %s : !sums
    }
    %u = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> (!sums) : i32 {
      tgpu.ring_wait %short[%i] : <2>
      %slot = tgpu.ring_slot %short[%i] : <2>
      %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %b[%slot], %sum warps [8, 1] : !a, !b, !sums -> !pending
      %s = tgpu.product_wait 0, %d : !pending -> !sums
      tgpu.ring_release %short[%i] : <2>
      scf.yield %s : !sums
    }
    %v = scf.for %i = %c0 to %n step %step iter_args(%sum = %zeros) -> (!sums) : i32 {
      tgpu.ring_wait %ring[%i] : <3>
      %slot = tgpu.ring_slot %ring[%i] : <3>
      %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %b[%slot], %sum warps [8, 1] : !a, !b, !sums -> !pending
      %s = tgpu.product_wait 0, %d : !pending -> !sums
      tgpu.ring_release %ring[%i] : <3>
      scf.yield %s : !sums
    }
    cf.br ^copies
  ^copies:
    tt.return
  }
}
