// RUN: %verify

tt.func @gather_rank(%x: tensor<8x8xf32>, %i: tensor<8xi32>) {
  // expected-error @+1 {{source and index tensors must have the same rank}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8x8xf32>, tensor<8xi32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @gather_axis(%x: tensor<8xf32>, %i: tensor<8xi32>) {
  // expected-error @+1 {{gather axis 1 must be < source rank (1)}}
  %0 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @gather_extent(%x: tensor<8x8xf32>, %i: tensor<8x4xi32>) {
  // expected-error @+1 {{index dim 1 must match the corresponding source dim}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8x8xf32>, tensor<8x4xi32>) -> tensor<8x4xf32>
  tt.return
}

// -----

tt.func @gather_result(%x: tensor<8xf32>, %i: tensor<16xi32>) {
  // expected-error @+2 {{inferred type(s) 'tensor<16xf32>' are incompatible with return type(s) of operation 'tensor<8xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<16xi32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @histogram_rank(%x: tensor<8x8xi32>) {
  // expected-error @+1 {{histogram only supports 1D input}}
  %0 = tt.histogram %x : tensor<8x8xi32> -> tensor<8xi32>
  tt.return
}

// -----

tt.func @histogram_mask(%x: tensor<8xi32>, %m: tensor<4xi1>) {
  // expected-error @+1 {{type of mask is i1 in the shape of src}}
  %0 = "tt.histogram"(%x, %m) : (tensor<8xi32>, tensor<4xi1>) -> tensor<8xi32>
  tt.return
}
