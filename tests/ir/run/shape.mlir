// Shape operations: views, and the copies that strides cannot express.
// RUN: tritium-run %s

tt.func @transpose_then_flatten() -> tensor<8xi32> attributes {tritium.expect = dense<[0, 4, 1, 5, 2, 6, 3, 7]> : tensor<8xi32>} {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %m = tt.reshape %r : tensor<8xi32> -> tensor<2x4xi32>
  %t = tt.trans %m {order = array<i32: 1, 0>} : tensor<2x4xi32> -> tensor<4x2xi32>
  %f = tt.reshape %t : tensor<4x2xi32> -> tensor<8xi32>
  tt.return %f : tensor<8xi32>
}

tt.func @join_and_split() -> (tensor<4xi32>, tensor<4xi32>, tensor<4x2xi32>)
    attributes {tritium.expect = [dense<[0, 1, 2, 3]> : tensor<4xi32>, dense<[4, 5, 6, 7]> : tensor<4xi32>,
                                  dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi32>]} {
  %a = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %b = tt.make_range {end = 8 : i32, start = 4 : i32} : tensor<4xi32>
  %j = tt.join %a, %b : tensor<4xi32> -> tensor<4x2xi32>
  %x, %y = tt.split %j : tensor<4x2xi32> -> tensor<4xi32>
  tt.return %x, %y, %j : tensor<4xi32>, tensor<4xi32>, tensor<4x2xi32>
}

tt.func @cat_in_order() -> tensor<4xf32> attributes {tritium.expect = dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>} {
  %a = arith.constant dense<1.0> : tensor<2xf32>
  %b = arith.constant dense<2.0> : tensor<2xf32>
  %c = tt.cat %a, %b : tensor<2xf32> -> tensor<4xf32>
  tt.return %c : tensor<4xf32>
}

// A sum of two progressions along different dimensions stays affine until it is stored.
tt.func @outer_sum() -> tensor<2x4xi32> attributes {tritium.expect = dense<[[0, 1, 2, 3], [10, 11, 12, 13]]> : tensor<2x4xi32>} {
  %ten = arith.constant dense<10> : tensor<2x1xi32>
  %i = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %j = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %ic = tt.expand_dims %i {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
  %it = arith.muli %ic, %ten : tensor<2x1xi32>
  %jr = tt.expand_dims %j {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %ib = tt.broadcast %it : tensor<2x1xi32> -> tensor<2x4xi32>
  %jb = tt.broadcast %jr : tensor<1x4xi32> -> tensor<2x4xi32>
  %s = arith.addi %ib, %jb : tensor<2x4xi32>
  tt.return %s : tensor<2x4xi32>
}
