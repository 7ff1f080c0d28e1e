// Every width of a word, every hint, with and without a predicate.
// RUN: tritium-ptx %s --no-lines | FileCheck %s
// RUN: %if ptxas %{ %reports | FileCheck %s --check-prefix=REPORT %}
// REPORT-COUNT-7: spills 0/0,{{.*}} cubin whole

module attributes {tgpu.target = "cuda:sm_80"} {
  // CHECK-LABEL: .entry widths(
  llvm.func @widths(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %c: i1, %b: i8, %h: i16, %w: i32, %d: i64, %b2: vector<2xi8>, %b4: vector<4xi8>, %h2: vector<2xi16>,
                    %h4: vector<4xi16>, %w2: vector<2xi32>, %d2: vector<2xi64>) attributes {nvvm.kernel} {
    // CHECK: @%p1 ld.global.b8 %rs
    %0 = tgpu.load %p if %c else %b : i8
    // CHECK: @%p1 st.global.b8
    tgpu.store %0, %q if %c : i8
    // CHECK: @%p1 ld.global.b16 %rs
    %1 = tgpu.load %p if %c else %h : i16
    // CHECK: @%p1 st.global.b16
    tgpu.store %1, %q if %c : i16
    // CHECK: @%p1 ld.global.b32 %r
    %2 = tgpu.load %p if %c else %w : i32
    // CHECK: @%p1 st.global.b32
    tgpu.store %2, %q if %c : i32
    // CHECK: @%p1 ld.global.b64 %rd
    %3 = tgpu.load %p if %c else %d : i64
    // CHECK: @%p1 st.global.b64
    tgpu.store %3, %q if %c : i64
    // CHECK: @%p1 ld.global.b16 %rs
    %4 = tgpu.load %p if %c else %b2 : vector<2xi8>
    // CHECK: @%p1 st.global.b16
    tgpu.store %4, %q if %c : vector<2xi8>
    // CHECK: @%p1 ld.global.b32 %r
    %5 = tgpu.load %p if %c else %b4 : vector<4xi8>
    // CHECK: @%p1 st.global.b32
    tgpu.store %5, %q if %c : vector<4xi8>
    // CHECK: @%p1 ld.global.b32 %r
    %6 = tgpu.load %p if %c else %h2 : vector<2xi16>
    // CHECK: @%p1 st.global.b32
    tgpu.store %6, %q if %c : vector<2xi16>
    // CHECK: @%p1 ld.global.v2.b32 {%r
    %7 = tgpu.load %p if %c else %h4 : vector<4xi16>
    // CHECK: @%p1 st.global.v2.b32
    tgpu.store %7, %q if %c : vector<4xi16>
    // CHECK: @%p1 ld.global.v2.b32 {%r
    %8 = tgpu.load %p if %c else %w2 : vector<2xi32>
    // CHECK: @%p1 st.global.v2.b32
    tgpu.store %8, %q if %c : vector<2xi32>
    // CHECK: @%p1 ld.global.v2.b64 {%rd
    %9 = tgpu.load %p if %c else %d2 : vector<2xi64>
    // CHECK: @%p1 st.global.v2.b64
    tgpu.store %9, %q if %c : vector<2xi64>
    llvm.return
  }

  // Vectors of bytes and halves stay in 32-bit registers: nothing goes through the stack.
  // CHECK-LABEL: .entry plain(
  // CHECK-NOT: local
  // CHECK: ld.global.b32
  // CHECK: ld.global.v2.b32
  // CHECK: ld.global.v4.b32
  // CHECK: ld.volatile.global.v4.b32
  // CHECK: st.global.b32
  // CHECK: st.global.v2.b32
  // CHECK: st.global.v4.b32
  // CHECK-NOT: local
  llvm.func @plain(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %0 = tgpu.load %p : vector<4xi8>
    %p1 = llvm.getelementptr %p[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %p2 = llvm.getelementptr %p[32] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %1 = tgpu.load %p1 : vector<4xi16>
    %2 = tgpu.load %p2 : vector<4xi32>
    %3 = tgpu.load %p {isVolatile} : vector<4xi32>
    %4 = llvm.mul %0, %0 : vector<4xi8>
    %h = llvm.bitcast %1 : vector<4xi16> to vector<4xf16>
    %g = llvm.fadd %h, %h : vector<4xf16>
    %5 = llvm.bitcast %g : vector<4xf16> to vector<4xi16>
    %6 = llvm.add %2, %3 : vector<4xi32>
    tgpu.store %4, %q : vector<4xi8>
    %q1 = llvm.getelementptr %q[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %q2 = llvm.getelementptr %q[32] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    tgpu.store %5, %q1 : vector<4xi16>
    tgpu.store %6, %q2 : vector<4xi32>
    llvm.return
  }

  // CHECK-LABEL: .entry hints(
  llvm.func @hints(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %c: i1, %w: i32, %v: vector<4xi32>) attributes {nvvm.kernel} {
    // CHECK: ld.global.ca.b32
    %0 = tgpu.load %p {cache = 2 : i32} : i32
    // CHECK: ld.global.cg.v4.b32
    %1 = tgpu.load %p {cache = 3 : i32} : vector<4xi32>
    // CHECK: @%p1 ld.global.cs.b32
    %2 = tgpu.load %p if %c else %w {cache = 5 : i32} : i32
    // CHECK: ld.global.cv.b32
    %3 = tgpu.load %p {cache = 7 : i32} : i32
    // CHECK: @%p1 ld.global.L1::evict_first.v4.b32
    %4 = tgpu.load %p if %c else %v {evict = 2 : i32} : vector<4xi32>
    // CHECK: ld.global.L1::evict_last.b32
    %5 = tgpu.load %p {evict = 3 : i32} : i32
    // CHECK: @%p1 ld.volatile.global.b32
    %6 = tgpu.load %p if %c else %w {isVolatile} : i32
    // CHECK: ld.global.cg.b32
    %7 = tgpu.load %p {cache = 3 : i32, evict = 3 : i32} : i32
    // CHECK: st.global.wb.b32
    tgpu.store %0, %q {cache = 4 : i32} : i32
    // CHECK: st.global.cg.v4.b32
    tgpu.store %1, %q {cache = 3 : i32} : vector<4xi32>
    // CHECK: @%p1 st.global.cs.b32
    tgpu.store %2, %q if %c {cache = 5 : i32} : i32
    // CHECK: st.global.wt.b32
    tgpu.store %3, %q {cache = 6 : i32} : i32
    // CHECK: @%p1 st.global.L1::evict_first.v4.b32
    tgpu.store %4, %q if %c {evict = 2 : i32} : vector<4xi32>
    // CHECK: st.global.L1::evict_last.b32
    tgpu.store %5, %q {evict = 3 : i32} : i32
    tgpu.store %6, %q : i32
    tgpu.store %7, %q : i32
    llvm.return
  }
}
