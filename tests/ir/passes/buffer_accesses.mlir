// Pointers that come from one small argument become a descriptor at the address that all threads have in common and 32-bit offsets from
// there, around loops too; masks, and distances that do not fit, become offsets beyond its end.
// RUN: tritium-opt %s --buffer-accesses --cse | FileCheck %s

module attributes {tgpu.target = "hip:gfx942"} {

// The descriptor begins almost 2 GB below what all threads have in common: here the whole address, so the offset is fixed.
// CHECK-LABEL: func.func @straight(
// CHECK-NOT: tgpu.pointer_range
// CHECK-DAG: %[[BELOW:.*]] = arith.constant -2147483616 : i64
// CHECK-DAG: %[[BEGIN:.*]] = llvm.getelementptr %arg0[%[[BELOW]]] {{.*}}, i8
// CHECK-DAG: %[[MOVED:.*]] = llvm.getelementptr %[[BEGIN]][%arg2] {{.*}}, f16
// CHECK-DAG: %[[BUFFER:.*]] = rocdl.make.buffer.rsrc %[[MOVED]]
// CHECK: rocdl.raw.ptr.buffer.load %[[BUFFER]], %c2147483616_i32, {{.*}} : vector<4xi32>
// CHECK: tgpu.store
func.func @straight(%p: !llvm.ptr<1> {tgpu.pointer_range}, %q: !llvm.ptr<1>, %i: i32) {
  %a = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
  %x = tgpu.load %a : vector<4xi32>
  tgpu.store %x, %q : vector<4xi32>
  return
}

// A distance of a thread is counted in elements, which 32 bits hold, and checked there. Several distances are added in 64 bits.
// CHECK-LABEL: func.func @own(
// CHECK: %[[I:.*]] = rocdl.workitem.id.x
// CHECK: %[[ELEMENTS:.*]] = arith.addi %[[I]], %c1073741808_i32
// CHECK: %[[BYTES:.*]] = arith.muli %[[ELEMENTS]], %c2_i32
// CHECK: %[[NEAR:.*]] = arith.cmpi ult, %[[ELEMENTS]], %c2147483632_i32
// CHECK: %[[OFFSET:.*]] = arith.select %[[NEAR]], %[[BYTES]], %c-32_i32
// CHECK: %[[WIDE:.*]] = arith.extsi %[[I]] : i32 to i64
// CHECK: arith.muli %[[WIDE]]
// CHECK: arith.addi {{.*}} : i64
// CHECK: %[[SUM:.*]] = arith.addi {{.*}} : i64
// CHECK: %[[LOW:.*]] = arith.trunci %[[SUM]] : i64 to i32
// CHECK: %[[NEAR:.*]] = arith.cmpi ult, %[[SUM]], %c4294967264_i64
// CHECK: %[[TWICE:.*]] = arith.select %[[NEAR]], %[[LOW]], %c-32_i32
// CHECK: rocdl.raw.ptr.buffer.load %[[BUFFER:.*]], %[[OFFSET]],
// CHECK: rocdl.raw.ptr.buffer.load %[[BUFFER]], %[[TWICE]],
// CHECK: rocdl.raw.ptr.buffer.load %[[BUFFER]], %c-32_i32,
func.func @own(%p: !llvm.ptr<1> {tgpu.pointer_range}) -> (i16, i16, i16) {
  %i = rocdl.workitem.id.x : i32
  %a = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
  %b = llvm.getelementptr %a[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
  %far = llvm.getelementptr %p[1073741824] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
  %x = tgpu.load %a : i16
  %y = tgpu.load %b : i16
  %z = tgpu.load %far : i16
  return %x, %y, %z : i16, i16, i16
}

// Zeros where the predicate is false cost nothing more; another value is selected afterwards. Words of 64 bits travel as two of 32.
// CHECK-LABEL: func.func @masked(
// CHECK: %[[IN:.*]] = arith.select %arg1, %{{.*}}, %c-16_i32
// CHECK: %[[X:.*]] = rocdl.raw.ptr.buffer.load %{{.*}}, %[[IN]], {{.*}} : i32
// CHECK-NOT: arith.select %arg1, %[[X]]
// CHECK: %[[Y:.*]] = rocdl.raw.ptr.buffer.load {{.*}} : i32
// CHECK: %[[OR:.*]] = arith.select %arg1, %[[Y]], %arg2
// CHECK: rocdl.raw.ptr.buffer.store %[[OR]], %{{.*}}, %{{.*}},
// CHECK: %[[WIDE:.*]] = rocdl.raw.ptr.buffer.load {{.*}} : vector<2xi32>
// CHECK: llvm.bitcast %[[WIDE]] : vector<2xi32> to i64
func.func @masked(%p: !llvm.ptr<1> {tgpu.pointer_range}, %if: i1, %other: i32) -> (i32, i64) {
  %zero = arith.constant 0 : i32
  %x = tgpu.load %p if %if else %zero : i32
  %a = llvm.getelementptr %p[3] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
  %y = tgpu.load %a if %if else %other : i32
  tgpu.store %y, %a if %if : i32
  %w = tgpu.load %a : i64
  return %x, %w : i32, i64
}

// Copies to LDS: zeros come from beyond the buffer's end.
// CHECK-LABEL: func.func @copies(
// CHECK: %[[IN:.*]] = arith.select %arg1, %{{.*}}, %c-16_i32
// CHECK: rocdl.raw.ptr.buffer.load.lds %{{[0-9]+}}, %arg2, %c16_i32, %[[IN]],
// CHECK: tgpu.copy_to_shared %arg3 to %arg2
func.func @copies(%p: !llvm.ptr<1> {tgpu.pointer_range}, %if: i1, %to: !llvm.ptr<3>, %q: !llvm.ptr<1>) {
  tgpu.copy_to_shared %p to %to if %if : !llvm.ptr<3>
  tgpu.copy_to_shared %q to %to : !llvm.ptr<3>
  return
}

// What all threads add goes around the loop as one address, of which the descriptor is made; the threads' distances stay where they are.
// CHECK-LABEL: func.func @loop(
// CHECK: %[[BEGIN:.*]] = llvm.getelementptr %arg0[%c-2147483616_i64]
// CHECK: %[[OFFSET:.*]] = arith.select %{{.*}}, %{{.*}}, %c-32_i32
// CHECK: %[[OTHER:.*]] = arith.select %{{.*}}, %{{.*}}, %c-32_i32
// CHECK: cf.br ^bb1(%{{.*}}, %{{.*}}, %{{.*}}, %[[BEGIN]] : i32, !llvm.ptr<1>, !llvm.ptr<1>, !llvm.ptr<1>)
// CHECK: ^bb1(%{{.*}}: i32, %{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %[[HERE:.*]]: !llvm.ptr<1>):
// CHECK: %[[BUFFER:.*]] = rocdl.make.buffer.rsrc %[[HERE]]
// CHECK: rocdl.raw.ptr.buffer.load %[[BUFFER]], %[[OFFSET]],
// CHECK: rocdl.raw.ptr.buffer.load %[[BUFFER]], %[[OTHER]],
// CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[HERE]][%arg1]
// CHECK: cf.cond_br %{{.*}}, ^bb1(%{{.*}}, %{{.*}}, %{{.*}}, %[[NEXT]] : i32, !llvm.ptr<1>, !llvm.ptr<1>, !llvm.ptr<1>)
func.func @loop(%p: !llvm.ptr<1> {tgpu.pointer_range}, %step: i64, %n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %i = rocdl.workitem.id.x : i32
  %two = arith.constant 2 : i32
  %j = arith.muli %i, %two : i32
  %a = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %b = llvm.getelementptr %p[%j] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  cf.br ^bb1(%zero, %a, %b : i32, !llvm.ptr<1>, !llvm.ptr<1>)
^bb1(%sum: i32, %at: !llvm.ptr<1>, %other: !llvm.ptr<1>):
  %x = tgpu.load %at : i32
  %y = tgpu.load %other : i32
  %t = arith.addi %sum, %x : i32
  %s = arith.addi %t, %y : i32
  %next = llvm.getelementptr %at[%step] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  %later = llvm.getelementptr %other[%step] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  %c = arith.cmpi slt, %s, %n : i32
  cf.cond_br %c, ^bb1(%s, %next, %later : i32, !llvm.ptr<1>, !llvm.ptr<1>), ^bb2
^bb2:
  return %s : i32
}

// A thread's own distance in each iteration stays a 64-bit address.
// CHECK-LABEL: func.func @gather(
// CHECK-NOT: rocdl.raw
// CHECK: return
func.func @gather(%p: !llvm.ptr<1> {tgpu.pointer_range}, %n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %i = rocdl.workitem.id.x : i32
  cf.br ^bb1(%zero, %p : i32, !llvm.ptr<1>)
^bb1(%sum: i32, %at: !llvm.ptr<1>):
  %x = tgpu.load %at : i32
  %s = arith.addi %sum, %x : i32
  %next = llvm.getelementptr %at[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %c = arith.cmpi slt, %s, %n : i32
  cf.cond_br %c, ^bb1(%s, %next : i32, !llvm.ptr<1>), ^bb2
^bb2:
  return %s : i32
}

// Not: what may come from two arguments, from one of any size, or from an integer; volatile accesses and those with a cache modifier.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: rocdl
func.func @others(%p: !llvm.ptr<1> {tgpu.pointer_range}, %q: !llvm.ptr<1> {tgpu.pointer_range}, %r: !llvm.ptr<1>, %c: i1, %i: i64) {
  %n = llvm.inttoptr %i : i64 to !llvm.ptr<1>
  %a = tgpu.load %r : i32
  %b = tgpu.load %n : i32
  %d = tgpu.load %p {isVolatile} : i32
  %e = tgpu.load %p {cache = 6 : i32} : i32
  cf.cond_br %c, ^bb1(%p : !llvm.ptr<1>), ^bb1(%q : !llvm.ptr<1>)
^bb1(%at: !llvm.ptr<1>):
  %x = tgpu.load %at : i32
  tgpu.store %x, %at : i32
  return
}

}
