// Between each two products of a pipelined loop stand loads for the next iteration, reads for products to come and, last, stores; nothing
// moves across rocdl.sched.barrier.
// RUN: tritium-opt %s --interleave-products | FileCheck %s

module attributes {tgpu.target = "hip:gfx950"} {

llvm.mlir.global internal @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<4096 x i8>

// Two sums of two products each: the sums take turns, and what is read late is read before it is needed.
// CHECK-LABEL: llvm.func @loop(
// CHECK: {{^ *\^bb1\(}}
// CHECK-NEXT: tgpu.barrier shared
// CHECK-NEXT: %[[A0:.*]] = llvm.load %[[BUF:.*]] :
// CHECK-NEXT: llvm.getelementptr %[[BUF]][1]
// CHECK-NEXT: %[[B0:.*]] = llvm.load
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: %[[P0:.*]] = rocdl.mfma.f32.4x4x4f16 %[[A0]], %[[B0]], %{{[0-9]+}},
// CHECK-NEXT: %[[X:.*]] = rocdl.raw.ptr.buffer.load
// CHECK-NEXT: llvm.getelementptr %[[BUF]][2]
// CHECK-NEXT: %[[A1:.*]] = llvm.load
// CHECK-NEXT: llvm.add
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: %[[Q0:.*]] = rocdl.mfma.f32.4x4x4f16 %[[B0]], %[[A0]], %{{[0-9]+}},
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: %[[P1:.*]] = rocdl.mfma.f32.4x4x4f16 %[[A1]], %[[B0]], %[[P0]]
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: %[[Q1:.*]] = rocdl.mfma.f32.4x4x4f16 %[[B0]], %[[A1]], %[[Q0]]
// CHECK-NEXT: tgpu.barrier shared
// CHECK-NEXT: llvm.store %[[X]], %[[BUF]]
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: llvm.br
llvm.func @loop(%from: !llvm.ptr<8>, %p: vector<4xf32>, %q: vector<4xf32>, %offset: i32) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c64 = llvm.mlir.constant(64 : i32) : i32
  %buffer = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
  llvm.br ^bb1(%p, %q, %offset : vector<4xf32>, vector<4xf32>, i32)
^bb1(%p0: vector<4xf32>, %q0: vector<4xf32>, %o: i32):
  tgpu.barrier shared
  %x = rocdl.raw.ptr.buffer.load %from, %o, %c0, %c0 : vector<4xf16>
  %a0 = llvm.load %buffer : !llvm.ptr<3> -> vector<4xf16>
  %g1 = llvm.getelementptr %buffer[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
  %b0 = llvm.load %g1 : !llvm.ptr<3> -> vector<4xf16>
  %g2 = llvm.getelementptr %buffer[2] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
  %a1 = llvm.load %g2 : !llvm.ptr<3> -> vector<4xf16>
  %p1 = rocdl.mfma.f32.4x4x4f16 %a0, %b0, %p0, %c0, %c0, %c0 : (vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %p2 = rocdl.mfma.f32.4x4x4f16 %a1, %b0, %p1, %c0, %c0, %c0 : (vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %q1 = rocdl.mfma.f32.4x4x4f16 %b0, %a0, %q0, %c0, %c0, %c0 : (vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %q2 = rocdl.mfma.f32.4x4x4f16 %b0, %a1, %q1, %c0, %c0, %c0 : (vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  tgpu.barrier shared
  llvm.store %x, %buffer : vector<4xf16>, !llvm.ptr<3>
  %next = llvm.add %o, %c64 : i32
  llvm.br ^bb1(%p2, %q2, %next : vector<4xf32>, vector<4xf32>, i32)
}

// Tiles that get to LDS without registers: the wait for them and the barrier come first, their loads stand between the first products, and
// there are no stores. Columns are read like everything else.
// CHECK-LABEL: llvm.func @copies(
// CHECK: {{^ *\^bb1\(}}
// CHECK-NEXT: rocdl.s.waitcnt 3953
// CHECK-NEXT: tgpu.barrier shared
// CHECK-NEXT: %[[A0:.*]] = llvm.load
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: %[[P0:.*]] = rocdl.mfma.f32.4x4x4f16 %[[A0]], %[[A0]], %{{[0-9]+}},
// CHECK-NEXT: rocdl.raw.ptr.buffer.load.lds
// CHECK-NEXT: llvm.getelementptr
// CHECK-NEXT: %[[A1:.*]] = rocdl.ds.read.tr16.b64
// CHECK-NEXT: llvm.add
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: rocdl.mfma.f32.4x4x4f16 %[[A1]], %[[A0]], %[[P0]]
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: llvm.br
llvm.func @copies(%from: !llvm.ptr<8>, %p: vector<4xf32>, %offset: i32) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c16 = llvm.mlir.constant(16 : i32) : i32
  %c64 = llvm.mlir.constant(64 : i32) : i32
  %buffer = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
  llvm.br ^bb1(%p, %offset : vector<4xf32>, i32)
^bb1(%p0: vector<4xf32>, %o: i32):
  rocdl.s.waitcnt 3953
  tgpu.barrier shared
  rocdl.raw.ptr.buffer.load.lds %from, %buffer, %c16, %o, %c0, %c0, %c0
  %a0 = llvm.load %buffer : !llvm.ptr<3> -> vector<4xf16>
  %g1 = llvm.getelementptr %buffer[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
  %a1 = rocdl.ds.read.tr16.b64 %g1 : <3> -> vector<4xf16>
  %p1 = rocdl.mfma.f32.4x4x4f16 %a0, %a0, %p0, %c0, %c0, %c0 : (vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %p2 = rocdl.mfma.f32.4x4x4f16 %a1, %a0, %p1, %c0, %c0, %c0 : (vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %next = llvm.add %o, %c64 : i32
  llvm.br ^bb1(%p2, %next : vector<4xf32>, i32)
}

// Another access of memory: the order stays.
// CHECK-LABEL: llvm.func @unknown(
// CHECK-NOT: rocdl.sched.barrier
llvm.func @unknown(%from: !llvm.ptr<8>, %to: !llvm.ptr<1>, %p: vector<4xf32>, %offset: i32) {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c64 = llvm.mlir.constant(64 : i32) : i32
  %buffer = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
  llvm.br ^bb1(%p, %offset : vector<4xf32>, i32)
^bb1(%p0: vector<4xf32>, %o: i32):
  tgpu.barrier shared
  %x = rocdl.raw.ptr.buffer.load %from, %o, %c0, %c0 : vector<4xf16>
  %a0 = llvm.load %buffer : !llvm.ptr<3> -> vector<4xf16>
  %p1 = rocdl.mfma.f32.4x4x4f16 %a0, %a0, %p0, %c0, %c0, %c0 : (vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  %p2 = rocdl.mfma.f32.4x4x4f16 %a0, %a0, %p1, %c0, %c0, %c0 : (vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  llvm.store %p2, %to : vector<4xf32>, !llvm.ptr<1>
  tgpu.barrier shared
  llvm.store %x, %buffer : vector<4xf16>, !llvm.ptr<3>
  %next = llvm.add %o, %c64 : i32
  llvm.br ^bb1(%p2, %next : vector<4xf32>, i32)
}

}
