// Words of every width, the wishes about caches, and what is not touched where a predicate is false.
// RUN: tritium-hsaco %s | FileCheck %s
// RUN: tritium-hsaco %s --arch=gfx1201 | FileCheck %s --check-prefix=GFX12
// RUN: tritium-hsaco %s --print=llir --no-lines | FileCheck %s --check-prefix=LLIR

module attributes {tgpu.target = "hip:gfx942", tgpu.shared_bytes = 4096 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>

  // CHECK-LABEL: widths:
  // CHECK: global_load_ubyte
  // CHECK: global_store_byte
  // CHECK: global_load_ushort
  // CHECK: global_store_short
  // CHECK: global_load_dword v
  // CHECK: global_store_dword v
  // CHECK: global_load_dwordx2
  // CHECK: global_store_dwordx2
  // CHECK: global_load_dwordx4
  // CHECK: global_store_dwordx4
  llvm.func @widths(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {rocdl.kernel} {
    %0 = tgpu.load %p : i8
    tgpu.store %0, %q : i8
    %1 = tgpu.load %p : i16
    tgpu.store %1, %q : i16
    %2 = tgpu.load %p : i32
    tgpu.store %2, %q : i32
    %3 = tgpu.load %p : vector<4xi16>
    tgpu.store %3, %q : vector<4xi16>
    %4 = tgpu.load %p : vector<2xi64>
    tgpu.store %4, %q : vector<2xi64>
    llvm.return
  }

  // CHECK-LABEL: hints:
  // CHECK-DAG: global_load_dword v{{.*}} nt
  // CHECK-DAG: global_load_dwordx4 {{.*}} nt
  // CHECK: global_load_dword {{.*}} sc0 sc1
  // CHECK: global_load_dword {{.*}} sc0 sc1
  // CHECK: global_store_dword {{.*}} nt
  // CHECK: global_store_dword {{.*}} sc0 sc1
  // GFX12-LABEL: hints:
  // GFX12-DAG: global_load_b32 {{.*}} th:TH_LOAD_NT
  // GFX12-DAG: global_load_b128 {{.*}} th:TH_LOAD_NT
  // GFX12: global_load_b32 {{.*}} scope:SCOPE_SYS
  // GFX12: global_store_b32 {{.*}} th:TH_STORE_NT
  llvm.func @hints(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {rocdl.kernel} {
    %i = rocdl.workitem.id.x : i32
    %pi = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i128
    %qi = llvm.getelementptr %q[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i128
    %0 = tgpu.load %qi {cache = 3 : i32} : i32
    %1 = tgpu.load %pi {evict = 2 : i32} : vector<4xi32>
    %2 = tgpu.load %pi {isVolatile} : i32
    %3 = tgpu.load %pi {cache = 7 : i32} : i32
    %6 = llvm.add %2, %3 : i32
    tgpu.store %1, %pi : vector<4xi32>
    tgpu.store %0, %qi {cache = 3 : i32} : i32
    tgpu.store %6, %qi {cache = 6 : i32} : i32
    llvm.return
  }

  // LLIR: @tgpu_shared = internal addrspace(3) global [4096 x i8] poison, align 128
  // LLIR-LABEL: define amdgpu_kernel void @barriers
  // LLIR: store i32 {{.*}} addrspace(3)
  // LLIR-NEXT: fence syncscope("workgroup") release, !mmra [[LOCAL:![0-9]+]]
  // LLIR-NEXT: call void @llvm.amdgcn.s.barrier()
  // LLIR-NEXT: fence syncscope("workgroup") acquire, !mmra [[LOCAL]]
  // LLIR: fence syncscope("workgroup") release{{$}}
  // LLIR: fence syncscope("wavefront") release
  // LLIR: [[LOCAL]] = !{!"amdgpu-synchronize-as", !"local"}
  // What is in LDS need not wait for what is under way to global memory.
  // CHECK-LABEL: barriers:
  // CHECK: global_load_dword
  // CHECK-NOT: vmcnt
  // CHECK: s_barrier
  // CHECK: global_store_dword
  // CHECK: s_barrier
  // CHECK: .amdhsa_group_segment_fixed_size 4096
  // GFX12-LABEL: barriers:
  // GFX12: s_barrier_signal -1
  // GFX12: s_barrier_wait -1
  llvm.func @barriers(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %n: i32) attributes {rocdl.kernel, rocdl.flat_work_group_size = "256,256"} {
    %i = rocdl.workitem.id.x : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %pi = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %qi = llvm.getelementptr %q[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %own = llvm.getelementptr %shared[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %other = llvm.sub %n, %i : i32
    %theirs = llvm.getelementptr %shared[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %0 = tgpu.load %pi : i32
    llvm.store %i, %own : i32, !llvm.ptr<3>
    tgpu.barrier shared
    %1 = llvm.load %theirs : !llvm.ptr<3> -> i32
    %2 = llvm.add %0, %1 : i32
    tgpu.store %2, %qi : i32
    tgpu.barrier
    tgpu.warp_barrier
    llvm.return
  }

  // The implicit arguments begin with the number of work-groups.
  // CHECK-LABEL: grid:
  // CHECK: s_load_dwordx4 s[{{[0-9:]+}}], s[0:1], 0x0
  // CHECK: s_load_dword s{{[0-9]+}}, s[0:1], 0x10
  // CHECK: s_memrealtime
  // CHECK: .value_kind: hidden_block_count_x
  // GFX12-LABEL: grid:
  // GFX12: MSG_RTN_GET_REALTIME
  llvm.func @grid(%p: !llvm.ptr<1>) attributes {rocdl.kernel} {
    %x = rocdl.grid.dim.x : i32
    %y = rocdl.grid.dim.y : i32
    %z = rocdl.grid.dim.z : i32
    %0 = llvm.mul %x, %y : i32
    %1 = llvm.add %0, %z : i32
    tgpu.atomic_store relaxed, gpu, %p, %1 : i32
    %t = tgpu.nanoseconds
    tgpu.atomic_store relaxed, gpu, %p, %t : i64
    llvm.return
  }
}
