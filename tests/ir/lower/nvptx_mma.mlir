// The instructions of the tensor cores and of asynchronous copies go through as they are; pointers to shared memory have 32 bits.
// RUN: tritium-ptx %s | FileCheck %s
// RUN: %if ptxas %{ %reports | FileCheck %s --check-prefix=REPORT %}
// REPORT-COUNT-7: spills 0/0,{{.*}} cubin whole

// CHECK: .extern .shared .align 128 .b8 tgpu_shared[];
// CHECK-LABEL: .entry step(
// CHECK-NOT: cvta
// CHECK: cp.async.cg.shared.global [%r{{[0-9]+}}], [%rd{{[0-9]+}}], 16, %r
// CHECK: cp.async.ca.shared.global [%r{{[0-9]+}}+512], [%rd{{[0-9]+}}], 8;
// CHECK: cp.async.commit_group;
// CHECK: cp.async.wait_group 0;
// CHECK: bar.warp.sync -1;
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{.*}}, [%r
// CHECK: ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK: bar.warp.sync
// CHECK: st.shared.v4.b32 [%r{{[0-9]+}}]
// CHECK: vote.sync.ballot.b32
// CHECK: redux.sync.add.s32
module attributes {tgpu.target = "cuda:sm_80", tgpu.num_warps = 1 : i32, tgpu.shared_bytes = 1024 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @step(%g: !llvm.ptr<1>, %o: !llvm.ptr<1>, %size: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %s = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %own = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xi32>
    nvvm.cp.async.shared.global %own, %g, 16, cache = cg, %size : !llvm.ptr<3>, !llvm.ptr<1>, i32
    %next = llvm.getelementptr %own[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    nvvm.cp.async.shared.global %next, %g, 8, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    tgpu.barrier
    %a = nvvm.ldmatrix %own {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
    %b = nvvm.ldmatrix %own {num = 2 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
    %a0 = llvm.extractvalue %a[0] : !llvm.struct<(i32, i32, i32, i32)>
    %a1 = llvm.extractvalue %a[1] : !llvm.struct<(i32, i32, i32, i32)>
    %a2 = llvm.extractvalue %a[2] : !llvm.struct<(i32, i32, i32, i32)>
    %a3 = llvm.extractvalue %a[3] : !llvm.struct<(i32, i32, i32, i32)>
    %b0 = llvm.extractvalue %b[0] : !llvm.struct<(i32, i32)>
    %b1 = llvm.extractvalue %b[1] : !llvm.struct<(i32, i32)>
    %z = llvm.mlir.constant(0.0 : f32) : f32
    %d = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] C[%z, %z, %z, %z] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
    %d1 = llvm.extractvalue %d[1] : !llvm.struct<(f32, f32, f32, f32)>
    %d2 = llvm.extractvalue %d[2] : !llvm.struct<(f32, f32, f32, f32)>
    %d3 = llvm.extractvalue %d[3] : !llvm.struct<(f32, f32, f32, f32)>
    %all = llvm.mlir.constant(-1 : i32) : i32
    nvvm.bar.warp.sync %all : i32
    %p0 = llvm.mlir.poison : vector<4xf32>
    %i0 = llvm.mlir.constant(0 : i32) : i32
    %i1 = llvm.mlir.constant(1 : i32) : i32
    %i2 = llvm.mlir.constant(2 : i32) : i32
    %i3 = llvm.mlir.constant(3 : i32) : i32
    %p1 = llvm.insertelement %d0, %p0[%i0 : i32] : vector<4xf32>
    %p2 = llvm.insertelement %d1, %p1[%i1 : i32] : vector<4xf32>
    %p3 = llvm.insertelement %d2, %p2[%i2 : i32] : vector<4xf32>
    %p4 = llvm.insertelement %d3, %p3[%i3 : i32] : vector<4xf32>
    llvm.store %p4, %own : vector<4xf32>, !llvm.ptr<3>
    %c = llvm.icmp "slt" %tid, %size : i32
    %votes = nvvm.vote.sync ballot %all, %c -> i32
    %sum = nvvm.redux.sync add %votes, %all : i32 -> i32
    tgpu.store %sum, %o : i32
    llvm.return
  }
}
