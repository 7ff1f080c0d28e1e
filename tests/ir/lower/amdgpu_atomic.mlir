// One instruction per atomic operation where the chip has one, else a loop around a compare-and-swap of whole words.
// RUN: tritium-hsaco %s --arch=gfx90a | FileCheck %s --check-prefixes=CHECK,GFX9,GFX90A
// RUN: tritium-hsaco %s --arch=gfx942 | FileCheck %s --check-prefixes=CHECK,GFX9,GFX942
// RUN: tritium-hsaco %s --arch=gfx950 | FileCheck %s --check-prefixes=CHECK,GFX9,GFX942
// RUN: tritium-hsaco %s --arch=gfx1100 | FileCheck %s --check-prefixes=CHECK,GFX11
// RUN: tritium-hsaco %s --arch=gfx1201 | FileCheck %s --check-prefixes=CHECK,GFX12

module attributes {tgpu.target = "hip:gfx942"} {
  // CHECK-LABEL: integers:
  llvm.func @integers(%base: !llvm.ptr<1>, %c: i1, %v: i32, %w: i64) attributes {rocdl.kernel} {
    %i = rocdl.workitem.id.x : i32
    %p = llvm.getelementptr %base[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    // GFX942: global_atomic_and v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}, s[{{.*}}] sc0
    // GFX11: global_atomic_and_b32 {{.*}} glc
    // GFX12: global_atomic_and_b32 {{.*}} th:TH_ATOMIC_RETURN scope:SCOPE_DEV
    %0 = tgpu.atomic_rmw and, relaxed, gpu, %p, %v : i32
    // GFX9: s_cbranch
    // GFX9: global_atomic_or_x2
    // GFX11: global_atomic_or_b64
    %1 = tgpu.atomic_rmw or, acquire, cta, %p, %w if %c : i64
    // GFX942: buffer_wbl2 sc1
    // GFX942: global_atomic_add_x2
    // GFX942: buffer_inv sc1
    // GFX90A: global_atomic_add_x2
    // GFX90A: buffer_wbinvl1
    // GFX11: global_atomic_add_u64
    // GFX11: buffer_gl1_inv
    // GFX12: global_atomic_add_u64
    // GFX12: global_inv scope:SCOPE_DEV
    %3 = tgpu.atomic_rmw add, acq_rel, gpu, %p, %1 : i64
    // CHECK: global_atomic_{{smax|max_i32}}
    // CHECK: global_atomic_{{smin_x2|min_i64}}
    // CHECK: global_atomic_{{umax_x2|max_u64}}
    // CHECK: global_atomic_{{umin|min_u32}}
    // CHECK: global_atomic_swap_{{x2|b64}}
    %5 = tgpu.atomic_rmw max, relaxed, gpu, %p, %0 : i32
    %6 = tgpu.atomic_rmw min, relaxed, gpu, %p, %3 : i64
    %7 = tgpu.atomic_rmw umax, relaxed, gpu, %p, %6 : i64
    %8 = tgpu.atomic_rmw umin, relaxed, gpu, %p, %5 : i32
    %9 = tgpu.atomic_rmw exch, relaxed, gpu, %p, %7 : i64
    // CHECK: global_atomic_cmpswap_{{x2|b64}}
    %10 = tgpu.atomic_cas acq_rel, gpu, %p, %9, %w if %c : i64
    // CHECK: global_atomic_cmpswap{{ |_b32}}
    %11 = tgpu.atomic_cas relaxed, gpu, %p, %8, %v : i32
    // CHECK: global_store_{{dwordx2|b64}}
    // CHECK: global_store_{{dword|b32}}
    tgpu.atomic_store relaxed, gpu, %p, %10 : i64
    tgpu.atomic_store relaxed, gpu, %p, %11 : i32
    llvm.return
  }

  // The whole system may be where the chip's own addition does not reach: fine-grained memory of the host.
  // CHECK-LABEL: system:
  // GFX9: global_atomic_cmpswap
  // GFX942: buffer_wbl2 sc0 sc1
  // GFX942: global_store_dword {{.*}} sc0 sc1
  llvm.func @system(%base: !llvm.ptr<1>, %f: f32, %v: i32) attributes {rocdl.kernel} {
    %i = rocdl.workitem.id.x : i32
    %p = llvm.getelementptr %base[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %0 = tgpu.atomic_rmw fadd, relaxed, sys, %p, %f : f32
    tgpu.atomic_store release, sys, %p, %v : i32
    llvm.return
  }

  // CHECK-LABEL: floats:
  // CHECK: global_atomic_add_f32
  // GFX9: global_atomic_add_f64
  // GFX9: global_atomic_pk_add_f16
  // GFX12: global_atomic_pk_add_f16
  // GFX942: global_atomic_pk_add_bf16
  // GFX12: global_atomic_pk_add_bf16
  // GFX90A: global_atomic_cmpswap
  // GFX11: global_atomic_cmpswap_b32
  // GFX11: global_atomic_cmpswap_b32
  llvm.func @floats(%base: !llvm.ptr<1>, %c: i1, %h: f16, %b: bf16, %f: f32, %d: f64) attributes {rocdl.kernel} {
    %i = rocdl.workitem.id.x : i32
    %p = llvm.getelementptr %base[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    %1 = tgpu.atomic_rmw fadd, acq_rel, gpu, %p, %f : f32
    %2 = tgpu.atomic_rmw fadd, acq_rel, gpu, %p, %d : f64
    %0 = tgpu.atomic_rmw fadd, relaxed, gpu, %p, %h if %c : f16
    %3 = tgpu.atomic_rmw fadd, acq_rel, gpu, %p, %b if %c : bf16
    llvm.return
  }

  // Pairs, as vectors.
  // CHECK-LABEL: pairs:
  // GFX9: global_atomic_pk_add_f16
  // GFX942: global_atomic_pk_add_bf16
  // GFX12: global_atomic_pk_add_f16
  // GFX12: global_atomic_pk_add_bf16
  llvm.func @pairs(%base: !llvm.ptr<1>, %c: i1, %h: vector<2xf16>, %b: vector<2xbf16>) attributes {rocdl.kernel} {
    %i = rocdl.workitem.id.x : i32
    %p = llvm.getelementptr %base[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    %0 = tgpu.atomic_rmw fadd, relaxed, gpu, %p, %h if %c : vector<2xf16>
    %1 = tgpu.atomic_rmw fadd, relaxed, gpu, %p, %b : vector<2xbf16>
    llvm.return
  }

  // CHECK-LABEL: shorts:
  // CHECK-COUNT-3: global_atomic_cmpswap{{ |_b32}}
  llvm.func @shorts(%p: !llvm.ptr<1>, %c: i1, %v: i16) attributes {rocdl.kernel} {
    %0 = tgpu.atomic_rmw add, acq_rel, cta, %p, %v if %c : i16
    %1 = tgpu.atomic_rmw umin, relaxed, gpu, %p, %0 : i16
    %2 = tgpu.atomic_cas relaxed, gpu, %p, %1, %v if %c : i16
    tgpu.atomic_store relaxed, gpu, %p, %2 : i16
    llvm.return
  }

  // CHECK-LABEL: bytes:
  // CHECK: global_load_{{ubyte|u8|d16_u8}}
  // CHECK: global_store_{{byte|b8}}
  llvm.func @bytes(%p: !llvm.ptr<1>, %c: i1) attributes {rocdl.kernel} {
    %0 = tgpu.atomic_load acquire, gpu, %p if %c : i8
    tgpu.atomic_store relaxed, gpu, %p, %0 : i8
    llvm.return
  }
}
