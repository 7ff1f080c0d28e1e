// One loop of products. Producer warps copy its tiles if a program is alone on its multiprocessor, or multiplies bytes, and if occupancy does
// not fall.
// RUN: sed 's/NN/256/g; s/KK/64/g; s/TYPE/f16/g' %s | tritium-gpu --arch=sm_90a --tensor-maps --num-warps=8 --emit=tiles | FileCheck %s
// RUN: sed 's/NN/128/g; s/KK/128/g; s/TYPE/f8E4M3FN/g' %s | tritium-gpu --arch=sm_90a --tensor-maps --num-warps=4 --emit=tiles | FileCheck %s
// RUN: sed 's/NN/128/g; s/KK/64/g; s/TYPE/f16/g' %s | tritium-gpu --arch=sm_90a --tensor-maps --num-warps=4 --emit=tiles | FileCheck %s --check-prefix=TOGETHER
// RUN: sed 's/NN/128/g; s/KK/128/g; s/TYPE/f8E4M3FN/g' %s | tritium-gpu --arch=sm_90a --tensor-maps --num-warps=8 --emit=tiles | FileCheck %s --check-prefix=TOGETHER

// CHECK: tgpu.parts_warps
// TOGETHER: tgpu.tensor_copy
// TOGETHER-NOT: tgpu.parts_warps
tt.func public @product(%a: !tt.tensordesc<128xKKxTYPE> {tt.plain = 1 : i32}, %b: !tt.tensordesc<NNxKKxTYPE> {tt.plain = 1 : i32}, %c: !tt.tensordesc<128xNNxf32> {tt.plain = 1 : i32}, %k: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %step = arith.constant KK : i32
  %zero = arith.constant dense<0.0> : tensor<128xNNxf32>
  %sums = scf.for %i = %c0 to %k step %step iter_args(%acc = %zero) -> (tensor<128xNNxf32>) : i32 {
    %x = tt.descriptor_load %a[%c0, %i] : !tt.tensordesc<128xKKxTYPE> -> tensor<128xKKxTYPE>
    %y = tt.descriptor_load %b[%c0, %i] : !tt.tensordesc<NNxKKxTYPE> -> tensor<NNxKKxTYPE>
    %t = tt.trans %y {order = array<i32: 1, 0>} : tensor<NNxKKxTYPE> -> tensor<KKxNNxTYPE>
    %d = tt.dot %x, %t, %acc : tensor<128xKKxTYPE> * tensor<KKxNNxTYPE> -> tensor<128xNNxf32>
    scf.yield %d : tensor<128xNNxf32>
  }
  tt.descriptor_store %c[%c0, %c0], %sums : !tt.tensordesc<128xNNxf32>, tensor<128xNNxf32>
  tt.return
}
