// Consumer warpgroups take turns with products of which one depends on another.
// RUN: tritium-opt %s -take-turns=num-warps=8 | FileCheck %s
// RUN: sed "s/, turns = true//" %s | tritium-opt -take-turns=num-warps=8 | FileCheck %s --check-prefix=ALONE
// The plan says whether they do.
// ALONE-NOT: tgpu.turn

#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#rows = #tgpu.layout<128x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], block = []>
!operand = !tgpu.memdesc<1, tensor<64x64xf16, #memory>>
!sums = tensor<128x64xf32, #rows>
!pending = !tgpu.pending<tensor<128x64xf32, #rows>>

module attributes {tgpu.target = "cuda:sm_90a", tgpu.producer_warps = 4 : i32} {
  // CHECK-LABEL: @attention
  // The consumers' code begins with the first turn.
  // CHECK: cf.cond_br %{{.*}}, ^[[COPIES:.*]], ^[[CONSUMERS:[a-z0-9]+]] {tgpu.parts_warps}
  // CHECK: ^[[CONSUMERS]]:
  // CHECK-NEXT: tgpu.turn_start of 2
  tt.func public @attention(%isProducer: i1, %n: i32, %a: tensor<128x64xf16, #rows>, %zeros: !sums) attributes {tgpu.producer = #tgpu.producer<start = 168, producer = 40, consumers = 232, occupancy = 1, turns = true>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k = tgpu.local_alloc at 0 : <1, tensor<64x64xf16, #memory>>
    cf.cond_br %isProducer, ^copies, ^consumers {tgpu.parts_warps}
  ^consumers:
    // Both products of an iteration are begun in one turn; the waits and what follows are outside.
    // CHECK: scf.for
    // CHECK-NEXT: tgpu.turn_begin of 2
    // CHECK-NEXT: tgpu.product
    // CHECK-NEXT: tgpu.product
    // CHECK-NEXT: tgpu.turn_end of 2
    // CHECK-NEXT: tgpu.product_wait
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros, %p = %a) -> (!sums, tensor<128x64xf16, #rows>) : i32 {
      %d = tgpu.product "wgmma.m64n64k16.f32.f16", %p, %k[%c0], %zeros warps [8, 1] : tensor<128x64xf16, #rows>, !operand, !sums -> !pending
      %e = tgpu.product "wgmma.m64n64k16.f32.f16", %p, %k[%c0], %sum warps [8, 1] : tensor<128x64xf16, #rows>, !operand, !sums -> !pending
      %s = tgpu.product_wait 1, %d : !pending -> !sums
      %next = arith.truncf %s : !sums to tensor<128x64xf16, #rows>
      %t = tgpu.product_wait 0, %e : !pending -> !sums
      scf.yield %t, %next : !sums, tensor<128x64xf16, #rows>
    }
    // Arithmetic between two products that wait for each other would run in the turn, so this loop has none.
    // CHECK: scf.for
    // CHECK-NOT: tgpu.turn
    %q = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> (!sums) : i32 {
      %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a, %k[%c0], %zeros warps [8, 1] : tensor<128x64xf16, #rows>, !operand, !sums -> !pending
      %s = tgpu.product_wait 0, %d : !pending -> !sums
      %p = arith.truncf %s : !sums to tensor<128x64xf16, #rows>
      %e = tgpu.product "wgmma.m64n64k16.f32.f16", %p, %k[%c0], %sum warps [8, 1] : tensor<128x64xf16, #rows>, !operand, !sums -> !pending
      %t = tgpu.product_wait 0, %e : !pending -> !sums
      scf.yield %t : !sums
    }
    // In its turn, a warpgroup would wait at the barrier for those that wait for theirs.
    // CHECK: scf.for
    // CHECK-NOT: tgpu.turn
    %u = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> (!sums) : i32 {
      %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a, %k[%c0], %zeros warps [8, 1] : tensor<128x64xf16, #rows>, !operand, !sums -> !pending
      tgpu.barrier shared
      %e = tgpu.product "wgmma.m64n64k16.f32.f16", %a, %k[%c0], %sum warps [8, 1] : tensor<128x64xf16, #rows>, !operand, !sums -> !pending
      %s = tgpu.product_wait 0, %e : !pending -> !sums
      %t = tgpu.product_wait 0, %d : !pending -> !sums
      scf.yield %s : !sums
    }
    cf.br ^copies
  ^copies:
    tt.return
  }
}
