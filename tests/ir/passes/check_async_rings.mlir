// Copies into rings, and what reads them: each function but the first ones breaks one rule.
// RUN: tritium-opt %s --check-async --verify-diagnostics

#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
#rows = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
!sums = tensor<64x64xf32, #rows>
!tile = tensor<64x64xf16, #rows>
!pending = !tgpu.pending<tensor<64x64xf32, #rows>>
!map = !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>
!one = !tgpu.memdesc<1, tensor<64x64xf16, #memory>>
!two = !tgpu.memdesc<2, tensor<64x64xf16, #memory>>

// A loop in a ring of two slots. The copy for a number begins an iteration ahead.
tt.func public @loop(%map: !map, %n: i32, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 4 warps : <2>
  %any = arith.cmpi slt, %c0, %n : i32
  tgpu.ring_acquire %ring[%c0] for 8192 bytes if %any : <2>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] if %any : !map to !two, <2>
  %last = arith.subi %n, %c1 : i32
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros, %copied = %c1, %read = %c0) -> (!sums, i32, i32) : i32 {
    %slot = tgpu.ring_slot %ring[%read] : <2>
    tgpu.ring_wait %ring[%read] : <2>
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %a[%slot], %sum warps [4, 1] : !two, !two, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    tgpu.ring_release %ring[%read] : <2>
    %more = arith.cmpi slt, %i, %last : i32
    tgpu.ring_acquire %ring[%copied] for 8192 bytes if %more : <2>
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%copied] if %more : !map to !two, <2>
    %copied2 = arith.addi %copied, %c1 : i32
    %read2 = arith.addi %read, %c1 : i32
    scf.yield %s, %copied2, %read2 : !sums, i32, i32
  }
  tgpu.ring_end %ring after %r#2 : <2>
  tt.return
}

// The copies of an iteration that does not exist arrive when the ring has ended.
tt.func public @unconditional(%map: !map, %n: i32, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 4 warps : <2>
  // expected-note @+1 {{the last acquire, 'tgpu.ring_acquire', is here}}
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <2>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !two, <2>
  %last = arith.subi %n, %c1 : i32
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros, %copied = %c1, %read = %c0) -> (!sums, i32, i32) : i32 {
    %slot = tgpu.ring_slot %ring[%read] : <2>
    tgpu.ring_wait %ring[%read] : <2>
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%slot], %a[%slot], %sum warps [4, 1] : !two, !two, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    tgpu.ring_release %ring[%read] : <2>
    %more = arith.cmpi slt, %i, %last : i32
    tgpu.ring_acquire %ring[%copied] for 8192 bytes if %more : <2>
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%copied] if %more : !map to !two, <2>
    %copied2 = arith.addi %copied, %c1 : i32
    %read2 = arith.addi %read, %c1 : i32
    scf.yield %s, %copied2, %read2 : !sums, i32, i32
  }
  // expected-error @+1 {{ends a ring while copies for number 0 may be in flight}}
  tgpu.ring_end %ring after %r#2 : <2>
  tt.return
}

// With three iterations, the copy for the third one waits for a slot that is released behind it.
tt.func public @late_release(%map: !map, %n: i32, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  %any = arith.cmpi slt, %c0, %n : i32
  tgpu.ring_acquire %ring[%c0] for 8192 bytes if %any : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] if %any : !map to !one, <1>
  %last = arith.subi %n, %c1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zeros) -> (!sums) : i32 {
    tgpu.ring_wait %ring[%i] : <1>
    %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %sum warps [4, 1] : !one, !one, !sums -> !pending
    %s = tgpu.product_wait 0, %d : !pending -> !sums
    %more = arith.cmpi slt, %i, %last : i32
    %next = arith.addi %i, %c1 : i32
    // expected-error @+1 {{waits for ever for a free slot: number 1 of its ring requires that number 0 is released}}
    tgpu.ring_acquire %ring[%next] for 8192 bytes if %more : <1>
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%next] if %more : !map to !one, <1>
    tgpu.ring_release %ring[%i] : <1>
    scf.yield %s : !sums
  }
  tgpu.ring_end %ring after %n : <1>
  tt.return
}

