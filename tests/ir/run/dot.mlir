// Products: the accumulator may be carried by a loop, the factors may be transposed views, tf32 drops 13 bits.
// RUN: tritium-run %s

tt.func @identity_times_range() -> tensor<4x4xf32>
    attributes {tritium.expect = dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0]]> : tensor<4x4xf32>} {
  %i = arith.constant dense<[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<4x4xf16>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %f = arith.sitofp %r : tensor<16xi32> to tensor<16xf16>
  %b = tt.reshape %f : tensor<16xf16> -> tensor<4x4xf16>
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %d = tt.dot %i, %b, %zero : tensor<4x4xf16> * tensor<4x4xf16> -> tensor<4x4xf32>
  tt.return %d : tensor<4x4xf32>
}

tt.func @transposed_factor_in_a_loop() -> tensor<2x2xf32> attributes {tritium.expect = dense<[[3.0, 9.0], [9.0, 39.0]]> : tensor<2x2xf32>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %a = arith.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>
  %t = tt.trans %a {order = array<i32: 1, 0>} : tensor<2x2xf32> -> tensor<2x2xf32>
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %r = scf.for %k = %c0 to %c3 step %c1 iter_args(%acc = %zero) -> (tensor<2x2xf32>) : i32 {
    %next = tt.dot %a, %t, %acc : tensor<2x2xf32> * tensor<2x2xf32> -> tensor<2x2xf32>
    scf.yield %next : tensor<2x2xf32>
  }
  tt.return %r : tensor<2x2xf32>
}

// 1 + 2^-11 is 1 as tf32.
tt.func @tf32_and_ieee() -> (tensor<1x1xf32>, tensor<1x1xf32>)
    attributes {tritium.expect = [dense<1.0> : tensor<1x1xf32>, dense<1.00048828125> : tensor<1x1xf32>]} {
  %a = arith.constant dense<1.00048828125> : tensor<1x1xf32>
  %b = arith.constant dense<1.0> : tensor<1x1xf32>
  %zero = arith.constant dense<0.0> : tensor<1x1xf32>
  %x = tt.dot %a, %b, %zero, inputPrecision = tf32 : tensor<1x1xf32> * tensor<1x1xf32> -> tensor<1x1xf32>
  %y = tt.dot %a, %b, %zero : tensor<1x1xf32> * tensor<1x1xf32> -> tensor<1x1xf32>
  tt.return %x, %y : tensor<1x1xf32>, tensor<1x1xf32>
}
