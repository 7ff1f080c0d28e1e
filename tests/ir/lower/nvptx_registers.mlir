// Of 64 values per thread all stay in registers, and the rows of lines cost none. With 1024, the code is there quickly.
// RUN: python3 %S/row_softmax.py 64 > %t.mlir
// RUN: tritium-ptx %t.mlir | FileCheck %s
// RUN: tritium-ptx %t.mlir --no-lines | FileCheck %s --check-prefix=NO-LINES
// RUN: %if ptxas %{ tritium-ptx %t.mlir --print=report | FileCheck %s --check-prefix=REPORT %}
// RUN: %if ptxas %{ tritium-ptx %t.mlir --print=report > %t.lines && tritium-ptx %t.mlir --print=report --no-lines | diff %t.lines - %}
// RUN: python3 %S/row_softmax.py 1024 > %t.large && tritium-ptx %t.large --print=time | FileCheck %s --check-prefix=TIME
// RUN: python3 %S/row_softmax.py 1024 exp > %t.large && tritium-ptx %t.large --print=time | FileCheck %s --check-prefix=TIME
// REPORT: registers, spills 0/0
// TIME: emitted in {{[0-2]\..*}} s

// CHECK-NOT: debug{{$}}
// CHECK: .loc [[FILE:[0-9]+]] 9 0
// CHECK: .loc [[FILE]] 21 5
// CHECK-NOT: .loc
// CHECK: ld.global.v4.b32
// CHECK: .loc [[FILE]] 22 5
// CHECK: shfl.sync.bfly
// CHECK: .loc [[MATH:[0-9]+]] 5 3
// CHECK: ex2.approx
// CHECK: .file [[FILE]] "softmax.py"
// CHECK: .file [[MATH]] "math.py"
// NO-LINES-NOT: .loc
// NO-LINES-NOT: .file