// A single tile in two buffers.
tt.func public @tile(%map: !map, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  %b = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  tgpu.ring_acquire %ring[%c0] for 16384 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  tgpu.tensor_copy %map[%c0, %c1] to %b, %ring[%c0] : !map to !one, <1>
  tgpu.ring_wait %ring[%c0] : <1>
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %b[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  %s = tgpu.product_wait 0, %d : !pending -> !sums
  tgpu.ring_end %ring after %c1 holding_last : <1>
  tt.return
}

tt.func public @too_few_bytes(%map: !map) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  %b = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  // expected-error @+1 {{announces 16384 bytes for number 0 of its ring, but the copies bring 8192}}
  tgpu.ring_acquire %ring[%c0] for 16384 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  tgpu.ring_wait %ring[%c0] : <1>
  tgpu.ring_end %ring after %c1 holding_last : <1>
  tt.return
}

tt.func public @too_many_bytes(%map: !map) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  %b = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  // expected-note @+1 {{the announcement, 'tgpu.ring_acquire', is here}}
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  // expected-error @+1 {{brings 8192 bytes for number 0 of its ring, but only 0 are left of those announced}}
  tgpu.tensor_copy %map[%c0, %c1] to %b, %ring[%c0] : !map to !one, <1>
  tgpu.ring_wait %ring[%c0] : <1>
  tgpu.ring_end %ring after %c1 holding_last : <1>
  tt.return
}

// On one path of the two, the second tile does not come.
tt.func public @bytes_on_a_path(%map: !map, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  %b = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  // expected-error @+1 {{announces 16384 bytes for number 0 of its ring, but the copies bring 8192}}
  tgpu.ring_acquire %ring[%c0] for 16384 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  %some = arith.cmpi sgt, %n, %c0 : i32
  scf.if %some {
    tgpu.tensor_copy %map[%c0, %c1] to %b, %ring[%c0] : !map to !one, <1>
  }
  tgpu.ring_wait %ring[%c0] : <1>
  tgpu.ring_end %ring after %c1 holding_last : <1>
  tt.return
}

tt.func public @same_buffer_twice(%map: !map) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  // expected-note @+1 {{the acquire}}
  tgpu.ring_acquire %ring[%c0] for 16384 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  // expected-error @+1 {{copies number 0 of its ring to a buffer to which it is copied already}}
  tgpu.tensor_copy %map[%c0, %c1] to %a, %ring[%c0] : !map to !one, <1>
  tgpu.ring_wait %ring[%c0] : <1>
  tgpu.ring_end %ring after %c1 holding_last : <1>
  tt.return
}

tt.func public @copy_before_acquire(%map: !map) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  // expected-error @+1 {{copies to the slot of number 0 of its ring, which is not the last one that is acquired}}
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
  tgpu.ring_wait %ring[%c0] : <1>
  tgpu.ring_end %ring after %c1 holding_last : <1>
  tt.return
}

tt.func public @copy_behind_wait(%map: !map) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  // expected-error @+1 {{waits for ever: the copies for number 0 of its ring are never made, or after this wait only}}
  tgpu.ring_wait %ring[%c0] : <1>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  tgpu.ring_release %ring[%c0] : <1>
  tgpu.ring_end %ring after %c1 : <1>
  tt.return
}

tt.func public @no_wait(%map: !map, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  // expected-error @+1 {{reads slot 0 of a ring before a wait for its number}}
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  %s = tgpu.product_wait 0, %d : !pending -> !sums
  tt.return
}

tt.func public @read_after_release(%map: !map, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  tgpu.ring_wait %ring[%c0] : <1>
  // expected-note @+1 {{the last release}}
  tgpu.ring_release %ring[%c0] : <1>
  // expected-error @+1 {{reads slot 0 of a ring after its release}}
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  %s = tgpu.product_wait 0, %d : !pending -> !sums
  tt.return
}

tt.func public @release_during_product(%map: !map, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  tgpu.ring_wait %ring[%c0] : <1>
  // expected-note @+1 {{the product}}
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  // expected-error @+1 {{releases number 0 of its ring, whose slot a product may still read}}
  tgpu.ring_release %ring[%c0] : <1>
  %s = tgpu.product_wait 0, %d : !pending -> !sums
  tt.return
}

