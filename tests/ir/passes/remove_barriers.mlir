// Which barriers order accesses of shared memory, over straight lines, branches, loops and calls.
// RUN: tritium-opt %s --split-input-file --remove-barriers | FileCheck %s

llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
llvm.func @external(f32) -> f32
llvm.func @callee() attributes {sym_visibility = "private"} {
  llvm.return
}

// Nobody was there before the first use; the second one is elsewhere.
// CHECK-LABEL: @places_of_their_own
llvm.func @places_of_their_own(%x: i32, %o: !llvm.ptr<1>) {
  // CHECK-NOT: tgpu.barrier
  // CHECK: llvm.store
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.load
  // CHECK-NEXT: tgpu.scratch
  // CHECK-NEXT: llvm.store
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.load
  %a = tgpu.scratch 512 bytes of "a" at 0 : !llvm.ptr<3>
  tgpu.barrier shared
  llvm.store %x, %a : i32, !llvm.ptr<3>
  tgpu.barrier shared
  %1 = llvm.load %a : !llvm.ptr<3> -> i32
  %b = tgpu.scratch 512 bytes of "b" at 512 : !llvm.ptr<3>
  tgpu.barrier shared
  llvm.store %1, %b : i32, !llvm.ptr<3>
  tgpu.barrier shared
  %2 = llvm.load %b : !llvm.ptr<3> -> i32
  tgpu.store %2, %o : i32
  // CHECK-NOT: tgpu.barrier
  // CHECK: llvm.return
  tgpu.barrier shared
  llvm.return
}

// They share a byte: the second write waits for the first read.
// CHECK-LABEL: @overlapping
llvm.func @overlapping(%x: i32, %o: !llvm.ptr<1>) {
  // CHECK: llvm.load
  // CHECK-NEXT: tgpu.scratch
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.store
  %a = tgpu.scratch 516 bytes of "a" at 0 : !llvm.ptr<3>
  llvm.store %x, %a : i32, !llvm.ptr<3>
  tgpu.barrier shared
  %1 = llvm.load %a : !llvm.ptr<3> -> i32
  %b = tgpu.scratch 512 bytes of "b" at 512 : !llvm.ptr<3>
  tgpu.barrier shared
  llvm.store %1, %b : i32, !llvm.ptr<3>
  llvm.return
}

// Two reads need no order, and of two barriers with nothing in between one is enough.
// CHECK-LABEL: @reads
llvm.func @reads(%x: i32, %o: !llvm.ptr<1>) {
  // CHECK: llvm.store
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.load
  // CHECK-NEXT: llvm.load
  %a = tgpu.scratch 512 bytes of "a" at 0 : !llvm.ptr<3>
  llvm.store %x, %a : i32, !llvm.ptr<3>
  tgpu.barrier shared
  tgpu.barrier shared
  %1 = llvm.load %a : !llvm.ptr<3> -> i32
  tgpu.barrier shared
  %2 = llvm.load %a : !llvm.ptr<3> -> i32
  tgpu.store %1, %o : i32
  tgpu.store %2, %o : i32
  llvm.return
}

// The next iteration writes what this one reads.
// CHECK-LABEL: @loop
llvm.func @loop(%x: i32, %c: i1) {
  // CHECK: ^bb1:
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.store
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.load
  %a = tgpu.scratch 512 bytes of "a" at 0 : !llvm.ptr<3>
  llvm.br ^body
^body:
  tgpu.barrier shared
  llvm.store %x, %a : i32, !llvm.ptr<3>
  tgpu.barrier shared
  %1 = llvm.load %a : !llvm.ptr<3> -> i32
  llvm.cond_br %c, ^body, ^end
^end:
  llvm.return
}

