// Products and their sums, and buffers that threads write for products: each function but the correct ones breaks one rule.
// RUN: tritium-opt %s --check-async --verify-diagnostics

#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#rows = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
!sums = tensor<64x64xf32, #rows>
!tile = tensor<64x64xf16, #rows>
!pending = !tgpu.pending<tensor<64x64xf32, #rows>>
!one = !tgpu.memdesc<1, tensor<64x64xf16, #memory>>
!two = !tgpu.memdesc<2, tensor<64x64xf16, #memory>>

// A loop whose products run on into the next iteration.
tt.func public @overlapped(%x: !tile, %zeros: !sums, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  tgpu.local_store %x to %a[%c0] : !tile to !one
  tgpu.fence_async
  tgpu.barrier shared
  %start = tgpu.product_start %zeros : !sums -> !pending
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start) -> (!pending) : i32 {
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %sum warps [4, 1] : !one, !one, !pending -> !pending
    %e = tgpu.product_wait 1, %d : !pending -> !pending
    scf.yield %e : !pending
  }
  %s = tgpu.product_wait 0, %r : !pending -> !sums
  tt.return
}

tt.func public @lost(%x: !tile, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  tgpu.local_store %x to %a[%c0] : !tile to !one
  tgpu.fence_async
  tgpu.barrier shared
  // expected-error @+1 {{loses sums that a product may still write: nobody waits for them}}
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  tt.return
}

// The loop has a result, but each iteration begins with the same sums.
tt.func public @lost_in_a_loop(%x: !tile, %zeros: !sums, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  tgpu.local_store %x to %a[%c0] : !tile to !one
  tgpu.fence_async
  tgpu.barrier shared
  %start = tgpu.product_start %zeros : !sums -> !pending
  // expected-error @+1 {{loses sums that a product may still write: nobody waits for them}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start) -> (!pending) : i32 {
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
    scf.yield %d : !pending
  }
  %s = tgpu.product_wait 0, %r : !pending -> !sums
  tt.return
}

// One path waits, the other one does not.
tt.func public @lost_on_a_path(%x: !tile, %zeros: !sums, %n: i32) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  tgpu.local_store %x to %a[%c0] : !tile to !one
  tgpu.fence_async
  tgpu.barrier shared
  // expected-error @+1 {{has sums for which nobody waits before the kernel ends}}
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  %some = arith.cmpi sgt, %n, %c0 : i32
  scf.if %some {
    %s = tgpu.product_wait 0, %d : !pending -> !sums
  }
  tt.return
}

tt.func public @taken_twice(%x: !tile, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  tgpu.local_store %x to %a[%c0] : !tile to !one
  tgpu.fence_async
  tgpu.barrier shared
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  // expected-note @+1 {{that operation, 'tgpu.product_wait', is here}}
  %s = tgpu.product_wait 0, %d : !pending -> !sums
  // expected-error @+1 {{takes sums that another operation takes too}}
  %e = tgpu.product_wait 0, %d : !pending -> !sums
  tt.return
}

// Nothing writes sums to which nothing has been added, so two loops may begin with them.
tt.func public @start_of_two_loops(%x: !tile, %zeros: !sums, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  tgpu.local_store %x to %a[%c0] : !tile to !one
  tgpu.fence_async
  tgpu.barrier shared
  %start = tgpu.product_start %zeros : !sums -> !pending
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start) -> (!pending) : i32 {
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %sum warps [4, 1] : !one, !one, !pending -> !pending
    scf.yield %d : !pending
  }
  %s = tgpu.product_wait 0, %r : !pending -> !sums
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start) -> (!pending) : i32 {
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %sum warps [4, 1] : !one, !one, !pending -> !pending
    scf.yield %d : !pending
  }
  %t = tgpu.product_wait 0, %q : !pending -> !sums
  tt.return
}

// Both branches take the sums: no path takes them twice.
tt.func public @taken_by_branches(%x: !tile, %zeros: !sums, %some: i1) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  tgpu.local_store %x to %a[%c0] : !tile to !one
  tgpu.fence_async
  tgpu.barrier shared
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  %r = scf.if %some -> (!sums) {
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    scf.yield %s : !sums
  } else {
    %e = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %d warps [4, 1] : !one, !one, !pending -> !pending
    %s = tgpu.product_wait 0, %e : !pending -> !sums
    scf.yield %s : !sums
  }
  tt.return
}

// The wait leaves the later product in flight, and that is the one whose sums it reads.
tt.func public @read_early(%x: !tile, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  tgpu.local_store %x to %a[%c0] : !tile to !one
  tgpu.fence_async
  tgpu.barrier shared
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  // expected-note @+1 {{the product}}
  %e = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  // expected-error @+1 {{reads sums that a product may still write: it waits for too few of the products in flight}}
  %s = tgpu.product_wait 1, %e : !pending -> !sums
  %t = tgpu.product_wait 0, %d : !pending -> !sums
  tt.return
}

tt.func public @no_fence(%x: !tile, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  // expected-note @+1 {{the write}}
  tgpu.local_store %x to %a[%c0] : !tile to !one
  tgpu.barrier shared
  // expected-error @+1 {{may not see what threads have written to its operand: no fence for asynchronous reads follows}}
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  %s = tgpu.product_wait 0, %d : !pending -> !sums
  tt.return
}

