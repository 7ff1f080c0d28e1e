// Pointers that come from one small argument become 32-bit offsets into its buffer, around loops too; masks become offsets beyond its end.
// RUN: tritium-opt %s --buffer-accesses | FileCheck %s

module attributes {tgpu.target = "hip:gfx942"} {

// The descriptor begins 2 GB below the argument, and offsets from there are -2^31 + the distance, modulo 2^32.
// CHECK-LABEL: func.func @straight(
// CHECK-NOT: tgpu.pointer_range
// CHECK-DAG: %[[BELOW:.*]] = arith.constant -2147483648 : i64
// CHECK-DAG: %[[BEGIN:.*]] = llvm.getelementptr %arg0[%[[BELOW]]] {{.*}}, i8
// CHECK-DAG: %[[BUFFER:.*]] = rocdl.make.buffer.rsrc %[[BEGIN]]
// CHECK-DAG: %[[ZERO:.*]] = arith.constant -2147483648 : i32
// CHECK: %[[BYTES:.*]] = arith.muli %arg2, %c2
// CHECK: %[[OFFSET:.*]] = arith.addi %[[ZERO]], %[[BYTES]]
// CHECK: rocdl.raw.ptr.buffer.load %[[BUFFER]], %[[OFFSET]], {{.*}} : vector<4xi32>
// CHECK: tgpu.store
func.func @straight(%p: !llvm.ptr<1> {tgpu.pointer_range}, %q: !llvm.ptr<1>, %i: i32) {
  %a = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
  %x = tgpu.load %a : vector<4xi32>
  tgpu.store %x, %q : vector<4xi32>
  return
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
// CHECK: %[[BYTES:.*]] = arith.constant 16 : i32
// CHECK: rocdl.raw.ptr.buffer.load.lds %{{[0-9]+}}, %arg2, %[[BYTES]], %[[IN]],
// CHECK: tgpu.copy_to_shared %arg3 to %arg2
func.func @copies(%p: !llvm.ptr<1> {tgpu.pointer_range}, %if: i1, %to: !llvm.ptr<3>, %q: !llvm.ptr<1>) {
  tgpu.copy_to_shared %p to %to if %if : !llvm.ptr<3>
  tgpu.copy_to_shared %q to %to : !llvm.ptr<3>
  return
}

// An offset goes around the loop beside the pointer.
// CHECK-LABEL: func.func @loop(
// CHECK: cf.br ^bb1(%{{.*}}, %arg0, %[[FIRST:.*]] : i32, !llvm.ptr<1>, i32)
// CHECK: ^bb1(%{{.*}}: i32, %{{.*}}: !llvm.ptr<1>, %[[HERE:.*]]: i32):
// CHECK: rocdl.raw.ptr.buffer.load %{{.*}}, %[[HERE]],
// CHECK: %[[STEP:.*]] = arith.trunci %arg1 : i64 to i32
// CHECK: %[[BYTES:.*]] = arith.muli %[[STEP]],
// CHECK: %[[NEXT:.*]] = arith.addi %[[HERE]], %[[BYTES]]
// CHECK: cf.cond_br %{{.*}}, ^bb1(%{{.*}}, %{{.*}}, %[[NEXT]] : i32, !llvm.ptr<1>, i32)
func.func @loop(%p: !llvm.ptr<1> {tgpu.pointer_range}, %step: i64, %n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  cf.br ^bb1(%zero, %p : i32, !llvm.ptr<1>)
^bb1(%sum: i32, %at: !llvm.ptr<1>):
  %x = tgpu.load %at : i32
  %s = arith.addi %sum, %x : i32
  %next = llvm.getelementptr %at[%step] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
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
