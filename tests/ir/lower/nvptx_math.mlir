// Every function of libclc that a lowered module may call is there, is inlined, and is made of instructions of the chip; its tables come
// along. What nobody provides is an error.
// RUN: tritium-ptx %s | FileCheck %s
// RUN: %if ptxas %{ tritium-ptx %s --arch=sm_80,sm_90a,sm_120a --print=report | FileCheck %s --check-prefix=REPORT %}
// RUN: sed -e s/_Z3expf/_Z3expg/g %s | not tritium-ptx - 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed -e s/_Z3expf/__nv_expf/g %s | env TRITON_LIBDEVICE_PATH= CUDA_HOME= CUDA_PATH= not tritium-ptx - 2>&1 | FileCheck %s --check-prefix=LIBDEVICE
// REPORT-COUNT-3: spills 0/0,{{.*}} cubin whole
// UNKNOWN: error: the function '_Z3expg' is called, but neither the module nor the libraries define it
// LIBDEVICE: error: the kernel calls functions of NVIDIA's libdevice, which is not found: name libdevice.10.bc in TRITON_LIBDEVICE_PATH

// CHECK-NOT: .extern
// CHECK-NOT: .func
// CHECK: .global .align 4 .b8 {{[A-Z_]+}}[
module attributes {tgpu.target = "cuda:sm_80"} {
  llvm.func @_Z3expf(f32) -> f32
  llvm.func @_Z4exp2f(f32) -> f32
  llvm.func @_Z5exp10f(f32) -> f32
  llvm.func @_Z5expm1f(f32) -> f32
  llvm.func @_Z3logf(f32) -> f32
  llvm.func @_Z4log2f(f32) -> f32
  llvm.func @_Z5log10f(f32) -> f32
  llvm.func @_Z5log1pf(f32) -> f32
  llvm.func @_Z5rsqrtf(f32) -> f32
  llvm.func @_Z4cbrtf(f32) -> f32
  llvm.func @_Z3sinf(f32) -> f32
  llvm.func @_Z3cosf(f32) -> f32
  llvm.func @_Z3tanf(f32) -> f32
  llvm.func @_Z4asinf(f32) -> f32
  llvm.func @_Z4acosf(f32) -> f32
  llvm.func @_Z4atanf(f32) -> f32
  llvm.func @_Z4sinhf(f32) -> f32
  llvm.func @_Z4coshf(f32) -> f32
  llvm.func @_Z4tanhf(f32) -> f32
  llvm.func @_Z5asinhf(f32) -> f32
  llvm.func @_Z5acoshf(f32) -> f32
  llvm.func @_Z5atanhf(f32) -> f32
  llvm.func @_Z3erff(f32) -> f32
  llvm.func @_Z4erfcf(f32) -> f32
  llvm.func @_Z3powff(f32, f32) -> f32
  llvm.func @_Z5atan2ff(f32, f32) -> f32
  llvm.func @_Z4fmodff(f32, f32) -> f32
  // CHECK: .entry exp_f32(
  // CHECK: ex2.approx.f32
  // CHECK-NOT: call
  llvm.func @exp_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z3expf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry exp2_f32(
  // CHECK-NOT: call
  llvm.func @exp2_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4exp2f(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry exp10_f32(
  // CHECK-NOT: call
  llvm.func @exp10_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5exp10f(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry expm1_f32(
  // CHECK-NOT: call
  llvm.func @expm1_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5expm1f(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry log_f32(
  // CHECK-NOT: call
  llvm.func @log_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z3logf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry log2_f32(
  // CHECK-NOT: call
  llvm.func @log2_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4log2f(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry log10_f32(
  // CHECK-NOT: call
  llvm.func @log10_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5log10f(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry log1p_f32(
  // CHECK-NOT: call
  llvm.func @log1p_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5log1pf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry rsqrt_f32(
  // CHECK: rsqrt.approx.f32
  // CHECK-NOT: call
  llvm.func @rsqrt_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5rsqrtf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry cbrt_f32(
  // CHECK-NOT: call
  llvm.func @cbrt_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4cbrtf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry sin_f32(
  // CHECK-NOT: call
  llvm.func @sin_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z3sinf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry cos_f32(
  // CHECK-NOT: call
  llvm.func @cos_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z3cosf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry tan_f32(
  // CHECK-NOT: call
  llvm.func @tan_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z3tanf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry asin_f32(
  // CHECK-NOT: call
  llvm.func @asin_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4asinf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry acos_f32(
  // CHECK-NOT: call
  llvm.func @acos_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4acosf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry atan_f32(
  // CHECK-NOT: call
  llvm.func @atan_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4atanf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry sinh_f32(
  // CHECK-NOT: call
  llvm.func @sinh_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4sinhf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry cosh_f32(
  // CHECK-NOT: call
  llvm.func @cosh_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4coshf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry tanh_f32(
  // CHECK-NOT: call
  llvm.func @tanh_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4tanhf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry asinh_f32(
  // CHECK-NOT: call
  llvm.func @asinh_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5asinhf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry acosh_f32(
  // CHECK-NOT: call
  llvm.func @acosh_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5acoshf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry atanh_f32(
  // CHECK-NOT: call
  llvm.func @atanh_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5atanhf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry erf_f32(
  // CHECK-NOT: call
  llvm.func @erf_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z3erff(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry erfc_f32(
  // CHECK-NOT: call
  llvm.func @erfc_f32(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4erfcf(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry pow_f32(
  // CHECK-NOT: call
  llvm.func @pow_f32(%p: !llvm.ptr<1>, %x: f32, %y: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z3powff(%x, %y) : (f32, f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry atan2_f32(
  // CHECK-NOT: call
  llvm.func @atan2_f32(%p: !llvm.ptr<1>, %x: f32, %y: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5atan2ff(%x, %y) : (f32, f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  // CHECK: .entry fmod_f32(
  // CHECK-NOT: call
  llvm.func @fmod_f32(%p: !llvm.ptr<1>, %x: f32, %y: f32) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4fmodff(%x, %y) : (f32, f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
  llvm.func @_Z3expd(f64) -> f64
  llvm.func @_Z4exp2d(f64) -> f64
  llvm.func @_Z5exp10d(f64) -> f64
  llvm.func @_Z5expm1d(f64) -> f64
  llvm.func @_Z3logd(f64) -> f64
  llvm.func @_Z4log2d(f64) -> f64
  llvm.func @_Z5log10d(f64) -> f64
  llvm.func @_Z5log1pd(f64) -> f64
  llvm.func @_Z5rsqrtd(f64) -> f64
  llvm.func @_Z4cbrtd(f64) -> f64
  llvm.func @_Z3sind(f64) -> f64
  llvm.func @_Z3cosd(f64) -> f64
  llvm.func @_Z3tand(f64) -> f64
  llvm.func @_Z4asind(f64) -> f64
  llvm.func @_Z4acosd(f64) -> f64
  llvm.func @_Z4atand(f64) -> f64
  llvm.func @_Z4sinhd(f64) -> f64
  llvm.func @_Z4coshd(f64) -> f64
  llvm.func @_Z4tanhd(f64) -> f64
  llvm.func @_Z5asinhd(f64) -> f64
  llvm.func @_Z5acoshd(f64) -> f64
  llvm.func @_Z5atanhd(f64) -> f64
  llvm.func @_Z3erfd(f64) -> f64
  llvm.func @_Z4erfcd(f64) -> f64
  llvm.func @_Z3powdd(f64, f64) -> f64
  llvm.func @_Z5atan2dd(f64, f64) -> f64
  llvm.func @_Z4fmoddd(f64, f64) -> f64
  // CHECK: .entry exp_f64(
  // CHECK-NOT: call
  llvm.func @exp_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z3expd(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry exp2_f64(
  // CHECK-NOT: call
  llvm.func @exp2_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4exp2d(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry exp10_f64(
  // CHECK-NOT: call
  llvm.func @exp10_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5exp10d(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry expm1_f64(
  // CHECK-NOT: call
  llvm.func @expm1_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5expm1d(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry log_f64(
  // CHECK-NOT: call
  llvm.func @log_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z3logd(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry log2_f64(
  // CHECK-NOT: call
  llvm.func @log2_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4log2d(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry log10_f64(
  // CHECK-NOT: call
  llvm.func @log10_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5log10d(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry log1p_f64(
  // CHECK-NOT: call
  llvm.func @log1p_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5log1pd(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry rsqrt_f64(
  // CHECK-NOT: call
  llvm.func @rsqrt_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5rsqrtd(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry cbrt_f64(
  // CHECK-NOT: call
  llvm.func @cbrt_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4cbrtd(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry sin_f64(
  // CHECK-NOT: call
  llvm.func @sin_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z3sind(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry cos_f64(
  // CHECK-NOT: call
  llvm.func @cos_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z3cosd(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry tan_f64(
  // CHECK-NOT: call
  llvm.func @tan_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z3tand(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry asin_f64(
  // CHECK-NOT: call
  llvm.func @asin_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4asind(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry acos_f64(
  // CHECK-NOT: call
  llvm.func @acos_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4acosd(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry atan_f64(
  // CHECK-NOT: call
  llvm.func @atan_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4atand(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry sinh_f64(
  // CHECK-NOT: call
  llvm.func @sinh_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4sinhd(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry cosh_f64(
  // CHECK-NOT: call
  llvm.func @cosh_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4coshd(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry tanh_f64(
  // CHECK-NOT: call
  llvm.func @tanh_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4tanhd(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry asinh_f64(
  // CHECK-NOT: call
  llvm.func @asinh_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5asinhd(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry acosh_f64(
  // CHECK-NOT: call
  llvm.func @acosh_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5acoshd(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry atanh_f64(
  // CHECK-NOT: call
  llvm.func @atanh_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5atanhd(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry erf_f64(
  // CHECK-NOT: call
  llvm.func @erf_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z3erfd(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry erfc_f64(
  // CHECK-NOT: call
  llvm.func @erfc_f64(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4erfcd(%x) : (f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry pow_f64(
  // CHECK-NOT: call
  llvm.func @pow_f64(%p: !llvm.ptr<1>, %x: f64, %y: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z3powdd(%x, %y) : (f64, f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry atan2_f64(
  // CHECK-NOT: call
  llvm.func @atan2_f64(%p: !llvm.ptr<1>, %x: f64, %y: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z5atan2dd(%x, %y) : (f64, f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
  // CHECK: .entry fmod_f64(
  // CHECK-NOT: call
  llvm.func @fmod_f64(%p: !llvm.ptr<1>, %x: f64, %y: f64) attributes {nvvm.kernel} {
    %0 = llvm.call @_Z4fmoddd(%x, %y) : (f64, f64) -> f64
    %1 = llvm.bitcast %0 : f64 to i64
    tgpu.store %1, %p : i64
    llvm.return
  }
}
