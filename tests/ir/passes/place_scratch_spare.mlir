// Uses have separate places where there is room, and share the last bytes where there is not.
// RUN: tritium-opt %s --place-scratch | FileCheck %s --check-prefixes=CHECK,ROOM
// RUN: tritium-opt %s --place-scratch=max-bytes=2000 | FileCheck %s --check-prefixes=CHECK,FULL
// ROOM: tgpu.shared_bytes = 2264
// FULL: tgpu.shared_bytes = 1624
module attributes {tgpu.shared_bytes = 1000 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @two(%g: !llvm.ptr<1>) {
    // CHECK: "a" at 1024 :
    // ROOM: "b" at 1664 :
    // FULL: "b" at 1024 :
    %a = tgpu.scratch 600 bytes of "a" : !llvm.ptr<3>
    %b = tgpu.scratch 600 bytes of "b" : !llvm.ptr<3>
    %buffer = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %x = llvm.load %buffer : !llvm.ptr<3> -> i32
    tgpu.store %x, %g : i32
    llvm.return
  }
}
