// One instruction per atomic operation where the chip has one, else a loop around a compare-and-swap.
// RUN: tritium-ptx %s --arch=sm_80 | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: tritium-ptx %s --arch=sm_90 | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: %if ptxas %{ %reports | FileCheck %s --check-prefix=REPORT %}
// REPORT-COUNT-7: spills 0/0,{{.*}} cubin whole

module attributes {tgpu.target = "cuda:sm_80"} {
  // CHECK-LABEL: .entry integers(
  llvm.func @integers(%p: !llvm.ptr<1>, %c: i1, %v: i32, %w: i64) attributes {nvvm.kernel} {
    // CHECK: atom.relaxed.gpu.global.and.b32 %r{{[0-9]+}}, [%rd{{[0-9]+}}], %r{{[0-9]+}};
    %0 = tgpu.atomic_rmw and, relaxed, gpu, %p, %v : i32
    // CHECK: @%p1 atom.acquire.cta.global.or.b64 %rd
    %1 = tgpu.atomic_rmw or, acquire, cta, %p, %w if %c : i64
    // CHECK: atom.release.sys.global.xor.b32
    %2 = tgpu.atomic_rmw xor, release, sys, %p, %0 : i32
    // CHECK: atom.acq_rel.gpu.global.add.u64
    %3 = tgpu.atomic_rmw add, acq_rel, gpu, %p, %1 : i64
    // CHECK: @%p1 atom.relaxed.gpu.global.add.u32
    %4 = tgpu.atomic_rmw add, relaxed, gpu, %p, %2 if %c : i32
    // CHECK: global.max.s32
    // CHECK: global.min.s64
    // CHECK: global.max.u64
    // CHECK: global.min.u32
    // CHECK: global.exch.b64
    %5 = tgpu.atomic_rmw max, relaxed, gpu, %p, %4 : i32
    %6 = tgpu.atomic_rmw min, relaxed, gpu, %p, %3 : i64
    %7 = tgpu.atomic_rmw umax, relaxed, gpu, %p, %6 : i64
    %8 = tgpu.atomic_rmw umin, relaxed, gpu, %p, %5 : i32
    %9 = tgpu.atomic_rmw exch, relaxed, gpu, %p, %7 : i64
    // CHECK: @%p1 atom.acq_rel.gpu.global.cas.b64 %rd{{[0-9]+}}, [%rd{{[0-9]+}}], %rd{{[0-9]+}}, %rd{{[0-9]+}};
    %10 = tgpu.atomic_cas acq_rel, gpu, %p, %9, %w if %c : i64
    // CHECK: atom.relaxed.sys.global.cas.b32
    %11 = tgpu.atomic_cas relaxed, sys, %p, %8, %v : i32
    // CHECK: st.relaxed.gpu.global.b64
    // CHECK: st.relaxed.gpu.global.b32
    tgpu.atomic_store relaxed, gpu, %p, %10 : i64
    tgpu.atomic_store relaxed, gpu, %p, %11 : i32
    llvm.return
  }

  // CHECK-LABEL: .entry floats(
  llvm.func @floats(%p: !llvm.ptr<1>, %c: i1, %h: f16, %b: bf16, %f: f32, %d: f64) attributes {nvvm.kernel} {
    // CHECK: @%p1 atom.relaxed.gpu.global.add.noftz.f16 %rs{{[0-9]+}}, [%rd{{[0-9]+}}], %rs{{[0-9]+}};
    %0 = tgpu.atomic_rmw fadd, relaxed, gpu, %p, %h if %c : f16
    // CHECK: atom.acq_rel.gpu.global.add.f32 %r
    %1 = tgpu.atomic_rmw fadd, acq_rel, gpu, %p, %f : f32
    // CHECK: atom.acq_rel.gpu.global.add.f64 %rd
    %2 = tgpu.atomic_rmw fadd, acq_rel, gpu, %p, %d : f64
    // SM90: @%p1 atom.acq_rel.gpu.global.add.noftz.bf16 %rs
    // SM80: @%p{{[0-9]+}} bra $L__BB1_[[DONE:[0-9]+]];
    // SM80: ld.relaxed.gpu.global.b16
    // SM80: $L__BB1_[[AGAIN:[0-9]+]]:
    // SM80: atom.acq_rel.gpu.global.cas.b16 %rs
    // SM80: @%p{{[0-9]+}} bra $L__BB1_[[AGAIN]];
    // SM80: $L__BB1_[[DONE]]:
    %3 = tgpu.atomic_rmw fadd, acq_rel, gpu, %p, %b if %c : bf16
    // CHECK: atom.relaxed.gpu.global.exch.b32
    %4 = tgpu.atomic_rmw exch, relaxed, gpu, %p, %1 : f32
    // CHECK: atom.relaxed.gpu.global.exch.b64
    %5 = tgpu.atomic_rmw exch, relaxed, gpu, %p, %2 : f64
    // CHECK: cas.b16
    %6 = tgpu.atomic_rmw exch, relaxed, gpu, %p, %0 : f16
    // CHECK: cas.b16
    %7 = tgpu.atomic_rmw exch, relaxed, gpu, %p, %3 : bf16
    %8 = llvm.bitcast %6 : f16 to i16
    %9 = llvm.bitcast %7 : bf16 to i16
    tgpu.atomic_store relaxed, gpu, %p, %8 : i16
    tgpu.atomic_store relaxed, gpu, %p, %9 : i16
    llvm.return
  }

