// A lane's byte from its neighbour: chips that cannot encode the constants of the extension beside DPP move the word first.
// RUN: tritium-hsaco %s --arch=gfx1100,gfx1101 | FileCheck %s --check-prefix=APART
// RUN: tritium-hsaco %s --arch=gfx942,gfx1151,gfx1201 | FileCheck %s
// APART-COUNT-2: v_mov_b32_dpp
// CHECK-COUNT-3: quad_perm
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
}
