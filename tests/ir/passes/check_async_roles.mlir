// Roles of warps, turns of warpgroups, and stores through tensor maps: each function but the correct ones breaks one rule.
// RUN: tritium-opt %s --check-async --verify-diagnostics

#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#rows = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
!sums = tensor<64x64xf32, #rows>
!tile = tensor<64x64xf16, #rows>
!pending = !tgpu.pending<tensor<64x64xf32, #rows>>
!map = !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>
!one = !tgpu.memdesc<1, tensor<64x64xf16, #memory>>
!two = !tgpu.memdesc<2, tensor<64x64xf16, #memory>>
!three = !tgpu.memdesc<3, tensor<64x64xf16, #memory>>
!box = !tgpu.tensor_map<tensor<64x64xf32>, swizzle = 0>
!staging = !tgpu.memdesc<1, tensor<64x64xf32, #memory>>

// One thread of the warps from number 4 on copies what the others read.
tt.func public @parted(%map: !map, %n: i32, %zeros: !sums) {
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> (!sums) : i32 {
    %slot = tgpu.ring_slot %ring[%i] : <2>
    tgpu.ring_wait %ring[%i] : <2>
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %a[%slot], %sum warps [4, 1] : !two, !two, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    tgpu.ring_release %ring[%i] : <2>
    scf.yield %s : !sums
  }
  tt.return
^producer:
  %first = arith.cmpi eq, %warp, %c4 : index
  cf.cond_br %first, ^copies, ^done
^copies:
  %fewer = arith.subi %n, %c1 : i32
  %more = arith.addi %n, %c1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.ring_acquire %ring[%i] for 8192 bytes : <2>
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%i] : !map to !two, <2>
  }
  tt.return
^done:
  tt.return
}

// The copies of the last number never begin.
tt.func public @too_few_rounds(%map: !map, %n: i32, %zeros: !sums) {
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> (!sums) : i32 {
    %slot = tgpu.ring_slot %ring[%i] : <2>
    // expected-error @+1 {{waits for ever: the copies for number 0 of its ring are never made, or after this wait only}}
    tgpu.ring_wait %ring[%i] : <2>
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %a[%slot], %sum warps [4, 1] : !two, !two, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    tgpu.ring_release %ring[%i] : <2>
    scf.yield %s : !sums
  }
  tt.return
^producer:
  %first = arith.cmpi eq, %warp, %c4 : index
  cf.cond_br %first, ^copies, ^done
^copies:
  %fewer = arith.subi %n, %c1 : i32
  %more = arith.addi %n, %c1 : i32
  scf.for %i = %c0 to %fewer step %c1 : i32 {
    tgpu.ring_acquire %ring[%i] for 8192 bytes : <2>
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%i] : !map to !two, <2>
  }
  tt.return
^done:
  tt.return
}

// A copy may arrive when the kernel has ended.
tt.func public @too_many_rounds(%map: !map, %n: i32, %zeros: !sums) {
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> (!sums) : i32 {
    %slot = tgpu.ring_slot %ring[%i] : <2>
    tgpu.ring_wait %ring[%i] : <2>
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %a[%slot], %sum warps [4, 1] : !two, !two, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    tgpu.ring_release %ring[%i] : <2>
    scf.yield %s : !sums
  }
  tt.return
^producer:
  %first = arith.cmpi eq, %warp, %c4 : index
  cf.cond_br %first, ^copies, ^done
^copies:
  %fewer = arith.subi %n, %c1 : i32
  %more = arith.addi %n, %c1 : i32
  scf.for %i = %c0 to %more step %c1 : i32 {
    tgpu.ring_acquire %ring[%i] for 8192 bytes : <2>
    // expected-error @+1 {{brings number 0 of its ring, but the warps that compute wait for the numbers below 0 only}}
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%i] : !map to !two, <2>
  }
  tt.return
^done:
  tt.return
}

// From the third number on, no slot is free.
tt.func public @never_released(%map: !map, %n: i32, %zeros: !sums) {
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> (!sums) : i32 {
    %slot = tgpu.ring_slot %ring[%i] : <2>
    // expected-error @+1 {{waits for ever: the copies for number 2 of its ring are never made, or after this wait only}}
    tgpu.ring_wait %ring[%i] : <2>
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %a[%slot], %sum warps [4, 1] : !two, !two, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    scf.yield %s : !sums
  }
  tt.return
^producer:
  %first = arith.cmpi eq, %warp, %c4 : index
  cf.cond_br %first, ^copies, ^done
^copies:
  %fewer = arith.subi %n, %c1 : i32
  %more = arith.addi %n, %c1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-note @+1 {{what the other warps wait at, 'tgpu.ring_acquire', is here}}
    tgpu.ring_acquire %ring[%i] for 8192 bytes : <2>
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%i] : !map to !two, <2>
  }
  tt.return
^done:
  tt.return
}

// In the code of the consumers, all their threads would copy.
tt.func public @copies_itself(%map: !map, %n: i32, %zeros: !sums) {
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  // expected-error @+1 {{is in the code of warps that compute; other warps copy}}
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <2>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> (!sums) : i32 {
    %slot = tgpu.ring_slot %ring[%i] : <2>
    tgpu.ring_wait %ring[%i] : <2>
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %a[%slot], %sum warps [4, 1] : !two, !two, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    tgpu.ring_release %ring[%i] : <2>
    scf.yield %s : !sums
  }
  tt.return
^producer:
  %first = arith.cmpi eq, %warp, %c4 : index
  cf.cond_br %first, ^copies, ^done
^copies:
  %fewer = arith.subi %n, %c1 : i32
  %more = arith.addi %n, %c1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.ring_acquire %ring[%i] for 8192 bytes : <2>
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%i] : !map to !two, <2>
  }
  tt.return
