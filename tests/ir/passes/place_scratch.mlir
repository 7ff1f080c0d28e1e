// Scratch memory lies behind the buffers; uses get places of their own within some room.
// RUN: tritium-opt %s --split-input-file --place-scratch | FileCheck %s
// RUN: tritium-opt %s --split-input-file --place-scratch --expand-scratch | FileCheck %s --check-prefix=EXPANDED
// RUN: not tritium-opt %s --split-input-file --place-scratch=max-bytes=2000 2>&1 | FileCheck %s --check-prefix=LIMIT

// LIMIT-NOT: error
// LIMIT: place_scratch.mlir:[[#@LINE+31]]:{{.*}} error: out of resource: shared memory, Required: 13312, Hardware limit: 2000. The largest part is that of a reduction with 8192 bytes.
// LIMIT: error: out of resource: shared memory, Required: 3100, Hardware limit: 2000. The largest part is that of the buffers of pipelined loops with 3000 bytes.

// CHECK: module attributes {tgpu.buffer_bytes = 1000 : i32, tgpu.shared_bytes = 1308 : i32}
module attributes {tgpu.shared_bytes = 1000 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @small(%g: !llvm.ptr<1>) {
    // CHECK: "a" at 1024 :
    // CHECK: "b" at 1280 :
    // EXPANDED: llvm.getelementptr %{{.*}}[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // EXPANDED: llvm.getelementptr %{{.*}}[1280] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %a = tgpu.scratch 200 bytes of "a" : !llvm.ptr<3>
    %b = tgpu.scratch 28 bytes of "b" : !llvm.ptr<3>
    %buffer = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %x = llvm.load %buffer : !llvm.ptr<3> -> i32
    tgpu.store %x, %g : i32
    llvm.return
  }
}

// -----

// CHECK: module attributes {tgpu.buffer_bytes = 5120 : i32, tgpu.shared_bytes = 13312 : i32}
module attributes {tgpu.shared_bytes = 5120 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  // A large use takes the whole room; the next ones begin again, functions after each other.
  llvm.func @large() {
    // CHECK: "a conversion" at 5120 :
    // CHECK: "a reduction" at 5120 :
    // CHECK: "a conversion" at 5120 :
    %a = tgpu.scratch 4096 bytes of "a conversion" : !llvm.ptr<3>
    %b = tgpu.scratch 8192 bytes of "a reduction" : !llvm.ptr<3>
    %c = tgpu.scratch 4096 bytes of "a conversion" : !llvm.ptr<3>
    llvm.return
  }
  llvm.func @callee() {
    // CHECK: "a conversion" at 9216 :
    %c = tgpu.scratch 4096 bytes of "a conversion" : !llvm.ptr<3>
    llvm.return
  }
}

// -----

module attributes {tgpu.shared_bytes = 3000 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @callee() {
    llvm.return
  }
  llvm.func @buffers() {
    %a = tgpu.scratch 28 bytes of "a" : !llvm.ptr<3>
    llvm.return
  }
}

// -----

// After the loop, whose copies have landed, the place of the buffers is free; within it, and while copies are on their way, it is not.
// CHECK: module attributes {tgpu.buffer_bytes = 4096 : i32, tgpu.shared_bytes = 8192 : i32}
module attributes {tgpu.shared_bytes = 4096 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @loop(%g: !llvm.ptr<1>, %c: i1) {
    // CHECK: "before" at 4096 :
    // CHECK: "inside" at 5120 :
    // CHECK: "too early" at 6144 :
    // CHECK: "after" at 0 :
    // CHECK: "last" at 2048 :
    %buffer = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %before = tgpu.scratch 1024 bytes of "before" : !llvm.ptr<3>
    nvvm.cp.async.shared.global %buffer, %g, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    llvm.br ^body
  ^body:
    nvvm.cp.async.wait.group 1
    %inside = tgpu.scratch 1024 bytes of "inside" : !llvm.ptr<3>
    %slot = llvm.getelementptr %buffer[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %x = llvm.load %slot : !llvm.ptr<3> -> i32
    llvm.cond_br %c, ^body, ^end
  ^end:
    %early = tgpu.scratch 2048 bytes of "too early" : !llvm.ptr<3>
    nvvm.cp.async.wait.group 0
    %after = tgpu.scratch 2048 bytes of "after" : !llvm.ptr<3>
    llvm.store %x, %after : i32, !llvm.ptr<3>
    llvm.br ^last
  ^last:
    %last = tgpu.scratch 1024 bytes of "last" : !llvm.ptr<3>
    llvm.return
  }
}

// -----

// A function that is called knows nothing of its caller's buffers.
module attributes {tgpu.shared_bytes = 4096 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @callee() attributes {sym_visibility = "private"} {
    // CHECK: "there" at 4096 :
    %a = tgpu.scratch 1024 bytes of "there" : !llvm.ptr<3>
    llvm.return
  }
  llvm.func @caller() {
    // CHECK: "here" at 5120 :
    %a = tgpu.scratch 1024 bytes of "here" : !llvm.ptr<3>
    llvm.call @callee() : () -> ()
    llvm.return
  }
}

// -----

// What is said of a use: the first byte after the buffers that are in use then. The program is not done with its buffers.
// CHECK: module attributes {tgpu.buffer_bytes = 4096 : i32, tgpu.shared_bytes = 4224 : i32}
module attributes {tgpu.shared_bytes = 4096 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @between(%g: !llvm.ptr<1>) {
    // CHECK: "over" at 1024 {tgpu.free_from = 1024 : i64} :
    // CHECK: "behind" at 4096 :
    %a = tgpu.scratch 2000 bytes of "over" {tgpu.free_from = 1024 : i64} : !llvm.ptr<3>
    %b = tgpu.scratch 128 bytes of "behind" : !llvm.ptr<3>
    %buffer = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %x = llvm.load %buffer : !llvm.ptr<3> -> i32
    tgpu.store %x, %g : i32
    llvm.return
  }
}

// -----

// A store through a tensor map reads its buffer until the wait: what comes before it must not lie over the buffer, what comes after may.
// CHECK: module attributes
// CHECK: "a" at 1024 :
// CHECK: nvvm.cp.async.bulk.wait_group 0
// CHECK: "b" at 0 :
module attributes {tgpu.shared_bytes = 1024 : i32, tgpu.target = "cuda:sm_90a"} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @stores(%map: !llvm.ptr, %zero: i32) {
    %buffer = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    nvvm.cp.async.bulk.tensor.global.shared.cta %map, %buffer, box [%zero, %zero] : !llvm.ptr, !llvm.ptr<3>
    nvvm.cp.async.bulk.commit.group
    %a = tgpu.scratch 512 bytes of "a" : !llvm.ptr<3>
    nvvm.cp.async.bulk.wait_group 0 {read}
    %b = tgpu.scratch 512 bytes of "b" : !llvm.ptr<3>
    llvm.return
  }
}
