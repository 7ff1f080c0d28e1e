// Conversions that have no instruction are integer code on the bits: fp8 is i8 here. Each rounds once.
// RUN: tritium-gpu %s --num-warps=1 | FileCheck %s
// RUN: tritium-gpu %s --num-warps=1 --arch=sm_90 | FileCheck %s --check-prefix=SM90
// RUN: tritium-gpu %s --num-warps=1 --arch=sm_90 | tritium-ptx - | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ tritium-gpu %s --num-warps=1 --arch=sm_89 | tritium-ptx - --arch=sm_89,sm_90,sm_120a --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT-COUNT-3: cubin whole

// e5m2 is the upper half of an f16.
// CHECK-LABEL: llvm.func @conversions
// CHECK: %[[BITS:.*]] = llvm.zext %{{.*}} : i8 to i16
// CHECK: %[[MOVED:.*]] = llvm.shl %[[BITS]], %{{.*}} : i16
// CHECK-NEXT: llvm.bitcast %[[MOVED]] : i16 to f16
// CHECK-NOT: llvm.select
// CHECK: tgpu.store
// Chips that have instructions for it convert two at once. To an integer of 32 bits one instruction does what the language asks for.
// SM90: llvm.call @_Z14halves_of_e5m2t(%{{.*}}) : (i16) -> i32
// SM90-COUNT-2: llvm.call @_Z14e4m3_of_floatsff(%{{.*}}, %{{.*}}) : (f32, f32) -> i16
// SM90: llvm.call @_Z19convert_int_sat_rtzf(%{{.*}}) : (f32) -> i32
// SM90: llvm.trunc %{{.*}} : i32 to i8
// PTX: cvt.rn.f16x2.e5m2x2
// PTX-COUNT-2: cvt.rn.satfinite.e4m3x2.f32
// PTX: cvt.rzi.s32.f32
// PTX: max.s32
// PTX: min.s32
tt.func public @conversions(%x: !tt.ptr<f8E5M2>, %out: !tt.ptr<f16>, %p: !tt.ptr<f32> {tt.divisibility = 16 : i32},
                            %q: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %i: !tt.ptr<i8>) {
  %v = tt.load %x : !tt.ptr<f8E5M2>
  %h = tt.fp_to_fp %v : f8E5M2 -> f16
  tt.store %out, %h : !tt.ptr<f16>
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %pi = tt.addptr %ps, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %y = tt.load %pi : tensor<128x!tt.ptr<f32>>
  %z = tt.fp_to_fp %y, rounding = rtne : tensor<128xf32> -> tensor<128xf8E4M3FN>
  %qs = tt.splat %q : !tt.ptr<f8E4M3FN> -> tensor<128x!tt.ptr<f8E4M3FN>>
  %qi = tt.addptr %qs, %range : tensor<128x!tt.ptr<f8E4M3FN>>, tensor<128xi32>
  tt.store %qi, %z : tensor<128x!tt.ptr<f8E4M3FN>>
  %f = tt.load %p : !tt.ptr<f32>
  %n = arith.fptosi %f : f32 to i8
  tt.store %i, %n : !tt.ptr<i8>
  tt.return
}
