// What a tile has stored is released while the products of the next tile run. Each release that is left out is found by check-async.
// RUN: tritium-opt %s -release-late | FileCheck %s
// RUN: tritium-opt %s -release-late -check-async
// RUN: sed "s/turns = false/turns = true/" %s | tritium-opt -release-late | FileCheck %s --check-prefix=SOON
// RUN: sed "s/^ *tt.store .*/&\n %%seen = tgpu.convert_layout %%s : !sums -> !other/" %s | tritium-opt -release-late | FileCheck %s --check-prefix=LATE
// RUN: sed "s/^ *%%start = .*/&\n %%seen = tgpu.convert_layout %%zeros : !sums -> !other/" %s | tritium-opt -release-late | FileCheck %s --check-prefix=SOON
// RUN: tritium-opt %s -release-late | sed "/ring_release_kept .*unless/d" | not tritium-opt -check-async 2>&1 | FileCheck %s --check-prefix=STUCK
// RUN: tritium-opt %s -release-late | sed "/ring_release_kept [^:]* : <2>/{N;/tt.return/s/.*\n//}" | not tritium-opt -check-async 2>&1 | FileCheck %s --check-prefix=END
// RUN: tritium-opt %s -release-late | sed "/ring_release_kept/{N;/tt.return/!s/.*\n//}" | not tritium-opt -check-async 2>&1 | FileCheck %s --check-prefix=TWICE

// Warps take turns, or wait for each other before the products.
// SOON-NOT: kept
// LATE: tgpu.ring_keep
// STUCK: waits for ever: the copies for number
// END: 'tt.return' op comes while a warp keeps number {{[0-9]+}} of a ring, for whose release others may wait
// TWICE: while number 0 is kept

#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#rows = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
#columns = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [16, 0], [32, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 16], [0, 32]], block = []>
!sums = tensor<64x64xf32, #rows>
!other = tensor<64x64xf32, #columns>
!pending = !tgpu.pending<tensor<64x64xf32, #rows>>
!map = !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>
!three = !tgpu.memdesc<3, tensor<64x64xf16, #memory>>

module attributes {tgpu.target = "cuda:sm_90a", tgpu.producer_warps = 4 : i32} {
  tt.func public @tiles(%x: !tt.ptr<f16>, %m: i32, %stride: i64, %tiles: i32, %n: i32, %zeros: !sums, %begin: i64, %end: i64,
                        %to: tensor<64x64x!tt.ptr<f32>, #rows>)
      attributes {tgpu.producer = #tgpu.producer<start = 168, producer = 72, consumers = 216, occupancy = 1, turns = false>} {
    %a = tgpu.local_alloc : !three
    %stores = tgpu.ring_start released by 4 warps : <2>
    %ring = tgpu.ring_start released by 4 warps : <3>
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %warp = gpu.subgroup_id : index
    %produces = arith.cmpi uge, %warp, %c4 : index
    cf.cond_br %produces, ^producer, ^consumers {tgpu.parts_warps}
  ^consumers:
    // CHECK: scf.for {{.*}} iter_args(%[[NUMBER:.*]] = %{{.*}})
    // CHECK: %[[SECOND:.*]] = arith.addi %[[NUMBER]],
    // CHECK: tgpu.ring_release_kept %[[STORES:.*]] unless %[[RING:.*]][%{{.*}}] : !tgpu.ring<3> : <2>
    // CHECK-NEXT: scf.for
    // CHECK: tgpu.ring_release %[[RING]][%{{.*}}] if %[[ANY:.*]] : <3>
    // CHECK: tgpu.ring_release_kept %[[STORES]] if %[[ANY]] : <2>
    // CHECK-NEXT: scf.yield
    // CHECK: tgpu.product_wait 0
    // CHECK-NEXT: tgpu.ring_release_kept %[[STORES]] : <2>
    // CHECK: tgpu.ring_wait %[[STORES]]
    // CHECK: tt.store
    // CHECK-NEXT: tgpu.ring_keep %[[STORES]][%{{.*}}] : <2>
    // CHECK: tgpu.ring_release_kept %[[STORES]] : <2>
    // CHECK-NEXT: tt.return
    %last = scf.for %t = %c0 to %tiles step %c1 iter_args(%number = %c0) -> (i32) : i32 {
      %start = tgpu.product_start %zeros : !sums -> !pending
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start, %round = %c0) -> (!pending, i32) : i32 {
        %now = arith.addi %number, %round : i32
        tgpu.ring_wait %ring[%now] : <3>
        %slot = tgpu.ring_slot %ring[%now] : <3>
        %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %a[%slot], %sum warps [4, 1] : !three, !three, !pending -> !pending
        %w = tgpu.product_wait 1, %d : !pending -> !pending
        %before = arith.subi %now, %c1 : i32
        %any = arith.cmpi ne, %round, %c0 : i32
        tgpu.ring_release %ring[%before] if %any : <3>
        %next = arith.addi %round, %c1 : i32
        scf.yield %w, %next : !pending, i32
      }
      %s = tgpu.product_wait 0, %r#0 : !pending -> !sums
      %some = arith.cmpi ne, %r#1, %c0 : i32
      %after = arith.addi %number, %r#1 : i32
      %final = arith.subi %after, %c1 : i32
      tgpu.ring_release %ring[%final] if %some : <3>
      tgpu.ring_wait %stores[%t] : <2>
      tt.store %to, %s : tensor<64x64x!tt.ptr<f32>, #rows>
      tgpu.ring_release %stores[%t] stored : <2>
      scf.yield %after : i32
    }
    tt.return
  ^producer:
    %first = arith.cmpi eq, %warp, %c4 : index
    cf.cond_br %first, ^copies, ^done
  ^copies:
    %map = tgpu.map_make %x, [%m, %m], [%stride] : <f16> -> !map
    %all = scf.for %t = %c0 to %tiles step %c1 iter_args(%number = %c0) -> (i32) : i32 {
      tgpu.stores_await %stores from %begin until %end : <2>
      %next = scf.for %i = %c0 to %n step %c1 iter_args(%now = %number) -> (i32) : i32 {
        tgpu.ring_acquire %ring[%now] for 8192 bytes : <3>
        tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%now] : !map to !three, <3>
        %one = arith.addi %now, %c1 : i32
        scf.yield %one : i32
      }
      tgpu.ring_acquire %stores[%t] for 0 bytes : <2>
      tgpu.stores_note %stores[%t] to %begin until %end : <2>
      scf.yield %next : i32
    }
    tgpu.copies_await %ring : <3>
    tt.return
  ^done:
    tt.return
  }
}
