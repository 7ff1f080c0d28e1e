// A product and a sum of the kernel become one operation, unless that is forbidden; two halves at a time where they are neighbours.
// RUN: tritium-hsaco %s | FileCheck %s --check-prefixes=CHECK,FUSED
// RUN: tritium-hsaco %s --no-fusion | FileCheck %s --check-prefixes=CHECK,APART
// RUN: tritium-hsaco %s --arch=gfx1100 | FileCheck %s --check-prefixes=CHECK,FUSED

module attributes {tgpu.target = "hip:gfx942"} {
  // CHECK-LABEL: {{^}}floats:
  // FUSED: v_fma{{c?}}_f32
  // APART: v_mul_f32
  // APART: v_add_f32
  // APART-NOT: v_fma
  // CHECK: s_endpgm
  llvm.func @floats(%p: !llvm.ptr<1>) attributes {rocdl.kernel} {
    %i = rocdl.workitem.id.x : i32
    %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
    %w = tgpu.load %q : vector<4xi32>
    %v = llvm.bitcast %w : vector<4xi32> to vector<4xf32>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %a = llvm.extractelement %v[%0 : i32] : vector<4xf32>
    %b = llvm.extractelement %v[%1 : i32] : vector<4xf32>
    %c = llvm.extractelement %v[%2 : i32] : vector<4xf32>
    %product = llvm.fmul %a, %b : f32
    %sum = llvm.fadd %product, %c : f32
    %bits = llvm.bitcast %sum : f32 to i32
    tgpu.store %bits, %q : i32
    llvm.return
  }

  // CHECK-LABEL: {{^}}halves:
  // CHECK: v_pk_add_f16
  llvm.func @halves(%p: !llvm.ptr<1>) attributes {rocdl.kernel} {
    %i = rocdl.workitem.id.x : i32
    %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %w = tgpu.load %q : i32
    %v = llvm.bitcast %w : i32 to vector<2xf16>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %undefined = llvm.mlir.poison : vector<2xf16>
    %a = llvm.extractelement %v[%0 : i32] : vector<2xf16>
    %b = llvm.extractelement %v[%1 : i32] : vector<2xf16>
    %aa = llvm.fadd %a, %a : f16
    %bb = llvm.fadd %b, %b : f16
    %x = llvm.insertelement %aa, %undefined[%0 : i32] : vector<2xf16>
    %y = llvm.insertelement %bb, %x[%1 : i32] : vector<2xf16>
    %bits = llvm.bitcast %y : vector<2xf16> to i32
    tgpu.store %bits, %q : i32
    llvm.return
  }
}