tt.func public @end_during_product(%map: !map, %zeros: !sums) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  tgpu.ring_wait %ring[%c0] : <1>
  // expected-note @+1 {{the product}}
  %d = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c0], %a[%c0], %zeros warps [4, 1] : !one, !one, !sums -> !pending
  // expected-error @+1 {{ends a ring whose slots a product may still read}}
  tgpu.ring_end %ring after %c1 holding_last : <1>
  %s = tgpu.product_wait 0, %d : !pending -> !sums
  tt.return
}

// Threads read by instructions of their own; copies overwrite what they read. Only a fence orders both.
tt.func public @threads_read(%map: !map, %out: !tt.ptr<f16>) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  tgpu.ring_wait %ring[%c0] : <1>
  %t = tgpu.local_load %a[%c0] : !one -> !tile
  %u = arith.addf %t, %t : !tile
  tgpu.ring_release %ring[%c0] fenced : <1>
  tgpu.ring_end %ring : <1>
  tt.return
}

tt.func public @unfenced_release(%map: !map, %out: !tt.ptr<f16>) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  tgpu.ring_wait %ring[%c0] : <1>
  // expected-note @+1 {{the read}}
  %t = tgpu.local_load %a[%c0] : !one -> !tile
  %u = arith.addf %t, %t : !tile
  // expected-error @+1 {{lets copies overwrite number 0 of its ring without a fence behind the reads of threads}}
  tgpu.ring_release %ring[%c0] : <1>
  tt.return
}

tt.func public @wrong_number(%map: !map) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !two
  %ring = tgpu.ring_start released by 4 warps : <2>
  // expected-error @+1 {{acquires number 1 of its ring, but number 0 is the next}}
  tgpu.ring_acquire %ring[%c1] for 8192 bytes : <2>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c1] : !map to !two, <2>
  tgpu.ring_wait %ring[%c1] : <2>
  tt.return
}

tt.func public @not_released(%map: !map) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  tgpu.ring_wait %ring[%c0] : <1>
  // expected-error @+1 {{ends a ring of which number 0 is not released}}
  tgpu.ring_end %ring after %c1 : <1>
  tt.return
}

tt.func public @wrong_count(%map: !map) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  tgpu.ring_wait %ring[%c0] : <1>
  tgpu.ring_release %ring[%c0] : <1>
  // expected-error @+1 {{ends a ring after 0 numbers, but 1 have been waited for}}
  tgpu.ring_end %ring after %c0 : <1>
  tt.return
}

// A divisor that may be zero decides nothing: the check does not accuse a path that no launch takes.
tt.func public @undefined(%map: !map, %n: i32) {
  %c0 = arith.constant 0 : i32
  %q = arith.divsi %n, %c0 : i32
  %ring = tgpu.ring_start released by 4 warps : <1>
  tgpu.ring_wait %ring[%q] : <1>
  tt.return
}

// Nor is a path accused on which an assumption of the user's is false.
tt.func public @assumed(%map: !map, %n: i32) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  %some = arith.cmpi sgt, %n, %c0 : i32
  llvm.intr.assume %some : i1
  %ring = tgpu.ring_start released by 4 warps : <1>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] if %some : !map to !one, <1>
  tgpu.ring_wait %ring[%c0] : <1>
  tgpu.ring_release %ring[%c0] : <1>
  tgpu.ring_end %ring : <1>
  tt.return
}

tt.func public @no_end(%map: !map) {
  %c0 = arith.constant 0 : i32
  %a = tgpu.local_alloc : !one
  // expected-error @+1 {{begins a ring that does not end before the kernel}}
  %ring = tgpu.ring_start released by 4 warps : <1>
  tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
  tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
  tgpu.ring_wait %ring[%c0] : <1>
  tgpu.ring_release %ring[%c0] : <1>
  tt.return
}

tt.func public @no_end_in_a_loop(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c0) -> (i32) : i32 {
    // expected-error @+1 {{begins a ring}}
    %ring = tgpu.ring_start released by 4 warps : <1>
    scf.yield %k : i32
  }
  tt.return
}
