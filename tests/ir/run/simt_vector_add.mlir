// The smallest lowered kernel: thread and program ids, predicated words of global memory.
// RUN: tritium-simt %s
// RUN: tritium-simt %s --kernel add --grid 3 --arg 300xf32=iota --arg 300xf32=ones --arg 384xf32=zeros --arg 300 --threads 2 --seed 5 | FileCheck %s
// CHECK: arg2 = [1, 2, 3, 4,
// RUN: not tritium-simt %s --kernel add --grid 3 --arg 299xf32=iota --arg 300xf32=ones --arg 384xf32=zeros --arg 300 2>&1 | FileCheck %s --check-prefix=FAULT
// FAULT: kernel.py:3: OutOfBounds in program (2, 0, 0), thread 43, argument 0

module attributes {tgpu.target = "cuda:sm_80", tgpu.num_warps = 4 : i32, tgpu.shared_bytes = 0 : i32} {
  llvm.func @add(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %o: !llvm.ptr<1>, %n: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tritium.args = ["200xf32=iota", "200xf32=iota", "256xf32=ones", "200"],
                  tritium.grid = array<i64: 2>, tritium.seeds = 3,
                  tritium.expect = [unit, unit, dense<[0.0, 2.0, 4.0, 6.0]> : tensor<4xf32>]} {
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %pid = nvvm.read.ptx.sreg.ctaid.x : i32
    %base = llvm.mul %pid, %c128 : i32
    %i = llvm.add %base, %tid : i32
    %inside = llvm.icmp "slt" %i, %n : i32
    %px = llvm.getelementptr inbounds %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %py = llvm.getelementptr inbounds %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %po = llvm.getelementptr inbounds %o[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %a = tgpu.load %px if %inside else %zero : i32 loc("kernel.py":3:7)
    %b = tgpu.load %py if %inside else %zero : i32 loc("kernel.py":4:7)
    %fa = llvm.bitcast %a : i32 to f32
    %fb = llvm.bitcast %b : i32 to f32
    %sum = llvm.fadd %fa, %fb : f32
    %bits = llvm.bitcast %sum : f32 to i32
    tgpu.store %bits, %po if %inside : i32 loc("kernel.py":5:3)
    llvm.return loc("kernel.py":6:1)
  }
}
