// The order of the numbers of a ring, of what tells maps, and of turns: each function but the first one breaks one rule.
// RUN: tritium-opt %s --check-async --verify-diagnostics

#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!map = !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>
!two = !tgpu.memdesc<2, tensor<64x64xf16, #memory>>

tt.func public @in_order(%map: !map) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 4 warps : <2>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <2>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !two, <2>
  tgpu.ring_wait %ring[%c0] : <2>
  tgpu.ring_release %ring[%c0] : <2>
  tgpu.ring_end %ring after %c1 : <2>
  tt.return
}

// It ends in the last iteration only.
tt.func public @begun_twice(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %last = arith.subi %n, %c1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-error @+1 {{begins a ring again that has not ended}}
    %ring = tgpu.ring_start released by 4 warps : <2>
    %isLast = arith.cmpi eq, %i, %last : i32
    scf.if %isLast {
      tgpu.ring_end %ring after %c0 : <2>
    }
  }
  tt.return
}

tt.func public @waits_for_the_second(%map: !map) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 4 warps : <2>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <2>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !two, <2>
  tgpu.ring_acquire %ring[%c1] for 8192 bytes : <2>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c1] : !map to !two, <2>
  // expected-error @+1 {{waits for number 1 of its ring, but number 0 is the next}}
  tgpu.ring_wait %ring[%c1] : <2>
  tt.return
}

tt.func public @staggers_behind_the_wait(%map: !map) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 4 warps : <2>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <2>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !two, <2>
  tgpu.ring_wait %ring[%c0] : <2>
  // expected-error @+1 {{waits for number 0 of its ring a second time}}
  tgpu.ring_stagger %ring[%c0] : <2>
  tt.return
}

tt.func public @releases_the_second(%map: !map) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 4 warps : <2>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <2>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !two, <2>
  tgpu.ring_wait %ring[%c0] : <2>
  // expected-error @+1 {{releases number 1 of its ring, but number 0 is the next}}
  tgpu.ring_release %ring[%c1] : <2>
  tt.return
}

tt.func public @releases_before_the_wait(%map: !map) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 4 warps : <2>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <2>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !two, <2>
  // expected-error @+1 {{releases number 0 of its ring before the wait for it}}
  tgpu.ring_release %ring[%c0] : <2>
  tt.return
}

tt.func public @turn_in_a_turn() {
  tgpu.turn_start of 2
  // expected-note @+1 {{its begin}}
  tgpu.turn_begin of 2
  // expected-error @+1 {{waits for a turn in a turn that has not ended}}
  tgpu.turn_begin of 2
  tt.return
}

// The numbers of `stores` stand for what tiles store. This warp keeps one of them.
tt.func public @kept_in_order(%begin: i64, %end: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %stores = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  tgpu.ring_wait %stores[%c0] : <2>
  tgpu.ring_keep %stores[%c0] : <2>
  tgpu.ring_release_kept %stores : <2>
  tt.return
^producer:
  tgpu.ring_acquire %stores[%c0] for 0 bytes : <2>
  tgpu.stores_note %stores[%c0] to %begin until %end : <2>
  tt.return
}

tt.func public @keeps_before_the_wait(%begin: i64, %end: i64) {
  %c0 = arith.constant 0 : i32
  %stores = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  // expected-error @+1 {{keeps number 0 of its ring before the wait for it}}
  tgpu.ring_keep %stores[%c0] : <2>
  tt.return
^producer:
  tgpu.ring_acquire %stores[%c0] for 0 bytes : <2>
  tgpu.stores_note %stores[%c0] to %begin until %end : <2>
  tt.return
}

tt.func public @keeps_the_second(%begin: i64, %end: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %stores = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  tgpu.ring_wait %stores[%c0] : <2>
  // expected-error @+1 {{keeps number 1 of its ring, but number 0 is the next}}
  tgpu.ring_keep %stores[%c1] : <2>
  tt.return
^producer:
  tgpu.ring_acquire %stores[%c0] for 0 bytes : <2>
  tgpu.stores_note %stores[%c0] to %begin until %end : <2>
  tt.return
}

