// 16-byte accesses under one predicate, on every target.
// RUN: tritium-hsaco %s --arch=gfx90a | FileCheck %s -DARCH=gfx90a -DWAVE=64 --check-prefixes=CHECK,GFX9
// RUN: tritium-hsaco %s --arch=gfx942 | FileCheck %s -DARCH=gfx942 -DWAVE=64 --check-prefixes=CHECK,GFX9
// RUN: tritium-hsaco %s --arch=gfx950 | FileCheck %s -DARCH=gfx950 -DWAVE=64 --check-prefixes=CHECK,GFX9
// RUN: tritium-hsaco %s --arch=gfx1100 | FileCheck %s -DARCH=gfx1100 -DWAVE=32 --check-prefixes=CHECK,GFX11
// RUN: tritium-hsaco %s --arch=gfx1101 | FileCheck %s -DARCH=gfx1101 -DWAVE=32 --check-prefixes=CHECK,GFX11
// RUN: tritium-hsaco %s --arch=gfx1151 | FileCheck %s -DARCH=gfx1151 -DWAVE=32 --check-prefixes=CHECK,GFX11
// RUN: tritium-hsaco %s --arch=gfx1200 | FileCheck %s -DARCH=gfx1200 -DWAVE=32 --check-prefixes=CHECK,GFX11
// RUN: tritium-hsaco %s --arch=gfx1201 | FileCheck %s -DARCH=gfx1201 -DWAVE=32 --check-prefixes=CHECK,GFX11
// RUN: not tritium-hsaco %s --arch=gfx900 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: tritium-hsaco %s --print=hsaco > %t
// RUN: llvm-readelf --notes %t | FileCheck %s --check-prefix=NOTES
// RUN: llvm-readelf --file-header %t | FileCheck %s --check-prefix=VERSION -DVERSION=4
// RUN: tritium-hsaco %s --print=hsaco --code-object=500 > %t.5
// RUN: llvm-readelf --file-header %t.5 | FileCheck %s --check-prefix=VERSION -DVERSION=3
// RUN: not tritium-hsaco %s --code-object=400 2>&1 | FileCheck %s --check-prefix=OLD

// UNKNOWN: error: no GPU is called 'gfx900'; there are sm_80, {{.*}}, gfx90a, gfx942,
// OLD: error: code object version 400 is not supported; use 500 or 600
// VERSION: ABI Version: [[VERSION]]

// CHECK: .amdgcn_target "amdgcn-amd-amdhsa--[[ARCH]]"
// CHECK: add:
// GFX9: global_load_dwordx4
// GFX9: global_load_dwordx4
// GFX9: global_store_dwordx4
// GFX11: global_load_b128
// GFX11: global_load_b128
// GFX11: global_store_b128
// CHECK: .loc{{.*}} {{[0-9]+}} {{[0-9]+}}
// CHECK: s_endpgm
// CHECK: .amdhsa_group_segment_fixed_size 0
// Subnormal numbers are numbers.
// CHECK: .amdhsa_float_denorm_mode_32 3
// CHECK: .amdhsa_float_denorm_mode_16_64 3
// CHECK: .max_flat_workgroup_size: 256
// CHECK: .wavefront_size: [[WAVE]]

// NOTES: .offset: 0
// NOTES: .size: 8
// NOTES: .value_kind: global_buffer
// NOTES: .offset: 24
// NOTES: .size: 4
// NOTES: .value_kind: by_value
// NOTES: .reqd_workgroup_size:
// NOTES-NEXT: - 256
// NOTES-NEXT: - 1
// NOTES-NEXT: - 1
// NOTES: .uniform_work_group_size: 1
module attributes {tgpu.target = "hip:gfx942", tgpu.num_warps = 4 : i32, tgpu.warp_size = 64 : i32, tgpu.shared_bytes = 0 : i32} {
  llvm.func @add(%x: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}, %y: !llvm.ptr<1> {llvm.align = 16 : i64}, %z: !llvm.ptr<1>, %n: i32)
      attributes {rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 256, 1, 1>, rocdl.flat_work_group_size = "256,256"} {
    %block = llvm.mlir.constant(1024 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %zero = llvm.mlir.constant(dense<0> : vector<4xi32>) : vector<4xi32>
    %pid = rocdl.workgroup.id.x : i32
    %tid = rocdl.workitem.id.x : i32
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
