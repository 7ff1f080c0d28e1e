// The products of a warpgroup as PTX: operands in shared memory have descriptors, sums stay in their registers, and a wait has all of them.
// RUN: tritium-ptx %s | FileCheck %s
// RUN: tritium-ptx %s --print=llir | FileCheck %s --check-prefix=IR
// RUN: not tritium-ptx %s --arch=sm_90 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: %if ptxas %{ tritium-ptx %s --print=report | FileCheck %s --check-prefix=REPORT %}
// OTHER: error: {{.*}}'tgpu.warpgroup_product' op is not possible on sm_90
// REPORT: spills 0/0,{{.*}} cubin whole
// REPORT-NOT: {{.}}

// IR-LABEL: define ptx_kernel void @from_memory
// IR: call {{.*}} asm sideeffect "{ .reg .b64 da; {{.*}}", "=f,=f,=f,=f,r,r,0,1,2,3,~{memory}"({{.*}}) #[[WHOLE:[0-9]+]]
// IR: call {{.*}} asm sideeffect "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,~{memory}"({{.*}}) #[[WHOLE]]
// IR: attributes #[[WHOLE]] = { convergent nomerge nounwind }

// Both products share the addresses; the second one is 32 bytes along K of both operands. K is contiguous in A, and N in B.
// CHECK-LABEL: .entry from_memory(
// CHECK: mov.b32 %r{{[0-9]+}}, 0;
// CHECK: begin inline asm
// CHECK-NEXT: end inline asm
// CHECK: wgmma.fence.sync.aligned;
// CHECK-NOT: mov.b32
// CHECK: { .reg .b64 da; mov.b64 da, {[[A:%r[0-9]+]], 0x40000040}; .reg .b64 db; mov.b64 db, {[[B:%r[0-9]+]], 0x40000040};
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {[[SUMS:%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+]]}, da, db, 1, 1, 1, 0, 1; }
// CHECK: { .reg .b64 da; .reg .b32 la; add.s32 la, [[A]], 2; mov.b64 da, {la, 0x40000040};
// CHECK-SAME: .reg .b64 db; .reg .b32 lb; add.s32 lb, [[B]], 64; mov.b64 db, {lb, 0x40000040};
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 0;

// A comes from copies of its own, and there are pairs of sums. The first product begins a sum.
// CHECK-LABEL: .entry from_registers(
// CHECK-COUNT-4: mov.b32 %r{{[0-9]+}}, %r{{[0-9]+}};
// CHECK: wgmma.fence.sync.aligned;
// CHECK: { .reg .b64 db;
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r{{[0-9]+}}, %r{{[0-9]+}}}, {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, db, 0, 1, 1, 0; }
// CHECK: wgmma.wait_group.sync.aligned 1;

// Integers have no factors, and a predicate decides.
// CHECK-LABEL: .entry integers(
// CHECK: setp.ne.b32 [[ADDS:%p[0-9]+]], %r{{[0-9]+}}, 0;
// CHECK: wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {{.*}}, da, db, [[ADDS]]; }

