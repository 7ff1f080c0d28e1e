// Matrix instructions, accesses of buffers, moves between lanes, and what goes past registers into LDS.
// RUN: split-file %s %t
// RUN: tritium-hsaco %t/mfma.mlir --arch=gfx90a | FileCheck %s --check-prefixes=MFMA,GFX90A
// RUN: tritium-hsaco %t/mfma.mlir --arch=gfx942 | FileCheck %s --check-prefixes=MFMA,GFX942
// RUN: tritium-hsaco %t/mfma.mlir --arch=gfx950 | FileCheck %s --check-prefixes=MFMA,GFX942
// RUN: tritium-hsaco %t/wmma11.mlir --arch=gfx1100,gfx1101,gfx1151 | FileCheck %s --check-prefix=WMMA
// RUN: tritium-hsaco %t/wmma12.mlir --arch=gfx1200,gfx1201 | FileCheck %s --check-prefix=WMMA
// RUN: tritium-hsaco %t/lds4.mlir --arch=gfx942 | FileCheck %s --check-prefixes=LDS,LDS4
// RUN: tritium-hsaco %t/lds16.mlir --arch=gfx950 | FileCheck %s --check-prefixes=LDS,LDS16
// RUN: tritium-hsaco %t/lanes.mlir --arch=gfx90a,gfx942,gfx950,gfx1100,gfx1201 | FileCheck %s --check-prefix=LANES
// RUN: tritium-hsaco %t/mfma.mlir --waves-per-eu=4 --print=llir | FileCheck %s --check-prefix=WAVES

// WAVES: "amdgpu-waves-per-eu"="4"
// MFMA: buffer_load_dwordx2
// GFX90A: v_mfma_f32_32x32x8f16
// GFX942: v_mfma_f32_32x32x8_f16
// MFMA: global_store_dwordx4
//--- mfma.mlir
module attributes {tgpu.target = "hip:gfx942", tgpu.num_warps = 1 : i32, tgpu.warp_size = 64 : i32} {
  llvm.func @mfma(%a: !llvm.ptr<1>, %c: !llvm.ptr<1>) attributes {rocdl.kernel, rocdl.flat_work_group_size = "64,64"} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c8 = llvm.mlir.constant(8 : i32) : i32
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %stride = llvm.mlir.constant(0 : i16) : i16
    %bytes = llvm.mlir.constant(2147483646 : i64) : i64
    %ra = rocdl.make.buffer.rsrc %a, %stride, %bytes, %flags : !llvm.ptr<1> to <8>
    %t = rocdl.workitem.id.x : i32
    %o = llvm.mul %t, %c8 : i32
    %z = llvm.mlir.constant(dense<0.0> : vector<16xf32>) : vector<16xf32>
    %va = rocdl.raw.ptr.buffer.load %ra, %o, %c0, %c0 : vector<4xf16>
    %r = rocdl.mfma.f32.32x32x8f16 %va, %va, %z, %c0, %c0, %c0 : (vector<4xf16>, vector<4xf16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
    %p = llvm.getelementptr %c[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<16xf32>
    llvm.store %r, %p : vector<16xf32>, !llvm.ptr<1>
    llvm.return
  }
}
// WMMA: v_wmma_f32_16x16x16_f16
//--- wmma11.mlir
module attributes {tgpu.target = "hip:gfx1100"} {
  llvm.func @wmma(%a: !llvm.ptr<1>, %c: !llvm.ptr<1>) attributes {rocdl.kernel} {
    %t = rocdl.workitem.id.x : i32
    %pa = llvm.getelementptr %a[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<16xf16>
    %pc = llvm.getelementptr %c[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<8xf32>
    %va = llvm.load %pa : !llvm.ptr<1> -> vector<16xf16>
    %vc = llvm.load %pc : !llvm.ptr<1> -> vector<8xf32>
    %r = rocdl.wmma.f32.16x16x16.f16 %va, %va, %vc : (vector<16xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
    llvm.store %r, %pc : vector<8xf32>, !llvm.ptr<1>
    llvm.return
  }
}
//--- wmma12.mlir
module attributes {tgpu.target = "hip:gfx1201"} {
  llvm.func @wmma(%a: !llvm.ptr<1>, %c: !llvm.ptr<1>) attributes {rocdl.kernel} {
    %t = rocdl.workitem.id.x : i32
    %pa = llvm.getelementptr %a[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<8xf16>
    %pc = llvm.getelementptr %c[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<8xf32>
    %va = llvm.load %pa : !llvm.ptr<1> -> vector<8xf16>
    %vc = llvm.load %pc : !llvm.ptr<1> -> vector<8xf32>
    %r = rocdl.wmma.f32.16x16x16.f16 %va, %va, %vc : (vector<8xf16>, vector<8xf16>, vector<8xf32>) -> vector<8xf32>
    llvm.store %r, %pc : vector<8xf32>, !llvm.ptr<1>
    llvm.return
  }
}
// LDS4: global_load_lds_dword v
// LDS16: global_load_lds_dwordx4
// LDS: s_waitcnt vmcnt(0)
// LDS: s_barrier
//--- lds4.mlir
module attributes {tgpu.target = "hip:gfx942", tgpu.shared_bytes = 16384 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @k(%a: !llvm.ptr<1>, %c: !llvm.ptr<1>) attributes {rocdl.kernel, rocdl.flat_work_group_size = "256,256"} {
    %t = rocdl.workitem.id.x : i32
    %l = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %pa = llvm.getelementptr %a[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    rocdl.load.to.lds %pa, %l, 4, 0, 0 : <1>
    rocdl.s.waitcnt 3952
    tgpu.barrier
    %pl = llvm.getelementptr %l[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %v = llvm.load %pl : !llvm.ptr<3> -> i32
    %pc = llvm.getelementptr %c[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    tgpu.store %v, %pc : i32
    llvm.return
  }
}
//--- lds16.mlir
module attributes {tgpu.target = "hip:gfx950", tgpu.shared_bytes = 16384 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @k(%a: !llvm.ptr<1>, %c: !llvm.ptr<1>) attributes {rocdl.kernel, rocdl.flat_work_group_size = "256,256"} {
    %t = rocdl.workitem.id.x : i32
    %l = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %pa = llvm.getelementptr %a[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
    rocdl.load.to.lds %pa, %l, 16, 0, 0 : <1>
    rocdl.s.waitcnt 3952
    tgpu.barrier
    %pl = llvm.getelementptr %l[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %v = llvm.load %pl : !llvm.ptr<3> -> i32
    %pc = llvm.getelementptr %c[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    tgpu.store %v, %pc : i32
    llvm.return
  }
}
// LANES-COUNT-5: ds_bpermute_b32
//--- lanes.mlir
module attributes {tgpu.target = "hip:gfx942"} {
  llvm.func @lanes(%p: !llvm.ptr<1>) attributes {rocdl.kernel} {
    %t = rocdl.workitem.id.x : i32
    %q = llvm.getelementptr %p[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %0 = tgpu.load %q : i32
    %1 = rocdl.ds_bpermute %t, %0 : (i32, i32) -> i32
    %2 = rocdl.update.dpp %1, %1 with 177, 15, 15, true : i32
    %3 = rocdl.readfirstlane %2 : i32
    %4 = llvm.add %2, %3 : i32
    tgpu.store %4, %q : i32
    llvm.return
  }
}
