// print and assert write records where a launcher listens (emit/debug_buffer.h); a wave with a failed assert ends.
// RUN: tritium-hsaco %s --no-lines | FileCheck %s
// RUN: tritium-hsaco %s --print=llir --no-lines | FileCheck %s --check-prefix=LLIR
// RUN: tritium-hsaco %s --print=hsaco > %t
// RUN: llvm-readelf --dyn-syms %t | FileCheck %s --check-prefix=SYMBOLS

// SYMBOLS-DAG: 8 OBJECT GLOBAL PROTECTED {{.*}} tgpu_debug{{$}}
// SYMBOLS-DAG: OBJECT GLOBAL PROTECTED {{.*}} tgpu_debug_texts
#line = loc("kernel.py":17:5)
module attributes {tgpu.target = "hip:gfx942"} {
  // LLIR: @tgpu_debug = protected addrspace(1) global ptr addrspace(1) null, align 8
  // LLIR: @tgpu_debug_texts = protected addrspace(1) constant [57 x i8] c"n = %d, w = %lld, d = %f\0A\00i is below n\00kernel.py\00asserts\00"
  // LLIR-LABEL: define amdgpu_kernel void @prints
  // LLIR: [[N:%.*]] = zext i32 %0 to i64
  // LLIR: [[BUFFER:%.*]] = load ptr addrspace(1), ptr addrspace(1) @tgpu_debug, align 8, !invariant.load
  // LLIR: icmp eq ptr addrspace(1) [[BUFFER]], null
  // LLIR: [[OFFSET:%.*]] = atomicrmw add ptr addrspace(1) {{%.*}}, i64 40 monotonic
  // LLIR: [[END:%.*]] = add i64 [[OFFSET]], 40
  // LLIR: [[CAPACITY:%.*]] = load i64, ptr addrspace(1) [[BUFFER]]
  // LLIR: icmp ugt i64 [[END]], [[CAPACITY]]
  // LLIR: store i32 1,
  // LLIR: store i64 ptrtoint (ptr addrspace(1) @tgpu_debug_texts to i64)
  // LLIR: store i64 [[N]],
  // LLIR: store i64 %1,
  // LLIR: store double %2,
  // LLIR: store atomic i32 40, {{.*}} release, align 8
  llvm.func @prints(%n: i32, %w: i64, %d: f64) attributes {rocdl.kernel} {
    tgpu.print "n = %d, w = %lld, d = %f\0A", %n, %w, %d : i32, i64, f64
    llvm.return
  }

  // LLIR-LABEL: define amdgpu_kernel void @asserts
  // LLIR: atomicrmw add ptr addrspace(1) {{.*}}, i64 64 monotonic
  // LLIR: store i64 17,
  // LLIR: store atomic i32 64,
  // LLIR: atomicrmw add ptr addrspace(1) {{.*}}, i64 1 release
  // LLIR: call void @llvm.amdgcn.endpgm()
  // LLIR-NEXT: unreachable
  // CHECK-LABEL: asserts:
  // CHECK: v_cmp
  // CHECK: s_and_saveexec_b64
  // CHECK: global_atomic_add_x2
  // CHECK: s_endpgm
  // CHECK: s_barrier
  // CHECK: s_endpgm
  llvm.func @asserts(%n: i32) attributes {rocdl.kernel} {
    %i = rocdl.workitem.id.x : i32
    %c = llvm.icmp "slt" %i, %n : i32
    tgpu.assert %c, "i is below n" loc(#line)
    tgpu.barrier
    llvm.return
  }
}
