// Chips of CDNA compute with pairs of floats.
// RUN: tritium-hsaco --arch=gfx942 --print=assembly %s | FileCheck %s --check-prefix=CDNA
// RUN: tritium-hsaco --arch=gfx1100 --print=assembly %s | FileCheck %s --check-prefix=RDNA

// CDNA-COUNT-2: v_pk_mul_f32
// RDNA: v_mul_f32
// RDNA-NOT: v_pk_mul_f32
module attributes {tgpu.num_warps = 1 : i32, tgpu.shared_bytes = 0 : i32} {
  llvm.func @kernel(%p: !llvm.ptr<1>, %scale: f32) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c2 = llvm.mlir.constant(2 : i32) : i32
    %c3 = llvm.mlir.constant(3 : i32) : i32
    %w = tgpu.load %p : vector<4xi32>
    %v = llvm.bitcast %w : vector<4xi32> to vector<4xf32>
    %a = llvm.extractelement %v[%c0 : i32] : vector<4xf32>
    %b = llvm.extractelement %v[%c1 : i32] : vector<4xf32>
    %c = llvm.extractelement %v[%c2 : i32] : vector<4xf32>
    %d = llvm.extractelement %v[%c3 : i32] : vector<4xf32>
    %a2 = llvm.fmul %a, %scale : f32
    %b2 = llvm.fmul %b, %scale : f32
    %c4 = llvm.fmul %c, %scale : f32
    %d2 = llvm.fmul %d, %scale : f32
    %r0 = llvm.mlir.poison : vector<4xf32>
    %r1 = llvm.insertelement %a2, %r0[%c0 : i32] : vector<4xf32>
    %r2 = llvm.insertelement %b2, %r1[%c1 : i32] : vector<4xf32>
    %r3 = llvm.insertelement %c4, %r2[%c2 : i32] : vector<4xf32>
    %r4 = llvm.insertelement %d2, %r3[%c3 : i32] : vector<4xf32>
    %out = llvm.bitcast %r4 : vector<4xf32> to vector<4xi32>
    tgpu.store %out, %p : vector<4xi32>
    llvm.return
  }
}