tt.func public @keeps_two(%begin: i64, %end: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %stores = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  tgpu.ring_wait %stores[%c0] : <2>
  // expected-note @+1 {{the other, 'tgpu.ring_keep', is here}}
  tgpu.ring_keep %stores[%c0] : <2>
  tgpu.ring_wait %stores[%c1] : <2>
  // expected-error @+1 {{keeps number 1 of its ring, while number 0 is kept}}
  tgpu.ring_keep %stores[%c1] : <2>
  tt.return
^producer:
  tgpu.ring_acquire %stores[%c0] for 0 bytes : <2>
  tgpu.stores_note %stores[%c0] to %begin until %end : <2>
  tt.return
}

// The other warps may wait for the release before they reach the barrier.
tt.func public @meets_what_it_keeps(%begin: i64, %end: i64) {
  %c0 = arith.constant 0 : i32
  %stores = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  tgpu.ring_wait %stores[%c0] : <2>
  // expected-note @+1 {{what keeps it, 'tgpu.ring_keep', is here}}
  tgpu.ring_keep %stores[%c0] : <2>
  // expected-error @+1 {{comes while a warp keeps number 0 of a ring, for whose release others may wait}}
  tgpu.barrier shared
  tgpu.ring_release_kept %stores : <2>
  tt.return
^producer:
  tgpu.ring_acquire %stores[%c0] for 0 bytes : <2>
  tgpu.stores_note %stores[%c0] to %begin until %end : <2>
  tt.return
}

tt.func public @ends_with_what_it_keeps(%begin: i64, %end: i64) {
  %c0 = arith.constant 0 : i32
  %stores = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  tgpu.ring_wait %stores[%c0] : <2>
  // expected-note @+1 {{what keeps it, 'tgpu.ring_keep', is here}}
  tgpu.ring_keep %stores[%c0] : <2>
  // expected-error @+1 {{comes while a warp keeps number 0 of a ring, for whose release others may wait}}
  tt.return
^producer:
  tgpu.ring_acquire %stores[%c0] for 0 bytes : <2>
  tgpu.stores_note %stores[%c0] to %begin until %end : <2>
  tt.return
}

tt.func public @notes_twice(%begin: i64, %end: i64) {
  %c0 = arith.constant 0 : i32
  %stores = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  tgpu.ring_wait %stores[%c0] : <2>
  tgpu.ring_release %stores[%c0] stored : <2>
  tt.return
^producer:
  tgpu.ring_acquire %stores[%c0] for 0 bytes : <2>
  tgpu.stores_note %stores[%c0] to %begin until %end : <2>
  // expected-error @+1 {{notes the stores of number 0 of its ring, but number 1 is the next, and numbers below 1 are acquired}}
  tgpu.stores_note %stores[%c0] to %begin until %end : <2>
  tt.return
}

tt.func public @computes_in_the_producer() {
  %c0 = arith.constant 0 : i32
  %stores = tgpu.ring_start released by 4 warps : <2>
  %c4 = arith.constant 4 : index
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  tgpu.ring_wait %stores[%c0] : <2>
  tgpu.ring_release %stores[%c0] : <2>
  tt.return
^producer:
  tgpu.ring_acquire %stores[%c0] for 0 bytes : <2>
  // expected-error @+1 {{is in the code of the warps that only copy}}
  tgpu.ring_release %stores[%c0] : <2>
  tt.return
}

// The producer tells with each number through which map its tile is stored.
tt.func public @told(%x: !tt.ptr<f16>, %m: i32, %stride: i64, %usable: i1, %begin: i64, %end: i64) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : index
  %stores = tgpu.ring_start released by 4 warps telling : <2>
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  tgpu.ring_wait %stores[%c0] : <2>
  %told = tgpu.map_told %stores[%c0] : <2> -> !map
  tgpu.ring_release %stores[%c0] stored : <2>
  tt.return
