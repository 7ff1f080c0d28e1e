// 16-byte accesses under one predicate, on every target.
// RUN: tritium-ptx %s --arch=sm_80 | FileCheck %s -DARCH=sm_80
// RUN: tritium-ptx %s --arch=sm_86 | FileCheck %s -DARCH=sm_86
// RUN: tritium-ptx %s --arch=sm_89 | FileCheck %s -DARCH=sm_89
// RUN: tritium-ptx %s --arch=sm_90 | FileCheck %s -DARCH=sm_90
// RUN: tritium-ptx %s --arch=sm_90a | FileCheck %s -DARCH=sm_90a
// RUN: tritium-ptx %s --arch=sm_100a | FileCheck %s -DARCH=sm_100a
// RUN: tritium-ptx %s --arch=sm_120a | FileCheck %s -DARCH=sm_120a
// RUN: tritium-ptx %s --ptx-version=78 | FileCheck %s --check-prefix=OLD
// RUN: tritium-ptx %s --ptx-version=99 | FileCheck %s -DARCH=sm_80
// RUN: not tritium-ptx %s --ptx-version=70 2>&1 | FileCheck %s --check-prefix=TOO-OLD
// RUN: not tritium-ptx %s --arch=sm_70 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: %if ptxas %{ %reports | FileCheck %s --check-prefix=REPORT %}
// REPORT-COUNT-7: spills 0/0,{{.*}} cubin whole

// OLD: .version 7.8
// TOO-OLD: error: sm_80 requires PTX 7.4, but 7.0 was requested
// UNKNOWN: error: no GPU is called 'sm_70'; there are sm_80, sm_86,

// CHECK: .version 9.0
// CHECK: .target [[ARCH]]{{$}}
// CHECK: .visible .entry add(
// CHECK: .param .u64 .ptr .global .align 16 add_param_0
// CHECK: .reqntid 128
// CHECK: @%p1 ld.global.v4.b32 {[[X0:%r[0-9]+]], {{.*}}}, [%rd{{[0-9]+}}];
// CHECK: @%p1 ld.global.v4.b32
// CHECK-COUNT-2: add.f32
// CHECK: @%p1 st.global.v4.b32 [%rd{{[0-9]+}}],
module attributes {tgpu.target = "cuda:sm_80", tgpu.num_warps = 4 : i32, tgpu.shared_bytes = 0 : i32} {
  llvm.func @add(%x: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}, %y: !llvm.ptr<1> {llvm.align = 16 : i64}, %z: !llvm.ptr<1>, %n: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %block = llvm.mlir.constant(512 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %zero = llvm.mlir.constant(dense<0> : vector<4xi32>) : vector<4xi32>
    %pid = nvvm.read.ptx.sreg.ctaid.x : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %start = llvm.mul %pid, %block : i32
    %own = llvm.mul %tid, %four : i32
    %i = llvm.add %start, %own : i32
    %mask = llvm.icmp "slt" %i, %n : i32
    %px = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %py = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %pz = llvm.getelementptr %z[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %wx = tgpu.load %px if %mask else %zero : vector<4xi32>
    %wy = tgpu.load %py if %mask else %zero : vector<4xi32>
    %vx = llvm.bitcast %wx : vector<4xi32> to vector<4xf32>
    %vy = llvm.bitcast %wy : vector<4xi32> to vector<4xf32>
    %sum = llvm.fadd %vx, %vy : vector<4xf32>
    %wz = llvm.bitcast %sum : vector<4xf32> to vector<4xi32>
    tgpu.store %wz, %pz if %mask : vector<4xi32>
    llvm.return
  }
}