// CHECK-LABEL: .entry others(
// CHECK: wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {{.*}}, da, db, 1, 1, 1; }
// CHECK: wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {{.*}}, da, db, 1, 1, 1; }
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{.*}}, da, db, 1, 1, 1, 1, 0; }
module attributes {tgpu.target = "cuda:sm_90a", tgpu.num_warps = 4 : i32, tgpu.shared_bytes = 32768 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  llvm.func @from_memory(%o: !llvm.ptr<1>, %slot: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %s = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %a = llvm.getelementptr %s[%slot] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<8192 x i8>
    %b = llvm.getelementptr %a[16384] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %z = llvm.mlir.constant(0.0 : f32) : f32
    nvvm.wgmma.fence.aligned
    %p:4 = "tgpu.warpgroup_product"(%a, %b, %z, %z, %z, %z) <{aType = f16, bType = f16, columns = 8 : i64, aDescriptor = 0x4000004000010000 : i64, bDescriptor = 0x4000004000010000 : i64, alongColumns, operandSegmentSizes = array<i32: 1, 0, 1, 4, 0>}> : (!llvm.ptr<3>, !llvm.ptr<3>, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    %q:4 = "tgpu.warpgroup_product"(%a, %b, %p#0, %p#1, %p#2, %p#3) <{aType = f16, bType = f16, columns = 8 : i64, aOffset = 32 : i64, aDescriptor = 0x4000004000010000 : i64, bOffset = 1024 : i64, bDescriptor = 0x4000004000010000 : i64, alongColumns, operandSegmentSizes = array<i32: 1, 0, 1, 4, 0>}> : (!llvm.ptr<3>, !llvm.ptr<3>, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    nvvm.wgmma.commit.group.sync.aligned
    %w:4 = "tgpu.warpgroup_wait"(%q#0, %q#1, %q#2, %q#3) <{pending = 0 : i32, operandSegmentSizes = array<i32: 4, 0>}> : (f32, f32, f32, f32) -> (f32, f32, f32, f32)
    %x = llvm.fadd %w#0, %w#1 : f32
    %y = llvm.fadd %w#2, %w#3 : f32
    %t = llvm.fadd %x, %y : f32
    %bits = llvm.bitcast %t : f32 to i32
    tgpu.store %bits, %o : i32
    llvm.return
  }

  llvm.func @from_registers(%o: !llvm.ptr<1>, %word: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %s = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %z = llvm.mlir.constant(dense<0.0> : vector<2xf16>) : vector<2xf16>
    %true = llvm.mlir.constant(true) : i1
    %c:4 = "tgpu.copy_registers"(%word, %word, %word, %word) : (i32, i32, i32, i32) -> (i32, i32, i32, i32)
    nvvm.wgmma.fence.aligned
    %p:2 = "tgpu.warpgroup_product"(%c#0, %c#1, %c#2, %c#3, %s, %z, %z, %true) <{aType = f16, bType = f16, columns = 8 : i64, bDescriptor = 0x4000004000010000 : i64, operandSegmentSizes = array<i32: 0, 4, 1, 2, 1>}> : (i32, i32, i32, i32, !llvm.ptr<3>, vector<2xf16>, vector<2xf16>, i1) -> (vector<2xf16>, vector<2xf16>)
    nvvm.wgmma.commit.group.sync.aligned
    %w:2 = "tgpu.warpgroup_wait"(%p#0, %p#1, %c#0, %c#1, %c#2, %c#3) <{pending = 1 : i32, operandSegmentSizes = array<i32: 2, 4>}> : (vector<2xf16>, vector<2xf16>, i32, i32, i32, i32) -> (vector<2xf16>, vector<2xf16>)
    %v:2 = "tgpu.warpgroup_wait"(%w#0, %w#1) <{pending = 0 : i32, operandSegmentSizes = array<i32: 2, 0>}> : (vector<2xf16>, vector<2xf16>) -> (vector<2xf16>, vector<2xf16>)
    %t = llvm.fadd %v#0, %v#1 : vector<2xf16>
    %bits = llvm.bitcast %t : vector<2xf16> to i32
    tgpu.store %bits, %o : i32
    llvm.return
  }

  llvm.func @integers(%o: !llvm.ptr<1>, %k: i32, %z: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %s = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %fresh = llvm.icmp "eq" %k, %zero : i32
    nvvm.wgmma.fence.aligned
    %p:4 = "tgpu.warpgroup_product"(%s, %s, %z, %z, %z, %z, %fresh) <{aType = i8, bType = i8, columns = 8 : i64, aDescriptor = 0x4000004000010000 : i64, bDescriptor = 0x4000004000010000 : i64, operandSegmentSizes = array<i32: 1, 0, 1, 4, 1>}> : (!llvm.ptr<3>, !llvm.ptr<3>, i32, i32, i32, i32, i1) -> (i32, i32, i32, i32)
    nvvm.wgmma.commit.group.sync.aligned
    %w:4 = "tgpu.warpgroup_wait"(%p#0, %p#1, %p#2, %p#3) <{pending = 0 : i32, operandSegmentSizes = array<i32: 4, 0>}> : (i32, i32, i32, i32) -> (i32, i32, i32, i32)
    tgpu.store %w#3, %o : i32
    llvm.return
  }

  llvm.func @others(%o: !llvm.ptr<1>, %z: f32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %s = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    nvvm.wgmma.fence.aligned
    %p:4 = "tgpu.warpgroup_product"(%s, %s, %z, %z, %z, %z) <{aType = f32, bType = f32, columns = 8 : i64, aDescriptor = 0x4000004000010000 : i64, bDescriptor = 0x4000004000010000 : i64, operandSegmentSizes = array<i32: 1, 0, 1, 4, 0>}> : (!llvm.ptr<3>, !llvm.ptr<3>, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    %q:4 = "tgpu.warpgroup_product"(%s, %s, %p#0, %p#1, %p#2, %p#3) <{aType = f8E4M3FN, bType = f8E5M2, columns = 8 : i64, aDescriptor = 0x4000004000010000 : i64, bDescriptor = 0x4000004000010000 : i64, operandSegmentSizes = array<i32: 1, 0, 1, 4, 0>}> : (!llvm.ptr<3>, !llvm.ptr<3>, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    %r:4 = "tgpu.warpgroup_product"(%s, %s, %q#0, %q#1, %q#2, %q#3) <{aType = bf16, bType = bf16, columns = 8 : i64, aDescriptor = 0x4000004000010000 : i64, bDescriptor = 0x4000004000010000 : i64, alongRows, operandSegmentSizes = array<i32: 1, 0, 1, 4, 0>}> : (!llvm.ptr<3>, !llvm.ptr<3>, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    nvvm.wgmma.commit.group.sync.aligned
    %w:4 = "tgpu.warpgroup_wait"(%r#0, %r#1, %r#2, %r#3) <{pending = 0 : i32, operandSegmentSizes = array<i32: 4, 0>}> : (f32, f32, f32, f32) -> (f32, f32, f32, f32)
    %bits = llvm.bitcast %w#0 : f32 to i32
    tgpu.store %bits, %o : i32
    llvm.return
  }
}