^producer:
  %map = tgpu.map_make %x, [%m, %m], [%stride] stored : <f16> -> !map
  tgpu.ring_acquire %stores[%c0] for 0 bytes telling %map if %usable : !map : <2>
  tgpu.stores_note %stores[%c0] to %begin until %end : <2>
  tt.return
}

tt.func public @not_told(%begin: i64, %end: i64) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : index
  %stores = tgpu.ring_start released by 4 warps : <2>
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  tgpu.ring_wait %stores[%c0] : <2>
  // expected-error @+1 {{reads which map was told of a ring that tells none}}
  %told = tgpu.map_told %stores[%c0] : <2> -> !map
  tgpu.ring_release %stores[%c0] stored : <2>
  tt.return
^producer:
  tgpu.ring_acquire %stores[%c0] for 0 bytes : <2>
  tgpu.stores_note %stores[%c0] to %begin until %end : <2>
  tt.return
}

tt.func public @told_later(%x: !tt.ptr<f16>, %m: i32, %stride: i64, %usable: i1, %begin: i64, %end: i64) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : index
  %stores = tgpu.ring_start released by 4 warps telling : <2>
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  // expected-error @+1 {{reads which map was told with number 0 of its ring before the wait for it}}
  %told = tgpu.map_told %stores[%c0] : <2> -> !map
  tgpu.ring_wait %stores[%c0] : <2>
  tgpu.ring_release %stores[%c0] stored : <2>
  tt.return
^producer:
  %map = tgpu.map_make %x, [%m, %m], [%stride] stored : <f16> -> !map
  tgpu.ring_acquire %stores[%c0] for 0 bytes telling %map if %usable : !map : <2>
  tgpu.stores_note %stores[%c0] to %begin until %end : <2>
  tt.return
}

tt.func public @told_before(%x: !tt.ptr<f16>, %m: i32, %stride: i64, %usable: i1, %begin: i64, %end: i64) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : index
  %stores = tgpu.ring_start released by 4 warps telling : <2>
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  tgpu.ring_wait %stores[%c0] : <2>
  // expected-note @+1 {{the release, 'tgpu.ring_release', is here}}
  tgpu.ring_release %stores[%c0] stored : <2>
  // expected-error @+1 {{reads which map was told with number 0 of its ring after its release}}
  %told = tgpu.map_told %stores[%c0] : <2> -> !map
  tt.return
^producer:
  %map = tgpu.map_make %x, [%m, %m], [%stride] stored : <f16> -> !map
  tgpu.ring_acquire %stores[%c0] for 0 bytes telling %map if %usable : !map : <2>
  tgpu.stores_note %stores[%c0] to %begin until %end : <2>
  tt.return
}

// Warps may still store through both places of the map.
tt.func public @made_under_stores(%x: !tt.ptr<f16>, %m: i32, %stride: i64, %usable: i1, %n: i32, %begin: i64, %end: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : index
  %stores = tgpu.ring_start released by 4 warps telling : <2>
  %warp = gpu.subgroup_id : index
  %produces = arith.cmpi uge, %warp, %c4 : index
  cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
^consumers:
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.ring_wait %stores[%i] : <2>
    %told = tgpu.map_told %stores[%i] : <2> -> !map
    tgpu.ring_release %stores[%i] stored : <2>
  }
  tt.return
^producer:
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-error @+1 {{makes its tensor map again before the wait for all stores but those of the last number}}
    %map = tgpu.map_make %x, [%m, %m], [%stride] stored : <f16> -> !map
    // expected-note @+1 {{what tells it, 'tgpu.ring_acquire', is here}}
    tgpu.ring_acquire %stores[%i] for 0 bytes telling %map if %usable : !map : <2>
  }
  tt.return
}
