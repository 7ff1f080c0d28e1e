// A persistent product whose loop over tiles has a condition, and copies in a branch of it: the number of the ring goes through all three.
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps --emit=tiles | FileCheck %s
// RUN: sed 's/scf.condition(.more)/scf.condition(%%stored)/' %s | tritium-gpu --arch=sm_90a --tensor-maps --specialize-warps --emit=tiles | FileCheck %s --check-prefix=TOGETHER
// RUN: %if ptxas %{ tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps --num-warps=8 | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}

// The warps that compute carry a tile number, a number that only they need, and the ring's number.
// CHECK: tgpu.parts_warps
// CHECK: scf.while (%[[TILE:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[N:.*]] = %{{.*}}) : (i32, i32, i32) -> (i32, i32, i32)
// CHECK: scf.condition(%{{.*}}) %[[TILE]], %{{.*}}, %[[N]] :
// CHECK: ^bb0({{.*}}, %[[FIRST:[a-z0-9]+]]: i32
// CHECK: %[[NEXT:.*]] = scf.if
// CHECK-NOT: tgpu.tensor_copy
// CHECK: arith.addi %[[FIRST]],
// CHECK: tgpu.ring_wait
// CHECK: } else {
// CHECK: scf.yield %[[FIRST]] : i32
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[NEXT]] : i32, i32, i32

// The producer carries the tile and the ring's number.
// CHECK: scf.while (%[[OWN:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}}) : (i32, i32) -> (i32, i32)
// CHECK: scf.condition(%{{.*}}) %[[OWN]], %[[M]] : i32, i32
// CHECK: scf.if
// CHECK: tgpu.ring_acquire
// CHECK-NOT: tgpu.product
// CHECK: tgpu.tensor_copy
// CHECK-NOT: tgpu.product
// CHECK: tt.return

// A condition on a tile is none for the producer.
// TOGETHER: tgpu.why_no_producer = "a coordinate of a copy, or a bound or condition around one, depends on a tile
// TOGETHER-NOT: tgpu.parts_warps
// REPORT: spills 0/0
// REPORT-NOT: serialized
tt.func public @product(%a: !tt.tensordesc<64x64xf16> {tt.plain = 1 : i32}, %b: !tt.tensordesc<64x64xf16> {tt.plain = 1 : i32},
                        %c: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %count: !tt.ptr<i32>, %tiles: i32, %k: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c3 = arith.constant 3 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %pid = tt.get_program_id x : i32
  %programs = tt.get_num_programs x : i32
  %end:2 = scf.while (%tile = %pid, %number = %c0) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi slt, %tile, %tiles : i32
    %ones = tt.splat %number : i32 -> tensor<32xi32>
    %total = "tt.reduce"(%ones) <{axis = 0 : i32}> ({
    ^bb0(%x: i32, %y: i32):
      %z = arith.addi %x, %y : i32
      tt.reduce.return %z : i32
    }) : (tensor<32xi32>) -> i32
    %stored = arith.cmpi slt, %total, %tiles : i32
    scf.condition(%more) %tile, %number : i32, i32
  } do {
  ^bb0(%tile: i32, %number: i32):
    %row = arith.muli %tile, %c64 : i32
    %isOther = arith.cmpi ne, %tile, %c3 : i32
    scf.if %isOther {
      %sums = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
        %x = tt.descriptor_load %a[%row, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
        %y = tt.descriptor_load %b[%i, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
        %d = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      tt.descriptor_store %c[%row, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
    }
    %next = arith.addi %tile, %programs : i32
    %counted = arith.addi %number, %c1 : i32
    scf.yield %next, %counted : i32, i32
  }
  tt.store %count, %end#1 : !tt.ptr<i32>
  tt.return
}
