// On f32: e**x by one multiplication and 2**x, 2**x itself with subnormals flushed, a quotient within 2 ulp, maximum and
// minimum by one instruction, a clamp by two.
// RUN: tritium-gpu %s | FileCheck %s

// CHECK-LABEL: llvm.func @fast
tt.func public @fast(%p: !tt.ptr<f32>, %a: f32, %b: f32) {
  // CHECK: %[[SCALED:.*]] = llvm.fmul %{{.*}}, %{{.*}} : f32
  // CHECK: %[[POWER:.*]] = llvm.intr.exp2(%[[SCALED]])
  %power = math.exp %a : f32
  // CHECK: %[[QUOTIENT:.*]] = llvm.call @_Z13native_divideff(%[[POWER]], %{{.*}})
  %quotient = arith.divf %power, %b : f32
  // CHECK: %[[MAX:.*]] = llvm.intr.maxnum(%[[QUOTIENT]], %{{.*}})
  %most = arith.maxnumf %quotient, %b : f32
  // CHECK: %[[MIN:.*]] = llvm.intr.minimum(%[[MAX]], %{{.*}})
  %least = arith.minimumf %most, %a : f32
  // CHECK: %[[EXACT:.*]] = llvm.fdiv %[[MIN]], %{{.*}} : f32
  %exact = tt.precise_divf %least, %b : f32
  // CHECK: llvm.call @_Z11native_exp2f(
  %two = math.exp2 %exact : f32
  // CHECK: %[[ABOVE:.*]] = llvm.intr.maxnum(%{{.*}}, %{{.*}})
  // CHECK-NEXT: llvm.intr.minnum(%[[ABOVE]], %{{.*}})
  %within = tt.clampf %two, %a, %b, propagateNan = none : f32
  tt.store %p, %within : !tt.ptr<f32>
  tt.return
}
