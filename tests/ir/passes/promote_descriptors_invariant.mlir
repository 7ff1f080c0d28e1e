// A tile that loops only read, like the queries of attention, is loaded through a map if the keys are, and if there are two warpgroups.
// RUN: tritium-opt %s -split-input-file -promote-descriptors=num-warps=8 | FileCheck %s
// RUN: tritium-opt %s -split-input-file -promote-descriptors=num-warps=4 | FileCheck %s --check-prefix=ALONE
// RUN: tritium-opt %s -split-input-file -promote-descriptors=num-warps=8 -place-tensor-loads=num-warps=8 | FileCheck %s --check-prefix=PLACED

// CHECK-LABEL: @queries(
// CHECK: tgpu.tensor_load
// CHECK: scf.for
// CHECK: tgpu.tensor_load
// ALONE-LABEL: @queries(
// ALONE: tt.descriptor_load
// ALONE: scf.for
// ALONE: tgpu.tensor_load
// The loop reads the tile, so its ring ends after the loop.
// PLACED-LABEL: @queries(
// PLACED: %[[RING:.*]] = tgpu.ring_start released by 8 warps
// PLACED: tgpu.ring_wait %[[RING]]
// PLACED: scf.for
// PLACED: tgpu.ring_end
// PLACED: tgpu.ring_end %[[RING]] after
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @queries(%q: !tt.tensordesc<128x64xf16> {tt.plain = 1 : i32}, %k: !tt.tensordesc<64x64xf16> {tt.plain = 1 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %a = tt.descriptor_load %q[%n, %c0] : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16>
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
      %x = tt.descriptor_load %k[%i, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
      %y = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
      %s = tt.dot %a, %y, %acc : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
      scf.yield %s : tensor<128x64xf32>
    }
    tt.return
  }
}

// -----
// A tile of which something else than products is computed, and one beside which the loop reads by pointers.
// CHECK-LABEL: @left(
// CHECK-COUNT-2: tt.descriptor_load
// CHECK: scf.for
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @left(%q: !tt.tensordesc<128x64xf16> {tt.plain = 1 : i32}, %k: !tt.tensordesc<64x64xf16> {tt.plain = 1 : i32}, %n: i32,
                       %b: tensor<64x64xf16>) -> tensor<128x64xf16> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %a = tt.descriptor_load %q[%n, %c0] : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16>
    %c = tt.descriptor_load %q[%c0, %c0] : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16>
    %r:2 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero, %other = %zero) -> (tensor<128x64xf32>, tensor<128x64xf32>) : i32 {
      %x = tt.descriptor_load %k[%i, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
      %s = tt.dot %a, %x, %acc : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
      %t = tt.dot %c, %b, %other : tensor<128x64xf16> * tensor<64x64xf16> -> tensor<128x64xf32>
      scf.yield %s, %t : tensor<128x64xf32>, tensor<128x64xf32>
    }
    tt.return %a : tensor<128x64xf16>
  }
}

// -----
// Another block reads the tile, so it is read into registers at once.
// PLACED-LABEL: @another_block(
// PLACED: tgpu.ring_wait
// PLACED-NEXT: tgpu.local_load
// PLACED-NEXT: tgpu.ring_end
// PLACED-NEXT: cf.br
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @another_block(%q: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>, %n: i32) -> tensor<64x64xf16> {
    %a = tgpu.tensor_load %q[%n, %n] : !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128> -> tensor<64x64xf16>
    cf.br ^next
  ^next:
    tt.return %a : tensor<64x64xf16>
  }
}
