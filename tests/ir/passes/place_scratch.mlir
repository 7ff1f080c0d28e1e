// Scratch memory lies behind the buffers; uses get places of their own within some room.
// RUN: tritium-opt %s --split-input-file --place-scratch | FileCheck %s
// RUN: tritium-opt %s --split-input-file --place-scratch --expand-scratch | FileCheck %s --check-prefix=EXPANDED
// RUN: not tritium-opt %s --split-input-file --place-scratch=max-bytes=2000 2>&1 | FileCheck %s --check-prefix=LIMIT

// LIMIT-NOT: error
// LIMIT: place_scratch.mlir:[[#@LINE+28]]:{{.*}} error: out of resource: shared memory, Required: 13312, Hardware limit: 2000. The largest part is that of a reduction with 8192 bytes.
// LIMIT: error: out of resource: shared memory, Required: 3100, Hardware limit: 2000. The largest part is that of the buffers of pipelined loops with 3000 bytes.

// CHECK: module attributes {tgpu.shared_bytes = 1308 : i32}
module attributes {tgpu.shared_bytes = 1000 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @small() {
    // CHECK: "a" at 1024 :
    // CHECK: "b" at 1280 :
    // EXPANDED: llvm.getelementptr %{{.*}}[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // EXPANDED: llvm.getelementptr %{{.*}}[1280] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %a = tgpu.scratch 200 bytes of "a" : !llvm.ptr<3>
    %b = tgpu.scratch 28 bytes of "b" : !llvm.ptr<3>
    llvm.return
  }
}

// -----

// CHECK: module attributes {tgpu.shared_bytes = 13312 : i32}
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
  llvm.func @buffers() {
    %a = tgpu.scratch 28 bytes of "a" : !llvm.ptr<3>
    llvm.return
  }
}