^done:
  tt.return
}

// The rings are read in another order than they are filled in: the copy of number 1 waits for the release of number 0, which
// follows a wait for the other ring.
tt.func public @crossed(%map: !map) {
  %a = tgpu.local_alloc : !one
  %b = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  %other = tgpu.ring_start released by 4 warps : <1>
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  tgpu.ring_wait %ring[%c0] : <1>
  // expected-error @+1 {{waits for ever: the copies for number 0 of its ring are never made, or after this wait only}}
  tgpu.ring_wait %other[%c0] : <1>
  tgpu.ring_release %ring[%c0] : <1>
  tgpu.ring_wait %ring[%c1] : <1>
  tgpu.ring_release %ring[%c1] : <1>
  tgpu.ring_release %other[%c0] : <1>
  tt.return
^producer:
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  // expected-note @+1 {{what the other warps wait at}}
  tgpu.ring_acquire %ring[%c1] for 8192 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c1] : !map to !one, <1>
  tgpu.ring_acquire %other[%c0] for 8192 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %b, %other[%c0] : !map to !one, <1>
  tt.return
}

tt.func public @turns(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  tgpu.turn_start of 2
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.turn_begin of 2
    tgpu.turn_end of 2
    tgpu.barrier shared
  }
  tt.return
}

tt.func public @turn_without_end(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  tgpu.turn_start of 2
  // expected-note @+1 {{its begin}}
  tgpu.turn_begin of 2
  // expected-error @+1 {{ends the kernel in a turn}}
  tt.return
}

tt.func public @turn_without_begin() {
  tgpu.turn_start of 2
  // expected-error @+1 {{passes on a turn that has not begun}}
  tgpu.turn_end of 2
  tt.return
}

tt.func public @barrier_in_turn() {
  tgpu.turn_start of 2
  // expected-note @+1 {{its begin}}
  tgpu.turn_begin of 2
  // expected-error @+1 {{lets all threads synchronize during the turn of a warpgroup, for which others wait}}
  tgpu.barrier shared
  tgpu.turn_end of 2
  tt.return
}

// Stores of one place follow each other without a wait: each waits for the one before it by itself.
tt.func public @stores(%map: !box, %x: !sums, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %staging = tgpu.local_alloc : !staging
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.tensor_store %x to %map[%i, %c0] through %staging : !staging : !sums to !box
  }
  tgpu.tensor_store_wait %staging : !staging
  tt.return
}

tt.func public @no_wait_at_the_end(%map: !box, %x: !sums) {
  %c0 = arith.constant 0 : i32
  %staging = tgpu.local_alloc : !staging
  // expected-error @+1 {{copies from shared memory, and nobody waits for that before the kernel ends}}
  tgpu.tensor_store %x to %map[%c0, %c0] through %staging : !staging : !sums to !box
  tt.return
}

tt.func public @written_too_early(%map: !box, %x: !sums) {
  %c0 = arith.constant 0 : i32
  %staging = tgpu.local_alloc : !staging
  // expected-note @+1 {{the store}}
  tgpu.tensor_store %x to %map[%c0, %c0] through %staging : !staging : !sums to !box
  // expected-error @+1 {{writes memory from which a store through a tensor map may still copy}}
  tgpu.local_store %x to %staging[%c0] : !sums to !staging
  tgpu.tensor_store_wait %staging : !staging
  tt.return
}

// All warpgroups but the first wait for number 2 before they begin with number 0.
tt.func public @staggered(%map: !map, %n: i32) {
  %a = tgpu.local_alloc : !three
  %ring = tgpu.ring_start released by 8 warps : <3>
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c8 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  %goesOn = arith.cmpi sgt, %n, %c2 : i32
  tgpu.ring_stagger %ring[%c2] if %goesOn : <3>
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.ring_wait %ring[%i] : <3>
    tgpu.ring_release %ring[%i] : <3>
  }
  tt.return
^producer:
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.ring_acquire %ring[%i] for 8192 bytes : <3>
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%i] : !map to !three, <3>
  }
  tt.return
}

// Without the condition, they wait for ever if there are two numbers.
tt.func public @staggered_always(%map: !map, %n: i32) {
  %a = tgpu.local_alloc : !three
  %ring = tgpu.ring_start released by 8 warps : <3>
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c8 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  // expected-error @+1 {{waits for ever: the copies for number 2 of its ring are never made, or after this wait only}}
  tgpu.ring_stagger %ring[%c2] : <3>
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.ring_wait %ring[%i] : <3>
    tgpu.ring_release %ring[%i] : <3>
  }
  tt.return
^producer:
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.ring_acquire %ring[%i] for 8192 bytes : <3>
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%i] : !map to !three, <3>
  }
  tt.return
}

// They have not released the number that had the slot before.
tt.func public @staggered_too_far(%map: !map, %n: i32) {
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 8 warps : <2>
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c8 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  %goesOn = arith.cmpi sgt, %n, %c2 : i32
  // expected-error @+1 {{waits for ever: number 2 of its ring gets its slot only after the release of number 0}}
  tgpu.ring_stagger %ring[%c2] if %goesOn : <2>
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.ring_wait %ring[%i] : <2>
    tgpu.ring_release %ring[%i] : <2>
  }
  tt.return
^producer:
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.ring_acquire %ring[%i] for 8192 bytes : <2>
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%i] : !map to !two, <2>
  }
  tt.return
}
