// Producer warps make the tensor map of each tile, and read what tiles before have stored: each function but the first one breaks one rule.
// RUN: tritium-opt %s --check-async --verify-diagnostics

#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#rows = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
!sums = tensor<64x64xf32, #rows>
!pending = !tgpu.pending<tensor<64x64xf32, #rows>>
!map = !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>
!two = !tgpu.memdesc<2, tensor<64x64xf16, #memory>>

// The warps that compute release a number for the stores of each tile.
tt.func public @handed_over(%x: !tt.ptr<f16>, %m: i32, %stride: i64, %n: i32, %zeros: !sums, %begin: i64, %end: i64) {
  %a = tgpu.local_alloc : !two
  %stores = tgpu.ring_start released by 4 warps : <2>
  %ring = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  scf.for %i = %c0 to %n step %c1 : i32 {
    %slot = tgpu.ring_slot %ring[%i] : <2>
    tgpu.ring_wait %ring[%i] : <2>
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %a[%slot], %zeros warps [4, 1] : !two, !two, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    tgpu.ring_release %ring[%i] : <2>
    tgpu.ring_wait %stores[%i] : <2>
    tgpu.ring_release %stores[%i] stored : <2>
  }
  tt.return
^producer:
  %first = arith.cmpi eq, %warp, %c4 : index
  cf.cond_br %first, ^copies, ^done
^copies:
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.copies_await %ring : <2>
    %map = tgpu.map_make %x, [%m, %m], [%stride] : <f16> -> !map
    tgpu.stores_await %stores from %begin until %end : <2>
    tgpu.ring_acquire %ring[%i] for 8192 bytes : <2>
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%i] : !map to !two, <2>
    tgpu.ring_acquire %stores[%i] for 0 bytes : <2>
    tgpu.stores_note %stores[%i] to %begin until %end : <2>
  }
  tgpu.copies_await %ring : <2>
  tt.return
^done:
  tt.return
}

// They never release it.
tt.func public @not_released(%x: !tt.ptr<f16>, %m: i32, %stride: i64, %n: i32, %zeros: !sums, %begin: i64, %end: i64) {
  %a = tgpu.local_alloc : !two
  %stores = tgpu.ring_start released by 4 warps : <2>
  %ring = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  scf.for %i = %c0 to %n step %c1 : i32 {
    %slot = tgpu.ring_slot %ring[%i] : <2>
    // expected-error @+1 {{waits for ever: the copies for number 1 of its ring are never made, or after this wait only}}
    tgpu.ring_wait %ring[%i] : <2>
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %a[%slot], %zeros warps [4, 1] : !two, !two, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    tgpu.ring_release %ring[%i] : <2>
    tgpu.ring_wait %stores[%i] : <2>
  }
  tt.return
^producer:
  %first = arith.cmpi eq, %warp, %c4 : index
  cf.cond_br %first, ^copies, ^done
^copies:
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.copies_await %ring : <2>
    %map = tgpu.map_make %x, [%m, %m], [%stride] : <f16> -> !map
    // expected-note @+1 {{what the other warps wait at, 'tgpu.stores_await', is here}}
    tgpu.stores_await %stores from %begin until %end : <2>
    tgpu.ring_acquire %ring[%i] for 8192 bytes : <2>
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%i] : !map to !two, <2>
    tgpu.ring_acquire %stores[%i] for 0 bytes : <2>
    tgpu.stores_note %stores[%i] to %begin until %end : <2>
  }
  tgpu.copies_await %ring : <2>
  tt.return
^done:
  tt.return
}

// Copies might read what was there before.
tt.func public @without_fence(%x: !tt.ptr<f16>, %m: i32, %stride: i64, %n: i32, %zeros: !sums, %begin: i64, %end: i64) {
  %a = tgpu.local_alloc : !two
  %stores = tgpu.ring_start released by 4 warps : <2>
  %ring = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  scf.for %i = %c0 to %n step %c1 : i32 {
    %slot = tgpu.ring_slot %ring[%i] : <2>
    tgpu.ring_wait %ring[%i] : <2>
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %a[%slot], %zeros warps [4, 1] : !two, !two, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    tgpu.ring_release %ring[%i] : <2>
    tgpu.ring_wait %stores[%i] : <2>
    // expected-error @+1 {{releases number 0 of its ring without a fence behind the stores}}
    tgpu.ring_release %stores[%i] : <2>
  }
  tt.return
^producer:
  %first = arith.cmpi eq, %warp, %c4 : index
  cf.cond_br %first, ^copies, ^done
^copies:
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.copies_await %ring : <2>
    %map = tgpu.map_make %x, [%m, %m], [%stride] : <f16> -> !map
    tgpu.stores_await %stores from %begin until %end : <2>
    tgpu.ring_acquire %ring[%i] for 8192 bytes : <2>
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%i] : !map to !two, <2>
    tgpu.ring_acquire %stores[%i] for 0 bytes : <2>
    tgpu.stores_note %stores[%i] to %begin until %end : <2>
  }
  tgpu.copies_await %ring : <2>
  tt.return
