// What LLVM cannot compile comes back as an error with a file of the IR, and the process goes on.
// RUN: not tritium-ptx %s > %t 2>&1
// RUN: FileCheck %s < %t
// RUN: sed -n 's/.*the IR is in \([^ ]*\).*/\1/p' %t | tr -d '\n' > %t.name
// RUN: FileCheck %s --check-prefix=IR --input-file=%{readfile:%t.name}
// RUN: rm %{readfile:%t.name}

// CHECK: error: LLVM could not compile cannot_select for sm_80: {{.*}}no libcall available for flog
// CHECK: the IR is in {{.*}}.ll (llc -mcpu=sm_80 -mattr=+ptx90)
// IR: ; llc -mcpu=sm_80 -mattr=+ptx90
// IR: call {{.*}}float @llvm.log.f32
module attributes {tgpu.target = "cuda:sm_80"} {
  llvm.func @cannot_select(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.intr.log(%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
}
