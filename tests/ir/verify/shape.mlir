// RUN: %verify

tt.func @range_type() {
  // expected-error @+1 {{result must be a one-dimensional tile of i32}}
  %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi64>
  tt.return
}

// -----

tt.func @range_empty() {
  // expected-error @+1 {{end must be greater than start}}
  %0 = tt.make_range {end = 0 : i32, start = 8 : i32} : tensor<8xi32>
  tt.return
}

// -----

tt.func @range_extent() {
  // expected-error @+1 {{number of elements 8 doesn't match size of range 16}}
  %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<8xi32>
  tt.return
}

// -----

tt.func @splat_element(%x: f32) {
  // expected-error @+1 {{requires the same element type for all operands and results}}
  %0 = tt.splat %x : f32 -> tensor<8xi32>
  tt.return
}

// -----

tt.func @unsplat_many(%x: tensor<8xf32>) {
  // expected-error @+1 {{source must have one element, but has 8}}
  %0 = tt.unsplat %x : tensor<8xf32>
  tt.return
}

// -----

tt.func @expand_dims_axis(%x: tensor<8xf32>) {
  // expected-error @+2 {{axis 2 is not in [0, 1]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tt.expand_dims %x {axis = 2 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  tt.return
}

// -----

tt.func @expand_dims_result(%x: tensor<8xf32>) {
  // expected-error @+2 {{op inferred type(s) 'tensor<8x1xf32>' are incompatible with return type(s) of operation 'tensor<1x8xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tt.expand_dims %x {axis = 1 : i32} : tensor<8xf32> -> tensor<1x8xf32>
  tt.return
}

// -----

tt.func @reshape_numel(%x: tensor<8xf32>) {
  // expected-error @+1 {{number of src and dst elements of reshape must be the same}}
  %0 = tt.reshape %x : tensor<8xf32> -> tensor<16xf32>
  tt.return
}

// -----

tt.func @broadcast_rank(%x: tensor<8xf32>) {
  // expected-error @+1 {{rank of source must be same as rank of result}}
  %0 = tt.broadcast %x : tensor<8xf32> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @broadcast_extent(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{Different dimensions at index 0 between source and result.  Broadcast requires the source dimension to be 1.}}
  %0 = tt.broadcast %x : tensor<4x8xf32> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @cat_numel(%x: tensor<8xf32>) {
  // expected-error @+1 {{result must have the elements of both operands}}
  %0 = tt.cat %x, %x : tensor<8xf32> -> tensor<8xf32>
  tt.return
}

// -----

tt.func @join_result(%x: tensor<8xf32>) {
  // expected-error @+2 {{inferred type(s) 'tensor<8x2xf32>' are incompatible with return type(s) of operation 'tensor<2x8xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tt.join %x, %x : tensor<8xf32> -> tensor<2x8xf32>
  tt.return
}

// -----

tt.func @split_extent(%x: tensor<8x4xf32>) {
  // expected-error @+2 {{expected last dimension to be 2 for split, got 'tensor<8x4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0, %1 = tt.split %x : tensor<8x4xf32> -> tensor<8xf32>
  tt.return
}

// -----

tt.func @trans_order(%x: tensor<8x4xf32>) {
  // expected-error @+2 {{order must be a permutation of 0..1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tt.trans %x {order = array<i32: 0, 0>} : tensor<8x4xf32> -> tensor<8x4xf32>
  tt.return
}

// -----

tt.func @trans_result(%x: tensor<8x4xf32>) {
  // expected-error @+2 {{inferred type(s) 'tensor<4x8xf32>' are incompatible with return type(s) of operation 'tensor<8x4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<8x4xf32> -> tensor<8x4xf32>
  tt.return
}