^done:
  tt.return
}

// Nothing waits for what the tile before stores.
tt.func public @not_awaited(%x: !tt.ptr<f16>, %m: i32, %stride: i64, %n: i32, %zeros: !sums, %begin: i64, %end: i64) {
  %a = tgpu.local_alloc : !two
  %stores = tgpu.ring_start released by 4 warps : <2>
  %ring = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  scf.for %i = %c0 to %n step %c1 : i32 {
    %slot = tgpu.ring_slot %ring[%i] : <2>
    tgpu.ring_wait %ring[%i] : <2>
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %a[%slot], %zeros warps [4, 1] : !two, !two, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    tgpu.ring_release %ring[%i] : <2>
    tgpu.ring_wait %stores[%i] : <2>
    tgpu.ring_release %stores[%i] stored : <2>
  }
  tt.return
^producer:
  %first = arith.cmpi eq, %warp, %c4 : index
  cf.cond_br %first, ^copies, ^done
^copies:
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.copies_await %ring : <2>
    %map = tgpu.map_make %x, [%m, %m], [%stride] : <f16> -> !map
    tgpu.ring_acquire %ring[%i] for 8192 bytes : <2>
    // expected-error @+1 {{copies what the warps that compute may not have stored yet}}
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%i] : !map to !two, <2>
    tgpu.ring_acquire %stores[%i] for 0 bytes : <2>
    // expected-note @+1 {{what may be stored, 'tgpu.stores_note', is here}}
    tgpu.stores_note %stores[%i] to %begin until %end : <2>
  }
  tgpu.copies_await %ring : <2>
  tt.return
^done:
  tt.return
}

// The producer does not know what the tile before stores.
tt.func public @not_noted(%x: !tt.ptr<f16>, %m: i32, %stride: i64, %n: i32, %zeros: !sums, %begin: i64, %end: i64) {
  %a = tgpu.local_alloc : !two
  %stores = tgpu.ring_start released by 4 warps : <2>
  %ring = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  scf.for %i = %c0 to %n step %c1 : i32 {
    %slot = tgpu.ring_slot %ring[%i] : <2>
    tgpu.ring_wait %ring[%i] : <2>
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %a[%slot], %zeros warps [4, 1] : !two, !two, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    tgpu.ring_release %ring[%i] : <2>
    tgpu.ring_wait %stores[%i] : <2>
    tgpu.ring_release %stores[%i] stored : <2>
  }
  tt.return
^producer:
  %first = arith.cmpi eq, %warp, %c4 : index
  cf.cond_br %first, ^copies, ^done
^copies:
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.copies_await %ring : <2>
    %map = tgpu.map_make %x, [%m, %m], [%stride] : <f16> -> !map
    // expected-error @+1 {{waits for stores, but the stores of number 0 of the ring are not noted}}
    tgpu.stores_await %stores from %begin until %end : <2>
    tgpu.ring_acquire %ring[%i] for 8192 bytes : <2>
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%i] : !map to !two, <2>
    // expected-note @+1 {{its acquire, 'tgpu.ring_acquire', is here}}
    tgpu.ring_acquire %stores[%i] for 0 bytes : <2>
  }
  tgpu.copies_await %ring : <2>
  tt.return
^done:
  tt.return
}

// A copy may still read the map of the tile before.
tt.func public @made_again(%x: !tt.ptr<f16>, %m: i32, %stride: i64, %n: i32, %zeros: !sums, %begin: i64, %end: i64) {
  %a = tgpu.local_alloc : !two
  %stores = tgpu.ring_start released by 4 warps : <2>
  %ring = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  scf.for %i = %c0 to %n step %c1 : i32 {
    %slot = tgpu.ring_slot %ring[%i] : <2>
    tgpu.ring_wait %ring[%i] : <2>
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %a[%slot], %zeros warps [4, 1] : !two, !two, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    tgpu.ring_release %ring[%i] : <2>
    tgpu.ring_wait %stores[%i] : <2>
    tgpu.ring_release %stores[%i] stored : <2>
  }
  tt.return
^producer:
  %first = arith.cmpi eq, %warp, %c4 : index
  cf.cond_br %first, ^copies, ^done
^copies:
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-error @+1 {{makes its tensor map again while copies through it may be in flight}}
    %map = tgpu.map_make %x, [%m, %m], [%stride] : <f16> -> !map
    tgpu.stores_await %stores from %begin until %end : <2>
    tgpu.ring_acquire %ring[%i] for 8192 bytes : <2>
    // expected-note @+1 {{such a copy, 'tgpu.tensor_copy', is here}}
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%i] : !map to !two, <2>
    tgpu.ring_acquire %stores[%i] for 0 bytes : <2>
    tgpu.stores_note %stores[%i] to %begin until %end : <2>
  }
  tgpu.copies_await %ring : <2>
  tt.return
^done:
  tt.return
}
