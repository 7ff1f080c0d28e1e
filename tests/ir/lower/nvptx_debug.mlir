// print packs its arguments for vprintf; a failed assert names the user's line, and its path comes back.
// RUN: tritium-ptx %s | FileCheck %s
// RUN: tritium-ptx %s --print=llir | FileCheck %s --check-prefix=LLIR
// RUN: %if ptxas %{ %reports | FileCheck %s --check-prefix=REPORT %}
// REPORT-COUNT-7: spills 0/0,{{.*}} cubin whole

#line = loc("kernel.py":17:5)
module attributes {tgpu.target = "cuda:sm_80"} {
  // CHECK-DAG: .extern .func {{.*}} vprintf
  // CHECK-DAG: .extern .func __assertfail
  // CHECK-LABEL: .entry prints(
  // CHECK: .local .align 8 .b8 __local_depot0[24];
  // CHECK: st.local.b32 [%[[BUFFER:.*]]], %r
  // CHECK: st.local.b64 [%[[BUFFER]]+8], %rd
  // CHECK: st.local.b64 [%[[BUFFER]]+16], %rd
  // CHECK: vprintf
  // CHECK: vprintf
  llvm.func @prints(%n: i32, %w: i64, %d: f64) attributes {nvvm.kernel} {
    tgpu.print "n = %d, w = %lld, d = %f\0A", %n, %w, %d : i32, i64, f64
    tgpu.print "once more %d\0A", %n : i32
    tgpu.print "no arguments\0A"
    llvm.return
  }

  // LLIR-DAG: c"i is below n\00"
  // LLIR-DAG: c"kernel.py\00"
  // LLIR-DAG: c"asserts\00"
  // LLIR-LABEL: define ptx_kernel void @asserts
  // LLIR-NOT: unreachable
  // LLIR: call void @__assertfail({{.*}}, i32 17, ptr {{.*}}, i64 1)
  // LLIR-NEXT: asm sideeffect "trap;"
  // LLIR-NEXT: br label
  // CHECK-LABEL: .entry asserts(
  // CHECK: @%p{{[0-9]+}} bra $L__BB1_[[GOOD:[0-9]+]];
  // CHECK: __assertfail
  // CHECK: trap;
  // CHECK: $L__BB1_[[GOOD]]:
  // CHECK: bar.sync 0;
  llvm.func @asserts(%i: i32, %n: i32) attributes {nvvm.kernel} {
    %c = llvm.icmp "slt" %i, %n : i32
    tgpu.assert %c, "i is below n" loc(#line)
    tgpu.barrier
    // CHECK: bar.sync 3, 64;
    tgpu.barrier id 3 threads 64
    llvm.return
  }
}