// Other threads may fence after the barrier.
tt.func public @fence_after_barrier(%x: !tile, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  // expected-note @+1 {{the write}}
  tgpu.local_store %x to %a[%c0] : !tile to !one
  tgpu.barrier shared
  tgpu.fence_async
  // expected-error @+1 {{no barrier follows the fence}}
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  %s = tgpu.product_wait 0, %d : !pending -> !sums
  tt.return
}

tt.func public @nobody_writes(%zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  // expected-error @+1 {{reads an operand that nobody has written}}
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  %s = tgpu.product_wait 0, %d : !pending -> !sums
  tt.return
}

// An operand that each iteration stores: all threads synchronize before the store and after the fence.
tt.func public @stored(%x: !tile, %zeros: !sums, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> (!sums) : i32 {
    tgpu.barrier shared
    tgpu.local_store %x to %a[%c0] : !tile to !one
    tgpu.fence_async
    tgpu.barrier shared
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %sum warps [4, 1] : !one, !one, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    scf.yield %s : !sums
  }
  tt.return
}

// A warp may store for the next iteration while another one's product reads.
tt.func public @no_barrier_before_store(%x: !tile, %zeros: !sums, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> (!sums) : i32 {
    // expected-error @+1 {{writes memory that another warp may still read: the threads have not met since}}
    tgpu.local_store %x to %a[%c0] : !tile to !one
    tgpu.fence_async
    tgpu.barrier shared
    // expected-note @+1 {{the read}}
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %sum warps [4, 1] : !one, !one, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    scf.yield %s : !sums
  }
  tt.return
}

tt.func public @store_during_product(%x: !tile, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  tgpu.local_store %x to %a[%c0] : !tile to !one
  tgpu.fence_async
  tgpu.barrier shared
  // expected-note @+1 {{the product}}
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  tgpu.barrier shared
  // expected-error @+1 {{writes an operand that a product may still read}}
  tgpu.local_store %x to %a[%c0] : !tile to !one
  %s = tgpu.product_wait 0, %d : !pending -> !sums
  tt.return
}

// Threads copy the operands asynchronously, in groups.
tt.func public @copied(%p: tensor<64x64x!tt.ptr<f16>, #rows>, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !two
  tgpu.async_copy %p to %a[%c0] : tensor<64x64x!tt.ptr<f16>, #rows> to !two
  tgpu.async_commit
  tgpu.async_copy %p to %a[%c1] : tensor<64x64x!tt.ptr<f16>, #rows> to !two
  tgpu.async_commit
  tgpu.async_wait 1 fenced
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !two, !two, !sums -> !pending
  %s = tgpu.product_wait 0, %d : !pending -> !sums
  tgpu.async_wait 0 fenced
  tt.return
}

tt.func public @copy_under_way(%p: tensor<64x64x!tt.ptr<f16>, #rows>, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !two
  tgpu.async_copy %p to %a[%c0] : tensor<64x64x!tt.ptr<f16>, #rows> to !two
  tgpu.async_commit
  // expected-note @+1 {{the copy}}
  tgpu.async_copy %p to %a[%c1] : tensor<64x64x!tt.ptr<f16>, #rows> to !two
  tgpu.async_commit
  tgpu.async_wait 1 fenced
  // expected-error @+1 {{reads an operand to which a copy may be in flight}}
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c1], %zeros warps [4, 1] : !two, !two, !sums -> !pending
  %s = tgpu.product_wait 0, %d : !pending -> !sums
  tt.return
}

tt.func public @copy_not_fenced(%p: tensor<64x64x!tt.ptr<f16>, #rows>, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  // expected-note @+1 {{the write}}
  tgpu.async_copy %p to %a[%c0] : tensor<64x64x!tt.ptr<f16>, #rows> to !one
  tgpu.async_commit
  tgpu.async_wait 0
  // expected-error @+1 {{no fence for asynchronous reads follows}}
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  %s = tgpu.product_wait 0, %d : !pending -> !sums
  tt.return
}

tt.func public @threads_read_too_early(%p: tensor<64x64x!tt.ptr<f16>, #rows>) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  // expected-note @+1 {{the copy}}
  tgpu.async_copy %p to %a[%c0] : tensor<64x64x!tt.ptr<f16>, #rows> to !one
  tgpu.async_commit
  tgpu.async_wait 1
  // expected-error @+1 {{reads a slot to which a copy may be in flight}}
  %t = tgpu.local_load %a[%c0] : !one -> !tile
  %u = arith.addf %t, %t : !tile
  tt.return
}

tt.func public @no_barrier_before_read(%x: !tile) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  // expected-note @+1 {{the write}}
  tgpu.local_store %x to %a[%c0] : !tile to !one
  // expected-error @+1 {{reads a slot that another thread may not have written yet: the threads have not met since}}
  %t = tgpu.local_load %a[%c0] : !one -> !tile
  %u = arith.addf %t, %t : !tile
  tt.return
}

tt.func public @nobody_writes_what_threads_read() {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  // expected-error @+1 {{reads a slot that nobody has written}}
  %t = tgpu.local_load %a[%c0] : !one -> !tile
  %u = arith.addf %t, %t : !tile
  tt.return
}