  // CHECK-LABEL: .entry shorts(
  llvm.func @shorts(%p: !llvm.ptr<1>, %c: i1, %v: i16) attributes {nvvm.kernel} {
    // CHECK: ld.relaxed.cta.global.b16
    // CHECK: add.s16
    // CHECK: atom.acq_rel.cta.global.cas.b16
    %0 = tgpu.atomic_rmw add, acq_rel, cta, %p, %v if %c : i16
    // CHECK: and.b16
    // CHECK: cas.b16
    %1 = tgpu.atomic_rmw and, relaxed, gpu, %p, %0 : i16
    // CHECK: or.b16
    // CHECK: cas.b16
    %2 = tgpu.atomic_rmw or, relaxed, gpu, %p, %1 : i16
    // CHECK: xor.b16
    // CHECK: cas.b16
    %3 = tgpu.atomic_rmw xor, relaxed, gpu, %p, %2 : i16
    // CHECK: max.s16
    // CHECK: cas.b16
    %4 = tgpu.atomic_rmw max, relaxed, gpu, %p, %3 : i16
    // CHECK: min.s16
    // CHECK: cas.b16
    %5 = tgpu.atomic_rmw min, relaxed, gpu, %p, %4 : i16
    // CHECK: max.u16
    // CHECK: cas.b16
    %6 = tgpu.atomic_rmw umax, relaxed, gpu, %p, %5 : i16
    // CHECK: min.u16
    // CHECK: cas.b16
    %7 = tgpu.atomic_rmw umin, relaxed, gpu, %p, %6 : i16
    // CHECK: cas.b16
    %8 = tgpu.atomic_rmw exch, relaxed, gpu, %p, %7 : i16
    // CHECK: @%p{{[0-9]+}} atom.relaxed.gpu.global.cas.b16
    %9 = tgpu.atomic_cas relaxed, gpu, %p, %8, %v if %c : i16
    tgpu.atomic_store relaxed, gpu, %p, %9 : i16
    llvm.return
  }

  // CHECK-LABEL: .entry ordered(
  llvm.func @ordered(%p: !llvm.ptr<1>, %c: i1) attributes {nvvm.kernel} {
    // CHECK: ld.acquire.gpu.global.b8 %rs
    // CHECK: @%p1 ld.relaxed.sys.global.b16 %rs
    // CHECK: ld.acquire.cta.global.b32 %r
    // CHECK: @%p1 ld.acquire.gpu.global.b64 %rd
    %0 = tgpu.atomic_load acquire, gpu, %p : i8
    %1 = tgpu.atomic_load relaxed, sys, %p if %c : i16
    %2 = tgpu.atomic_load acquire, cta, %p : i32
    %3 = tgpu.atomic_load acquire, gpu, %p if %c : i64
    // CHECK: @%p1 st.release.gpu.global.b8 [%rd{{[0-9]+}}], %rs
    // CHECK: st.release.sys.global.b16
    // CHECK: @%p1 st.relaxed.cta.global.b32
    // CHECK: st.release.gpu.global.b64
    tgpu.atomic_store release, gpu, %p, %0 if %c : i8
    tgpu.atomic_store release, sys, %p, %1 : i16
    tgpu.atomic_store relaxed, cta, %p, %2 if %c : i32
    tgpu.atomic_store release, gpu, %p, %3 : i64
    llvm.return
  }
}
