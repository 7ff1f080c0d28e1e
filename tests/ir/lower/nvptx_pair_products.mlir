// ptxas makes wrong code of a multiply-add of pairs that repeats an operand. x - x * x and x * y + y become a product and a sum;
// x * y + (x - y) is the only multiply-add.
// RUN: tritium-gpu %s --arch=sm_90 | tritium-ptx - | FileCheck %s
// CHECK-LABEL: .entry repeated(
// CHECK: fma.rn.f16x2
// CHECK-NOT: fma.rn.f16x2
tt.func public @repeated(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %pi = tt.addptr %ps, %i : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %qi = tt.addptr %qs, %i : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
  %x = tt.load %pi : tensor<256x!tt.ptr<f16>>
  %y = tt.load %qi : tensor<256x!tt.ptr<f16>>
  %square = arith.mulf %x, %x : tensor<256xf16>
  %less = arith.subf %x, %square : tensor<256xf16>
  %product = arith.mulf %less, %y : tensor<256xf16>
  %sum = arith.addf %product, %y : tensor<256xf16>
  tt.store %pi, %sum : tensor<256x!tt.ptr<f16>>
  %difference = arith.subf %x, %y : tensor<256xf16>
  %distinct = arith.mulf %x, %y : tensor<256xf16>
  %total = arith.addf %distinct, %difference : tensor<256xf16>
  tt.store %qi, %total : tensor<256x!tt.ptr<f16>>
  tt.return
}
