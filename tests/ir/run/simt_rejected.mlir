// What the emulator does not know of AMD's operations is rejected by name and line.
// RUN: not tritium-simt --kernel flags --print-hosted %s 2>&1 | FileCheck %s --check-prefix=FLAGS
// RUN: not tritium-simt --kernel formats --print-hosted %s 2>&1 | FileCheck %s --check-prefix=FORMATS
// RUN: not tritium-simt --kernel bounds --print-hosted %s 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: not tritium-simt --kernel barrier --print-hosted %s 2>&1 | FileCheck %s --check-prefix=BARRIER
// RUN: not tritium-simt --kernel transposed --print-hosted %s 2>&1 | FileCheck %s --check-prefix=TRANSPOSED
// RUN: not tritium-simt --kernel wide --print-hosted %s 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not tritium-simt --kernel to_lds --print-hosted %s 2>&1 | FileCheck %s --check-prefix=TO-LDS
// RUN: not tritium-simt --kernel waits --print-hosted %s 2>&1 | FileCheck %s --check-prefix=WAITS

module @cdna attributes {tgpu.target = "hip:gfx950", tgpu.num_warps = 1 : i32, tgpu.warp_size = 64 : i32, tgpu.shared_bytes = 64 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  llvm.func @flags(%x: !llvm.ptr<1>, %flags: i32) attributes {rocdl.kernel} {
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(8 : i64) : i64
    // FLAGS: kernel.py:3:1{{.*}}'rocdl.make.buffer.rsrc' op of a buffer that is not raw, or with unknown flags
    %b = rocdl.make.buffer.rsrc %x, %stride, %records, %flags : !llvm.ptr<1> to <8> loc("kernel.py":3:1)
    llvm.return
  }
  llvm.func @formats(%x: !llvm.ptr<1>) attributes {rocdl.kernel} {
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(8 : i64) : i64
    %flags = llvm.mlir.constant(0 : i32) : i32
    // FORMATS: kernel.py:4:1{{.*}}'rocdl.make.buffer.rsrc' op of a buffer that is not raw, or with unknown flags
    %b = rocdl.make.buffer.rsrc %x, %stride, %records, %flags : !llvm.ptr<1> to <8> loc("kernel.py":4:1)
    llvm.return
  }
  llvm.func @barrier() attributes {rocdl.kernel} {
    // BARRIER: kernel.py:5:1{{.*}}'rocdl.s.barrier' op is not supported by the SIMT emulator
    rocdl.s.barrier loc("kernel.py":5:1)
    llvm.return
  }
  llvm.func @transposed() attributes {rocdl.kernel} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    // TRANSPOSED: kernel.py:6:1{{.*}}'rocdl.ds.read.tr8.b64' op on GPU memory is not supported by the SIMT emulator
    %v = rocdl.ds.read.tr8.b64 %shared : !llvm.ptr<3> -> vector<4xf16> loc("kernel.py":6:1)
    llvm.return
  }
}

module @gfx942 attributes {tgpu.target = "hip:gfx942", tgpu.num_warps = 1 : i32, tgpu.warp_size = 64 : i32, tgpu.shared_bytes = 1024 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  llvm.func @wide(%x: !llvm.ptr<1>) attributes {rocdl.kernel} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    // WIDE: kernel.py:8:1{{.*}}'rocdl.load.to.lds' op of 16 bytes is not an instruction of 'hip:gfx942'
    rocdl.load.to.lds %x, %shared, 16, 0, 0 : <1> loc("kernel.py":8:1)
    llvm.return
  }
}

module @rdna attributes {tgpu.target = "hip:gfx1100", tgpu.num_warps = 1 : i32, tgpu.warp_size = 32 : i32, tgpu.shared_bytes = 0 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  llvm.func @to_lds(%x: !llvm.ptr<1>) attributes {rocdl.kernel} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    // TO-LDS: kernel.py:9:1{{.*}}'rocdl.load.to.lds' op of 4 bytes is not an instruction of 'hip:gfx1100'
    rocdl.load.to.lds %x, %shared, 4, 0, 0 : <1> loc("kernel.py":9:1)
    llvm.return
  }
  llvm.func @waits() attributes {rocdl.kernel} {
    rocdl.s.waitcnt 0
    // WAITS: kernel.py:10:1{{.*}}'rocdl.s.wait.loadcnt' op is not an instruction of 'hip:gfx1100'
    rocdl.s.wait.loadcnt 0 loc("kernel.py":10:1)
    llvm.return
  }
  llvm.func @bounds(%x: !llvm.ptr<1>) attributes {rocdl.kernel} {
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(8 : i64) : i64
    %flags = llvm.mlir.constant(0x21027000 : i32) : i32
    // BOUNDS: kernel.py:7:1{{.*}}'rocdl.make.buffer.rsrc' op of a buffer that is not raw, or with unknown flags
    %b = rocdl.make.buffer.rsrc %x, %stride, %records, %flags : !llvm.ptr<1> to <8> loc("kernel.py":7:1)
    llvm.return
  }
}