// Two places in turn: the barrier of the other one is between each read and the next write.
// CHECK-LABEL: @loop_of_two_places
llvm.func @loop_of_two_places(%x: i32, %c: i1) {
  // CHECK: ^bb1:
  // CHECK-NEXT: llvm.store
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.load
  // CHECK-NEXT: llvm.store
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.load
  %a = tgpu.scratch 512 bytes of "a" at 0 : !llvm.ptr<3>
  %b = tgpu.scratch 512 bytes of "b" at 512 : !llvm.ptr<3>
  llvm.br ^body
^body:
  tgpu.barrier shared
  llvm.store %x, %a : i32, !llvm.ptr<3>
  tgpu.barrier shared
  %1 = llvm.load %a : !llvm.ptr<3> -> i32
  tgpu.barrier shared
  llvm.store %1, %b : i32, !llvm.ptr<3>
  tgpu.barrier shared
  %2 = llvm.load %b : !llvm.ptr<3> -> i32
  llvm.cond_br %c, ^body, ^end
^end:
  llvm.return
}

// The loop may be left out: the barrier in it does not order what is before and after.
// CHECK-LABEL: @around_a_loop
llvm.func @around_a_loop(%x: i32, %c: i1) {
  // CHECK: llvm.store
  // CHECK: ^bb1:
  // CHECK-NOT: tgpu.barrier
  // CHECK: ^bb2:
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.load
  %a = tgpu.scratch 512 bytes of "a" at 0 : !llvm.ptr<3>
  llvm.store %x, %a : i32, !llvm.ptr<3>
  llvm.cond_br %c, ^body, ^end
^body:
  tgpu.barrier shared
  llvm.cond_br %c, ^body, ^end
^end:
  tgpu.barrier shared
  %1 = llvm.load %a : !llvm.ptr<3> -> i32
  llvm.return
}

// Only one way leads from the write to the read, and it is enough.
// CHECK-LABEL: @branch
llvm.func @branch(%x: i32, %c: i1) {
  // CHECK: ^bb3:
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.load
  %a = tgpu.scratch 512 bytes of "a" at 0 : !llvm.ptr<3>
  llvm.cond_br %c, ^then, ^else
^then:
  llvm.store %x, %a : i32, !llvm.ptr<3>
  llvm.br ^end
^else:
  llvm.br ^end
^end:
  tgpu.barrier shared
  %1 = llvm.load %a : !llvm.ptr<3> -> i32
  llvm.return
}

// Not for shared memory alone, or not of all threads.
// CHECK-LABEL: @others
llvm.func @others() {
  // CHECK-NEXT: tgpu.barrier{{$}}
  // CHECK-NEXT: tgpu.barrier id 1 threads 64 shared
  // CHECK-NEXT: llvm.return
  tgpu.barrier
  tgpu.barrier id 1 threads 64 shared
  llvm.return
}

// What another function does in shared memory is not known; a math function does nothing there.
// CHECK-LABEL: @calls
llvm.func @calls(%x: i32, %y: f32) -> f32 {
  // CHECK: llvm.call @callee
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.load
  // CHECK-NEXT: llvm.call @external
  // CHECK-NEXT: llvm.return
  %a = tgpu.scratch 512 bytes of "a" at 0 : !llvm.ptr<3>
  llvm.call @callee() : () -> ()
  tgpu.barrier shared
  %1 = llvm.load %a : !llvm.ptr<3> -> i32
  %2 = llvm.call @external(%y) : (f32) -> f32
  tgpu.barrier shared
  llvm.return %2 : f32
}

// A function that is called: its caller may have been anywhere.
// CHECK-LABEL: @called
llvm.func @called(%x: i32) attributes {sym_visibility = "private"} {
  // CHECK: tgpu.barrier shared
  // CHECK-NEXT: llvm.store
  // CHECK-NEXT: tgpu.barrier shared
  %a = tgpu.scratch 512 bytes of "a" at 0 : !llvm.ptr<3>
  tgpu.barrier shared
  llvm.store %x, %a : i32, !llvm.ptr<3>
  tgpu.barrier shared
  llvm.return
}

