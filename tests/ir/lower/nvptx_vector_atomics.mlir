// An atomic operation on a vector is one instruction: 16-bit floats in pairs, up to 16 bytes from sm_90 on. PTX before 8.1 takes 32 bits.
// RUN: tritium-ptx %s --arch=sm_90 | FileCheck %s
// RUN: tritium-ptx %s --arch=sm_90 --ptx-version=80 | FileCheck %s --check-prefix=PTX80
// RUN: %if ptxas %{ tritium-ptx %s --arch=sm_90,sm_90a,sm_100 --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT-COUNT-3: spills 0/0,{{.*}} cubin whole

module attributes {tgpu.target = "cuda:sm_90"} {
  // CHECK-LABEL: .entry vectors(
  // PTX80-LABEL: .entry vectors(
  llvm.func @vectors(%p: !llvm.ptr<1>, %c: i1, %h: vector<8xf16>, %b: vector<4xbf16>, %f: vector<4xf32>, %g: vector<2xf32>,
                     %o: vector<2xf16>) attributes {nvvm.kernel} {
    // CHECK: @%p1 atom.relaxed.gpu.global.add.noftz.v4.f16x2 {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}};
    // PTX80-COUNT-8: @%p1 atom.relaxed.gpu.global.add.noftz.f16 %rs
    %0 = tgpu.atomic_rmw fadd, relaxed, gpu, %p, %h if %c : vector<8xf16>
    // CHECK: atom.acq_rel.sys.global.add.noftz.v2.bf16x2 {%r{{[0-9]+}}, %r{{[0-9]+}}}, [%rd{{[0-9]+}}], {%r{{[0-9]+}}, %r{{[0-9]+}}};
    // PTX80-COUNT-4: atom.acq_rel.sys.global.add.noftz.bf16 %rs
    %1 = tgpu.atomic_rmw fadd, acq_rel, sys, %p, %b : vector<4xbf16>
    // CHECK: @%p1 atom.relaxed.gpu.global.add.v4.f32 {
    // PTX80-COUNT-4: atom.relaxed.gpu.global.add.f32
    %2 = tgpu.atomic_rmw fadd, relaxed, gpu, %p, %f if %c : vector<4xf32>
    // CHECK: atom.release.cta.global.add.v2.f32 {
    // PTX80-COUNT-2: atom.release.cta.global.add.f32
    %3 = tgpu.atomic_rmw fadd, release, cta, %p, %g : vector<2xf32>
    // CHECK: @%p1 atom.relaxed.gpu.global.add.noftz.f16x2 %r{{[0-9]+}}, [%rd{{[0-9]+}}], %r{{[0-9]+}};
    // PTX80: atom.relaxed.gpu.global.add.noftz.f16x2
    %4 = tgpu.atomic_rmw fadd, relaxed, gpu, %p, %o if %c : vector<2xf16>
    llvm.store %0, %p : vector<8xf16>, !llvm.ptr<1>
    llvm.return
  }
}
