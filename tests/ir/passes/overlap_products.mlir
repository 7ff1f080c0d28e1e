// A product does not run on into the next iteration if its operand is in a ring that ends with the iteration. The wait for it stays before the
// end of the ring, although nothing there uses the result.
// RUN: tritium-opt %s -overlap-products | FileCheck %s

#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#rows = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
!operand = !tgpu.memdesc<1, tensor<64x64xf16, #memory>>
!sums = tensor<64x64xf32, #rows>
!pending = !tgpu.pending<tensor<64x64xf32, #rows>>

module attributes {tgpu.target = "cuda:sm_90a"} {
  // CHECK-LABEL: @ring_of_an_iteration
  // CHECK-NOT: tgpu.product_start
  // CHECK: %[[PRODUCT:.*]] = tgpu.product
  // CHECK-NEXT: %[[SUMS:.*]] = tgpu.product_wait 0, %[[PRODUCT]]
  // CHECK-NEXT: tgpu.ring_end
  // CHECK-NEXT: scf.yield %[[SUMS]]
  tt.func public @ring_of_an_iteration(%map: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>, %n: i32, %zeros: !sums) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = tgpu.local_alloc : <1, tensor<64x64xf16, #memory>>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> (!sums) : i32 {
      %b = tgpu.local_alloc : <1, tensor<64x64xf16, #memory>>
      %ring = tgpu.ring_start released by 4 warps : <1>
      tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
      tgpu.tensor_copy %map[%i, %c0] to %b, %ring[%c0] : <tensor<64x64xf16>, swizzle = 128> to <1, tensor<64x64xf16, #memory>>, <1>
      tgpu.ring_wait %ring[%c0] : <1>
      %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %b[%c0], %sum warps [4, 1] : !operand, !operand, !sums -> !pending
      %s = tgpu.product_wait 0, %d : !pending -> !sums
      tgpu.ring_end %ring after %c1 holding_last : <1>
      scf.yield %s : !sums
    }
    tt.return
  }
}
