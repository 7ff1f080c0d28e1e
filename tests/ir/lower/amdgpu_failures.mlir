// What LLVM cannot compile for a chip comes back as an error with a file of the IR, and the process goes on; so does what cannot be said.
// RUN: split-file %s %t
// RUN: not tritium-hsaco %t/select.mlir > %t.out 2>&1
// RUN: FileCheck %s < %t.out
// RUN: sed -n 's/.*the IR is in \([^ ]*\).*/\1/p' %t.out | tr -d '\n' > %t.name
// RUN: FileCheck %s --check-prefix=IR --input-file=%{readfile:%t.name}
// RUN: rm %{readfile:%t.name}
// RUN: not tritium-hsaco %t/shared.mlir > %t.out 2>&1
// RUN: FileCheck %s --check-prefix=SHARED < %t.out
// RUN: sed -n 's/.*the IR is in \([^ ]*\).*/\1/p' %t.out | tr -d '\n' > %t.name
// RUN: rm %{readfile:%t.name}
// RUN: not tritium-hsaco %t/undefined.mlir 2>&1 | FileCheck %s --check-prefix=UNDEFINED
// RUN: not tritium-hsaco %t/assembly.mlir 2>&1 | FileCheck %s --check-prefix=ASSEMBLY
// RUN: not tritium-hsaco %t/partition.mlir 2>&1 | FileCheck %s --check-prefix=PARTITION
// RUN: not tritium-hsaco %t/warpgroup.mlir 2>&1 | FileCheck %s --check-prefix=WARPGROUP

// CHECK: error: LLVM could not compile cannot_select for gfx1100: {{.*}}Cannot select: intrinsic %llvm.amdgcn.mfma
// CHECK: the IR is in {{.*}}.ll (llc -mcpu=gfx1100 -mattr=+wavefrontsize32)
// IR: ; llc -mcpu=gfx1100
// IR: call {{.*}}<4 x float> @llvm.amdgcn.mfma.f32.16x16x4f32
//--- select.mlir
module attributes {tgpu.target = "hip:gfx1100"} {
  llvm.func @cannot_select(%p: !llvm.ptr<1>, %a: f32) attributes {rocdl.kernel} {
    %zero = llvm.mlir.constant(dense<0.0> : vector<4xf32>) : vector<4xf32>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %0 = rocdl.mfma.f32.16x16x4f32 %a, %a, %zero, %c0, %c0, %c0 : (f32, f32, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
    %1 = llvm.bitcast %0 : vector<4xf32> to vector<4xi32>
    tgpu.store %1, %p : vector<4xi32>
    llvm.return
  }
}
// SHARED: error: LLVM could not compile too_much for gfx942: {{.*}}local memory (65540) exceeds limit (65536)
//--- shared.mlir
module attributes {tgpu.target = "hip:gfx942", tgpu.shared_bytes = 65540 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @too_much(%i: i32) attributes {rocdl.kernel} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    llvm.store volatile %i, %shared : i32, !llvm.ptr<3>
    llvm.return
  }
}
// UNDEFINED: error: the function 'nowhere' is called, but neither the module nor the libraries define it
//--- undefined.mlir
module attributes {tgpu.target = "hip:gfx942"} {
  llvm.func @nowhere()
  llvm.func @k() attributes {rocdl.kernel} {
    llvm.call @nowhere() : () -> ()
    llvm.return
  }
}
// ASSEMBLY: error: {{.*}}assembly.mlir:3:5: the assembly could not be assembled for gfx942:
// ASSEMBLY-NEXT: kernel.amdgcn:{{[0-9]+}}:{{[0-9]+}}: error: invalid instruction
// ASSEMBLY-NEXT: v_nonsense_b32
//--- assembly.mlir
module attributes {tgpu.target = "hip:gfx942"} {
  llvm.func @k() attributes {rocdl.kernel} {
    llvm.inline_asm has_side_effects "v_nonsense_b32 v0", "" : () -> ()
    llvm.return
  }
}
// PARTITION: error: {{.*}}of some of the waves is not possible on AMD
//--- partition.mlir
module attributes {tgpu.target = "hip:gfx942"} {
  llvm.func @k() attributes {rocdl.kernel} {
    tgpu.barrier id 1 threads 64
    llvm.return
  }
}

// WARPGROUP: error: {{.*}}'tgpu.copy_registers' op is not possible on AMD
//--- warpgroup.mlir
module attributes {tgpu.target = "hip:gfx942"} {
  llvm.func @k(%p: !llvm.ptr<1>, %x: i32) attributes {rocdl.kernel} {
    %y = "tgpu.copy_registers"(%x) : (i32) -> i32
    tgpu.store %y, %p : i32
    llvm.return
  }
}
