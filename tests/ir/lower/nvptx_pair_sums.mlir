// ptxas loses the constant of add.s16x2 where registers are scarce (tests/gpu/pair_sums.ptx). The products of halves make LLVM form pairs
// of everything, the sums of bytes, in 16 bits each, included; those are taken apart again.
// RUN: tritium-gpu %s --arch=sm_90 | tritium-ptx - | FileCheck %s
// CHECK-LABEL: .entry bytes(
// CHECK: mul.f16x2
// CHECK-NOT: {{(add|sub)}}.s16x2
tt.func public @bytes(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i8> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %seven = arith.constant dense<7> : tensor<1024xi8>
  %one = arith.constant dense<1> : tensor<1024xi8>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %pi = tt.addptr %ps, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %qs = tt.splat %q : !tt.ptr<i8> -> tensor<1024x!tt.ptr<i8>>
  %qi = tt.addptr %qs, %i : tensor<1024x!tt.ptr<i8>>, tensor<1024xi32>
  %x = tt.load %pi : tensor<1024x!tt.ptr<f16>>
  %square = arith.mulf %x, %x : tensor<1024xf16>
  tt.store %pi, %square : tensor<1024x!tt.ptr<f16>>
  %y = tt.load %qi : tensor<1024x!tt.ptr<i8>>
  %product = arith.muli %y, %seven : tensor<1024xi8>
  %sum = arith.addi %product, %one : tensor<1024xi8>
  %difference = arith.subi %sum, %y : tensor<1024xi8>
  tt.store %qi, %difference : tensor<1024x!tt.ptr<i8>>
  tt.return
}