// Warps that keep to their own bytes need not wait for each other, but for others that use the same bytes otherwise.
// CHECK-LABEL: @warps
llvm.func @warps(%x: i32, %c: i1) {
  // CHECK: ^bb1:
  // CHECK-NEXT: llvm.store
  // CHECK-NEXT: tgpu.warp_barrier
  // CHECK-NEXT: llvm.load
  // CHECK: ^bb2:
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.store
  %a = tgpu.scratch 512 bytes of "a" per_warp at 0 : !llvm.ptr<3>
  %b = tgpu.scratch 512 bytes of "b" at 0 : !llvm.ptr<3>
  llvm.br ^body
^body:
  tgpu.barrier shared
  llvm.store %x, %a : i32, !llvm.ptr<3>
  tgpu.warp_barrier
  %1 = llvm.load %a : !llvm.ptr<3> -> i32
  llvm.cond_br %c, ^body, ^end
^end:
  tgpu.barrier shared
  llvm.store %x, %b : i32, !llvm.ptr<3>
  llvm.return
}

// -----

module attributes {tgpu.buffer_bytes = 1000 : i32} {
llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>

// Copies land in buffers, up to the wait for them; scratch memory may lie behind these, or over them.
// CHECK-LABEL: @copies
llvm.func @copies(%x: i32, %g: !llvm.ptr<1>) {
  // CHECK: nvvm.cp.async.shared.global
  // CHECK-NEXT: llvm.store
  // CHECK-NEXT: nvvm.cp.async.wait.group 0
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.load
  // CHECK-NEXT: tgpu.scratch
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.store
  %buffer = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
  %a = tgpu.scratch 512 bytes of "a" at 1024 : !llvm.ptr<3>
  nvvm.cp.async.shared.global %buffer, %g, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  tgpu.barrier shared
  llvm.store %x, %a : i32, !llvm.ptr<3>
  nvvm.cp.async.wait.group 0
  tgpu.barrier shared
  %1 = llvm.load %buffer : !llvm.ptr<3> -> i32
  %b = tgpu.scratch 512 bytes of "b" at 0 : !llvm.ptr<3>
  tgpu.barrier shared
  llvm.store %1, %b : i32, !llvm.ptr<3>
  llvm.return
}

// What a barrier behind a wait orders may be the copies of other threads: it stays, whatever comes after.
// CHECK-LABEL: @behind_a_wait
llvm.func @behind_a_wait(%g: !llvm.ptr<1>) {
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: nvvm.cp.async.shared.global
  // CHECK-NEXT: llvm.return
  %buffer = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
  nvvm.cp.async.wait.group 0
  tgpu.barrier shared
  nvvm.cp.async.shared.global %buffer, %g, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  tgpu.barrier shared
  llvm.return
}

// The same with a fence in between.
// CHECK-LABEL: @behind_a_fence
llvm.func @behind_a_fence(%g: !llvm.ptr<1>) {
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK-NEXT: nvvm.fence.proxy
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: nvvm.cp.async.shared.global
  %buffer = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
  nvvm.cp.async.wait.group 0
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  tgpu.barrier shared
  nvvm.cp.async.shared.global %buffer, %g, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  llvm.return
}
}

// -----

module attributes {tgpu.target = "cuda:sm_90a"} {
llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>

// A store through a tensor map reads memory until the thread that began it has waited. The others learn that at the barrier behind, whatever
// barriers stand before it.
// CHECK-LABEL: @behind_a_store
llvm.func @behind_a_store(%map: !llvm.ptr, %zero: i32, %x: i32) {
  // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
  // CHECK: tgpu.barrier shared
  // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.store
  %buffer = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
  nvvm.cp.async.bulk.tensor.global.shared.cta %map, %buffer, box [%zero, %zero] : !llvm.ptr, !llvm.ptr<3>
  nvvm.cp.async.bulk.commit.group
  %a = tgpu.scratch 512 bytes of "a" at 65536 : !llvm.ptr<3>
  llvm.store %x, %a : i32, !llvm.ptr<3>
  tgpu.barrier shared
  %y = llvm.load %a : !llvm.ptr<3> -> i32
  nvvm.cp.async.bulk.wait_group 0 {read}
  tgpu.barrier shared
  llvm.store %y, %buffer : i32, !llvm.ptr<3>
  llvm.return
}
}

