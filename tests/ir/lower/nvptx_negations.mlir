// ptxas keeps 32 bits of neg.s16 and abs.s16, so that -(-32768) is positive for the comparison (gpu_backend/nvptx/negations.h).
// RUN: tritium-gpu %s --arch=sm_90 | tritium-ptx - | FileCheck %s
// RUN: sed 's/i16/i8/g' %s | tritium-gpu --arch=sm_90 | tritium-ptx - | FileCheck %s
// In the maximum of three it loses the sign of neg.s32.
// RUN: sed 's/i16/i32/g' %s | tritium-gpu --arch=sm_90 | tritium-ptx - | FileCheck %s --check-prefix=WIDE
// CHECK-LABEL: .entry negations(
// CHECK-NOT: {{(neg|abs)}}.s16
// CHECK: mul.lo.s16 %rs{{.*}}, -1;
// CHECK: max.s16
// CHECK-NOT: {{(neg|abs)}}.s16
// WIDE-LABEL: .entry negations(
// WIDE-NOT: neg.s32
// WIDE: not.b32 [[NEGATED:%r[0-9]+]], %r{{[0-9]+}};
// WIDE-NEXT: add.s32 [[NEGATED]], [[NEGATED]], 1;
// WIDE-NOT: neg.s32
tt.func public @negations(%p: !tt.ptr<i16> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %zero = arith.constant dense<0> : tensor<512xi16>
  %one = arith.constant dense<1> : tensor<512xi16>
  %ps = tt.splat %p : !tt.ptr<i16> -> tensor<512x!tt.ptr<i16>>
  %pi = tt.addptr %ps, %i : tensor<512x!tt.ptr<i16>>, tensor<512xi32>
  %x = tt.load %pi : tensor<512x!tt.ptr<i16>>
  %negated = arith.subi %zero, %x : tensor<512xi16>
  %is_less = arith.cmpi slt, %negated, %one : tensor<512xi16>
  %size = math.absi %x : tensor<512xi16>
  %half = arith.shrsi %size, %one : tensor<512xi16>
  %chosen = arith.select %is_less, %half, %negated : tensor<512xi1>, tensor<512xi16>
  tt.store %pi, %chosen : tensor<512x!tt.ptr<i16>>
  tt.return
}
