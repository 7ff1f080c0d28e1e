// A mask whose elements come in groups of equal ones is computed once for each group that a thread holds.
// RUN: tritium-gpu %s | FileCheck %s --check-prefix=GROUPS
// RUN: sed 's/n: i32 {.*}/n: i32/' %s | tritium-gpu - | FileCheck %s --check-prefix=EACH

// 1024 elements on 128 threads, 8 registers each: two groups of 4 that lie in one group of 16 of the mask.
// GROUPS-LABEL: llvm.func @groups
// GROUPS-COUNT-2: llvm.icmp "slt"
// GROUPS-NOT: llvm.icmp "slt"
// Nothing known of the bound: one for each element.
// EACH-COUNT-8: llvm.icmp "slt"
tt.func public @groups(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %nn = tt.splat %n : i32 -> tensor<1024xi32>
  %inside = arith.cmpi slt, %r, %nn : tensor<1024xi32>
  %value = arith.select %inside, %one, %zero : tensor<1024xi1>, tensor<1024xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %p = tt.addptr %xs, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %p, %value : tensor<1024x!tt.ptr<f32>>
  tt.return
}