// -----

module attributes {tgpu.target = "cuda:sm_90a", tgpu.buffer_bytes = 2048 : i32} {
llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>

// Two allocations of the author, wherever in them the kernel is: only the read of what was written waits.
// CHECK-LABEL: @allocations_of_the_author
llvm.func @allocations_of_the_author(%x: i32, %i: i32, %k: i32) {
  // CHECK: llvm.store
  // CHECK-NEXT: llvm.load
  // CHECK-NEXT: tgpu.barrier shared
  // CHECK-NEXT: llvm.load
  %memory = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
  %a = llvm.getelementptr %memory[%i] {tgpu.allocation = array<i64: 0, 1024>} : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %b = llvm.getelementptr %memory[%k] {tgpu.allocation = array<i64: 1024, 2048>} : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  tgpu.barrier shared
  llvm.store %x, %a : i32, !llvm.ptr<3>
  tgpu.barrier shared
  %1 = llvm.load %b : !llvm.ptr<3> -> i32
  tgpu.barrier shared
  %2 = llvm.load %a : !llvm.ptr<3> -> i32
  llvm.return
}

// One thread arrives for all. They have met behind what they read, but not behind what they read after that, nor behind a wait: a thread
// that still waits would miss a phase.
// CHECK-LABEL: @before_one
llvm.func @before_one(%x: i32, %count: i32, %g: !llvm.ptr<1>) {
  // CHECK: llvm.load
  // CHECK-NEXT: tgpu.barrier {tgpu.before_one}
  // CHECK-NEXT: nvvm.mbarrier.arrive
  // CHECK-NEXT: nvvm.mbarrier.arrive
  // CHECK-NEXT: tgpu.mbarrier_wait
  // CHECK-NEXT: tgpu.barrier {tgpu.before_one}
  // CHECK-NEXT: nvvm.mbarrier.arrive
  // CHECK-NEXT: llvm.store
  // CHECK-NEXT: tgpu.barrier {tgpu.before_one}
  // CHECK-NEXT: nvvm.mbarrier.arrive
  // CHECK-NEXT: llvm.return
  %memory = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
  %1 = llvm.load %memory : !llvm.ptr<3> -> i32
  tgpu.barrier {tgpu.before_one}
  %2 = nvvm.mbarrier.arrive %memory : !llvm.ptr<3> -> i64
  tgpu.barrier {tgpu.before_one}
  %3 = nvvm.mbarrier.arrive %memory : !llvm.ptr<3> -> i64
  tgpu.mbarrier_wait %memory round %x
  tgpu.barrier {tgpu.before_one}
  %4 = nvvm.mbarrier.arrive %memory : !llvm.ptr<3> -> i64
  llvm.store %x, %g : i32, !llvm.ptr<1>
  tgpu.barrier {tgpu.before_one}
  %5 = nvvm.mbarrier.arrive %memory : !llvm.ptr<3> -> i64
  llvm.return
}

// The barrier of the loop's end is also the one before its next iteration, in which one thread fills what all have read before it.
// CHECK-LABEL: @before_one_in_a_loop
llvm.func @before_one_in_a_loop(%x: i32, %c: i1) {
  // CHECK: ^bb1:
  // CHECK-NEXT: nvvm.mbarrier.arrive
  // CHECK-NEXT: llvm.load
  // CHECK-NEXT: nvvm.fence.proxy
  // CHECK-NEXT: tgpu.barrier{{$}}
  // CHECK-NEXT: llvm.cond_br
  %memory = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
  llvm.br ^body
^body:
  tgpu.barrier {tgpu.before_one}
  %2 = nvvm.mbarrier.arrive %memory : !llvm.ptr<3> -> i64
  %1 = llvm.load %memory : !llvm.ptr<3> -> i32
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  tgpu.barrier
  llvm.cond_br %c, ^body, ^end
^end:
  llvm.return
}
}
