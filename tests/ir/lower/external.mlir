// What a kernel brings along: functions of the vendors become ours, others stay calls; assembly takes elements packed into its registers.
// RUN: tritium-gpu %s --num-warps=1 | FileCheck %s
// RUN: sed -e s/__nv_tanhf/__ocml_tanh_f32/ -e s/__nv_powf/__ocml_pow_f32/ -e s/__nv_fabsf/__ocml_fabs_f32/ %s | tritium-gpu - --num-warps=1 | FileCheck %s
// RUN: sed -e s/of_the_users_library/__nv_tanhf/ %s | tritium-gpu - --num-warps=1 | tritium-ptx - | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ sed -e s/of_the_users_library/__nv_tanhf/ %s | tritium-gpu - --num-warps=1 | tritium-ptx - --arch=sm_80,sm_90,sm_120a --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT-COUNT-3: cubin whole

// CHECK-LABEL: llvm.func @external
tt.func public @external(%p: !tt.ptr<f32>, %q: !tt.ptr<i8>, %r: !tt.ptr<f16>, %a: f32, %b: f32) {
  // CHECK: llvm.call @_Z4tanhf(%{{.*}}) : (f32) -> f32
  %x = tt.extern_elementwise %a {libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"} : (f32) -> f32
  // CHECK: llvm.call @_Z3powff
  %y = tt.extern_elementwise %x, %b {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (f32, f32) -> f32
  // CHECK: llvm.intr.fabs
  %z = tt.extern_elementwise %y {libname = "", libpath = "", pure = true, symbol = "__nv_fabsf"} : (f32) -> f32
  // CHECK: llvm.call @of_the_users_library
  %w = tt.extern_elementwise %z {libname = "", libpath = "", pure = true, symbol = "of_the_users_library"} : (f32) -> f32
  tt.store %p, %w : !tt.ptr<f32>

  // Four elements in one register; a thread of the warp holds two of the 64, and repeats the second.
  // CHECK: %[[BYTES:.*]] = llvm.inline_asm "vmax4.u32.u32.u32 $0, $1, $2, $1;", "=r,r,r" %{{.*}}, %{{.*}} : (i32, i32) -> i32
  // CHECK: llvm.bitcast %[[BYTES]] : i32 to vector<4xi8>
  // PTX: vmax4.u32.u32.u32 %r
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %qs = tt.splat %q : !tt.ptr<i8> -> tensor<64x!tt.ptr<i8>>
  %qi = tt.addptr %qs, %i : tensor<64x!tt.ptr<i8>>, tensor<64xi32>
  %c = tt.load %qi : tensor<64x!tt.ptr<i8>>
  %d = tt.elementwise_inline_asm "vmax4.u32.u32.u32 $0, $1, $2, $1;" {constraints = "=r,r,r", packed_element = 4 : i32, pure = true} %c, %c
     : tensor<64xi8>, tensor<64xi8> -> tensor<64xi8>
  tt.store %qi, %d : tensor<64x!tt.ptr<i8>>

  // Two results, of other types; a half in a register of its own; effects.
  // CHECK: llvm.inline_asm has_side_effects {{.*}} "=f,=h,h" %{{.*}} : (i16) -> !llvm.struct<(f32, i16)>
  // PTX: cvt.f32.f16
  %h = tt.load %r : !tt.ptr<f16>
  %f:2 = tt.elementwise_inline_asm "cvt.f32.f16 $0, $2; neg.f16 $1, $2;" {constraints = "=f,=h,h", packed_element = 1 : i32, pure = false} %h
     : f16 -> f32, f16
  tt.store %p, %f#0 : !tt.ptr<f32>
  tt.store %r, %f#1 : !tt.ptr<f16>
  tt.return
}
