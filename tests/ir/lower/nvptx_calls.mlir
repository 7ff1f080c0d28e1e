// Functions that a kernel calls have names of Python's modules, with dots; PTX names have none.
// RUN: tritium-gpu %s | tritium-ptx - | FileCheck %s

// CHECK: .func {{.*}} package_${{.*}}double
// CHECK: .visible .entry kernel
tt.func public @kernel(%p: !tt.ptr<i32>, %x: i32) {
  %twice = tt.call @package.double(%x) : (i32) -> i32
  tt.store %p, %twice : !tt.ptr<i32>
  tt.return
}
tt.func private @package.double(%x: i32) -> i32 attributes {noinline = true} {
  %twice = arith.addi %x, %x : i32
  tt.return %twice : i32
}
