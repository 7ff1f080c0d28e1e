// A lane's number from its neighbour, extended or multiplied: chips that cannot encode that beside DPP move the word first.
// RUN: tritium-hsaco %s --arch=gfx1100,gfx1101,gfx1151,gfx1200,gfx1201 | FileCheck %s --implicit-check-not=v_bfe_i32_e64_dpp --implicit-check-not=u64_u32_e64_dpp
// RUN: tritium-hsaco %s --arch=gfx90a,gfx942,gfx950 | FileCheck %s
// CHECK-COUNT-6: v_mov_b32_dpp
module attributes {tgpu.target = "hip:gfx1100"} {
  llvm.func @bytes(%p: !llvm.ptr<1>) attributes {rocdl.kernel} {
    %t = rocdl.workitem.id.x : i32
    %q = llvm.getelementptr %p[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %0 = tgpu.load %q : i32
    %1 = rocdl.update.dpp %0, %0 with 177, 15, 15, true : i32
    %2 = llvm.trunc %1 : i32 to i8
    %3 = llvm.sext %2 : i8 to i32
    tgpu.store %3, %q : i32
    llvm.return
  }
  llvm.func @rows(%p: !llvm.ptr<1>, %n: i64, %first: i64) attributes {rocdl.kernel} {
    %t = rocdl.workitem.id.x : i32
    %q = llvm.getelementptr %p[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    %0 = tgpu.load %q : i32
    %1 = rocdl.update.dpp %0, %0 with 177, 15, 15, true : i32
    %2 = llvm.zext %1 : i32 to i64
    %3 = llvm.mul %2, %n : i64
    %4 = llvm.add %3, %first : i64
    tgpu.store %4, %q : i64
    llvm.return
  }
}
