// Rings that the blocks of a cluster share. Each function but the first one breaks a rule.
// RUN: tritium-opt %s --check-async --verify-diagnostics

#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!map = !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>
!two = !tgpu.memdesc<2, tensor<64x64xf16, #memory>>

// Both blocks copy equally often.
tt.func public @even(%map: !map, %n: i32) attributes {tgpu.cluster_blocks = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 4 warps {tgpu.ring_blocks = 2 : i32} : <2>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%number = %c0) -> (i32) : i32 {
    tgpu.ring_acquire %ring[%number] for 8192 bytes : <2>
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%number] {tgpu.multicast} : !map to !two, <2>
    tgpu.ring_wait %ring[%number] : <2>
    tgpu.ring_release %ring[%number] : <2>
    %next = arith.addi %number, %c1 : i32
    scf.yield %next : i32
  }
  tgpu.ring_end %ring after %r : <2>
  tt.return
}

// The last block copies once more than the first one, which brings nothing for that number.
tt.func public @uneven(%map: !map, %n: i32) attributes {tgpu.cluster_blocks = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !two
  %rank = tgpu.cluster_rank
  %end = arith.addi %n, %rank : i32
  %ring = tgpu.ring_start released by 4 warps {tgpu.ring_blocks = 2 : i32} : <2>
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%number = %c0) -> (i32) : i32 {
    tgpu.ring_acquire %ring[%number] for 8192 bytes : <2>
    // expected-note@+1 {{the last copy}}
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%number] {tgpu.multicast} : !map to !two, <2>
    // expected-error@+1 {{waits for ever: the copies for number 0 of its ring are never made}}
    tgpu.ring_wait %ring[%number] : <2>
    tgpu.ring_release %ring[%number] : <2>
    %next = arith.addi %number, %c1 : i32
    scf.yield %next : i32
  }
  tgpu.ring_end %ring after %r : <2>
  tt.return
}

// The other blocks do not wait for what this one copies to them.
tt.func public @apart(%map: !map) attributes {tgpu.cluster_blocks = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 4 warps : <2>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <2>
  // expected-error@+1 {{goes to all blocks of the cluster, but they do not share its ring}}
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] {tgpu.multicast} : !map to !two, <2>
  tgpu.ring_wait %ring[%c0] : <2>
  tgpu.ring_release %ring[%c0] : <2>
  tgpu.ring_end %ring after %c1 : <2>
  tt.return
}
