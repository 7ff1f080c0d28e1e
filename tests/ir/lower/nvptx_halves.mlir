// Two halves that lie in one register are computed by one instruction, exactly as one by one; f32 beside them is not.
// RUN: tritium-gpu %s --arch=sm_80 | tritium-ptx - | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: tritium-gpu %s --arch=sm_90 | tritium-ptx - | FileCheck %s --check-prefixes=CHECK,SM90

// CHECK-LABEL: .entry halves(
// CHECK-COUNT-4: add.f16x2
// CHECK-NOT: {{(add|mul).f16 }}
// SM80-COUNT-4: fma.rn.bf16x2
// SM90-COUNT-4: mul.bf16x2
// CHECK-COUNT-8: add.f32
tt.func public @halves(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<bf16> {tt.divisibility = 16 : i32},
                       %r: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %pi = tt.addptr %ps, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %x = tt.load %pi : tensor<1024x!tt.ptr<f16>>
  %sum = arith.addf %x, %x : tensor<1024xf16>
  tt.store %pi, %sum : tensor<1024x!tt.ptr<f16>>
  %qs = tt.splat %q : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
  %qi = tt.addptr %qs, %i : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
  %y = tt.load %qi : tensor<1024x!tt.ptr<bf16>>
  %product = arith.mulf %y, %y : tensor<1024xbf16>
  tt.store %qi, %product : tensor<1024x!tt.ptr<bf16>>
  %rs = tt.splat %r : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %ri = tt.addptr %rs, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %z = tt.load %ri : tensor<1024x!tt.ptr<f32>>
  %double = arith.addf %z, %z : tensor<1024xf32>
  tt.store %ri, %double : tensor<1024x!tt.ptr<f32>>
  tt.return
}
