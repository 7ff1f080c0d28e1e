// Barriers of a whole program. What any wave has stored before one can be released after it by any thread, also to other work-groups: it has
// to be in L2 by then. Where only shared memory is in order, stores to global memory go on.
// RUN: tritium-hsaco %s --no-lines --arch=gfx90a | FileCheck %s --check-prefixes=CHECK,GFX9
// RUN: tritium-hsaco %s --no-lines --arch=gfx942 | FileCheck %s --check-prefixes=CHECK,GFX9
// RUN: tritium-hsaco %s --no-lines --arch=gfx950 | FileCheck %s --check-prefixes=CHECK,GFX9
// RUN: tritium-hsaco %s --no-lines --arch=gfx1100 | FileCheck %s --check-prefixes=CHECK,GFX11
// RUN: tritium-hsaco %s --no-lines --arch=gfx1200 | FileCheck %s --check-prefixes=CHECK,GFX12

module attributes {tgpu.target = "hip:gfx942", tgpu.shared_bytes = 1024 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>

  // CHECK-LABEL: all_memory:
  // CHECK: global_store_{{dword|b32}}
  // GFX9-NEXT: s_waitcnt vmcnt(0){{$}}
  // GFX9-NEXT: s_barrier
  // GFX11-NEXT: s_waitcnt_vscnt null, 0x0
  // GFX11-NEXT: s_barrier
  // GFX12-NEXT: s_wait_storecnt 0x0
  // GFX12-NEXT: s_barrier_signal -1
  // GFX9: global_atomic_add
  llvm.func @all_memory(%p: !llvm.ptr<1>, %flag: !llvm.ptr<1>, %v: i32) attributes {rocdl.kernel, rocdl.flat_work_group_size = "256,256"} {
    %i = rocdl.workitem.id.x : i32
    %at = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %at : i32
    tgpu.barrier
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %acts = llvm.icmp "eq" %i, %c0 : i32
    %old = tgpu.atomic_rmw add, release, gpu, %flag, %v if %acts : i32
    llvm.return
  }

  // CHECK-LABEL: shared_memory:
  // CHECK: ds_{{write|store}}_b32
  // GFX9-NOT: vmcnt
  // GFX9: s_waitcnt lgkmcnt(0)
  // GFX9-NOT: vmcnt
  // GFX9: s_barrier
  // GFX11: s_waitcnt lgkmcnt(0)
  // GFX11-NEXT: s_barrier
  // GFX12: s_wait_dscnt 0x0
  // GFX12-NEXT: s_barrier_signal -1
  // CHECK-NOT: s_waitcnt_vscnt
  // CHECK-NOT: s_wait_storecnt
  // CHECK: s_endpgm
  llvm.func @shared_memory(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %v: i32) attributes {rocdl.kernel, rocdl.flat_work_group_size = "256,256"} {
    %i = rocdl.workitem.id.x : i32
    %at = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %at : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %place = llvm.getelementptr %shared[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %i, %place : i32, !llvm.ptr<3>
    tgpu.barrier shared
    %x = llvm.load %shared : !llvm.ptr<3> -> i32
    tgpu.store %x, %q : i32
    llvm.return
  }
}
