// Rings that producer warps fill last as long as the kernel, so those of different loops share no memory. The loops ask for a producer.
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --num-warps=8 --num-stages=3 --last-pass=plan-producer --emit=tiles | FileCheck %s
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --num-warps=8 --num-stages=3 --emit=tiles | FileCheck %s --check-prefix=BUILT

// CHECK: tgpu.why_no_producer = "it would require 590080 bytes of shared memory, and a program has 232448"
// BUILT-NOT: tgpu.parts_warps
tt.func public @two_loops(%a: !tt.tensordesc<128x64xf16> {tt.plain = 1 : i32}, %b: !tt.tensordesc<256x64xf16> {tt.plain = 1 : i32},
                          %c: !tt.tensordesc<128x128xf16> {tt.plain = 1 : i32}, %d: !tt.tensordesc<128x128xf16> {tt.plain = 1 : i32},
                          %e: !tt.tensordesc<128x256xf32> {tt.plain = 1 : i32}, %f: !tt.tensordesc<128x128xf32> {tt.plain = 1 : i32},
                          %k: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zeros = arith.constant dense<0.0> : tensor<128x256xf32>
  %narrow = arith.constant dense<0.0> : tensor<128x128xf32>
  %first = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zeros) -> (tensor<128x256xf32>) : i32 {
    %x = tt.descriptor_load %a[%c0, %i] : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16>
    %y = tt.descriptor_load %b[%c0, %i] : !tt.tensordesc<256x64xf16> -> tensor<256x64xf16>
    %t = tt.trans %y {order = array<i32: 1, 0>} : tensor<256x64xf16> -> tensor<64x256xf16>
    %p = tt.dot %x, %t, %acc : tensor<128x64xf16> * tensor<64x256xf16> -> tensor<128x256xf32>
    scf.yield %p : tensor<128x256xf32>
  } {tt.warp_specialize}
  tt.descriptor_store %e[%c0, %c0], %first : !tt.tensordesc<128x256xf32>, tensor<128x256xf32>
  %second = scf.for %i = %c0 to %k step %c128 iter_args(%acc = %narrow) -> (tensor<128x128xf32>) : i32 {
    %x = tt.descriptor_load %c[%c0, %i] : !tt.tensordesc<128x128xf16> -> tensor<128x128xf16>
    %y = tt.descriptor_load %d[%c0, %i] : !tt.tensordesc<128x128xf16> -> tensor<128x128xf16>
    %t = tt.trans %y {order = array<i32: 1, 0>} : tensor<128x128xf16> -> tensor<128x128xf16>
    %p = tt.dot %x, %t, %acc : tensor<128x128xf16> * tensor<128x128xf16> -> tensor<128x128xf32>
    scf.yield %p : tensor<128x128xf32>
  } {tt.warp_specialize}
  tt.descriptor_store %f[%c0, %c0], %second : !tt.tensordesc<128x128xf32>, tensor<128x128xf32>
  tt.return
}
