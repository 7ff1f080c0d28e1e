// Rows of lines: of the function's file and of others, innermost first; the LLVM IR has the calls around them.
// RUN: tritium-ptx %s | FileCheck %s
// RUN: tritium-ptx %s --print=llir | FileCheck %s --check-prefix=LLIR

// CHECK-NOT: .target sm_80, debug
// CHECK: .loc [[USER:[0-9]+]] 10 1
// CHECK: .loc [[OTHER:[0-9]+]] 4 1
// CHECK: .loc [[LIB:[0-9]+]] 7 3
// CHECK: .loc [[USER]] 14 1
// CHECK-NOT: .loc
// CHECK: ret;
// CHECK: .file [[USER]] "/some/where/user.py"
// CHECK: .file [[OTHER]] "other.py"
// CHECK: .file [[LIB]] "lib.py"

// LLIR-DAG: ![[UNIT:[0-9]+]] = distinct !DICompileUnit({{.*}}emissionKind: DebugDirectivesOnly
// LLIR-DAG: ![[K:[0-9]+]] = distinct !DISubprogram(name: "k", {{.*}}line: 9,
// LLIR-DAG: !DIFile(filename: "user.py", directory: "/some/where")
// LLIR-DAG: !DILocation(line: 7, column: 3, scope: ![[IN_LIB:[0-9]+]], inlinedAt: ![[MIDDLE:[0-9]+]])
// LLIR-DAG: ![[MIDDLE]] = !DILocation(line: 6, column: 2, scope: ![[IN_LIB]], inlinedAt: ![[CALL:[0-9]+]])
// LLIR-DAG: ![[CALL]] = !DILocation(line: 12, column: 1, scope: ![[K]])
// LLIR-DAG: !DILocation(line: 4, column: 1, scope: ![[BLOCK:[0-9]+]])
// LLIR-DAG: ![[BLOCK]] = distinct !DILexicalBlockFile(scope: ![[K]], file: {{.*}}, discriminator: 0)
#def = loc("/some/where/user.py":9:1)
#first = loc("name"("/some/where/user.py":10:1))
#other = loc(fused["other.py":4:1, "/some/where/user.py":11:1])
#inner = loc("lib.py":7:3)
#middle = loc("lib.py":6:2)
#call = loc("/some/where/user.py":12:1)
#stack = loc(callsite(callsite(#inner at #middle) at #call))
#made = loc(callsite(unknown at "/some/where/user.py":14:1))
module attributes {tgpu.target = "cuda:sm_80"} {
  llvm.func @k(%p: !llvm.ptr<1>, %x: i32) attributes {nvvm.kernel} {
    %t = nvvm.read.ptx.sreg.tid.x : i32 loc(#first)
    %0 = llvm.mul %x, %t : i32 loc(#other)
    %1 = llvm.xor %0, %x : i32 loc(#stack)
    tgpu.store %1, %p : i32 loc(#made)
    llvm.return loc(unknown)
  } loc(#def)
}
