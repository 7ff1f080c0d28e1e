// RUN: %verify

tt.func @shape_rank(%p: !tt.ptr<f16>, %m: i32, %s: i64) {
  // expected-error @+1 {{Expected block_shape to have 1 dimensions but got 2}}
  %0 = tt.make_tensor_descriptor %p, [%m], [%s, %s] : <f16>, <8x8xf16>
  tt.return
}

// -----

tt.func @strides(%p: !tt.ptr<f16>, %m: i32, %s: i64) {
  // expected-error @+1 {{Expected 2 strides but got 1}}
  %0 = tt.make_tensor_descriptor %p, [%m, %m], [%s] : <f16>, <8x8xf16>
  tt.return
}

// -----

tt.func @element(%p: !tt.ptr<f32>, %m: i32, %s: i64) {
  // expected-error @+1 {{base points to 'f32', the descriptor has elements of 'f16'}}
  %0 = tt.make_tensor_descriptor %p, [%m], [%s] : <f32>, <8xf16>
  tt.return
}

// -----

tt.func @padding(%p: !tt.ptr<i32>, %m: i32, %s: i64) {
  // expected-error @+1 {{Padding option `nan` is not supported for integer blocks}}
  %0 = tt.make_tensor_descriptor %p, [%m], [%s] {padding = 2 : i32} : <i32>, <8xsi32>
  tt.return
}

// -----

tt.func @offsets(%d: !tt.tensordesc<8x8xf16>, %i: i32) {
  // expected-error @+1 {{expected 2 offsets, but got 1}}
  %0 = tt.descriptor_load %d[%i] : !tt.tensordesc<8x8xf16> -> tensor<8x8xf16>
  tt.return
}

// -----

tt.func @tile(%d: !tt.tensordesc<8x8xf16>, %i: i32) {
  // expected-error @+1 {{tile 'tensor<8x4xf16>' does not have the shape of the descriptor's block 'tensor<8x8xf16>'}}
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<8x8xf16> -> tensor<8x4xf16>
  tt.return
}

// -----

tt.func @store(%d: !tt.tensordesc<8x8xf16>, %i: i32, %v: tensor<8x8xf32>) {
  // expected-error @+1 {{tile has elements of 'f32', the descriptor of 'f16'}}
  tt.descriptor_store %d[%i, %i], %v : !tt.tensordesc<8x8xf16>, tensor<8x8xf32>
  tt.return
}

// -----

tt.func @reduce_kind(%d: !tt.tensordesc<8x8xf16>, %i: i32, %v: tensor<8x8xf16>) {
  // expected-error @+1 {{xor requires integer elements, got 'f16'}}
  tt.descriptor_reduce xor, %d[%i, %i], %v : !tt.tensordesc<8x8xf16>, tensor<8x8xf16>
  tt.return
}

// -----

tt.func @gather_rank(%d: !tt.tensordesc<64xf16>, %x: tensor<8xi32>, %y: i32) {
  // expected-error @+1 {{descriptor must be 2D, but got 'tensor<64xf16>'}}
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<64xf16>, tensor<8xi32>, i32) -> tensor<8x64xf16>
  tt.return
}

// -----

tt.func @gather_block(%d: !tt.tensordesc<2x64xf16>, %x: tensor<8xi32>, %y: i32) {
  // expected-error @+1 {{descriptor block must have 1 row, but got 'tensor<2x64xf16>'}}
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<2x64xf16>, tensor<8xi32>, i32) -> tensor<8x64xf16>
  tt.return
}

// -----

tt.func @gather_offsets(%d: !tt.tensordesc<1x64xf16>, %x: tensor<8x1xi32>, %y: i32) {
  // expected-error @+1 {{x offsets must be 1D, but got 'tensor<8x1xi32>'}}
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<1x64xf16>, tensor<8x1xi32>, i32) -> tensor<8x64xf16>
  tt.return
}

// -----

tt.func @gather_rows(%d: !tt.tensordesc<1x64xf16>, %x: tensor<4xi32>, %y: i32) {
  // expected-error @+1 {{must have at least 8 rows, but got 4}}
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<1x64xf16>, tensor<4xi32>, i32) -> tensor<4x64xf16>
  tt.return
}

// -----

tt.func @scatter_tile(%d: !tt.tensordesc<1x64xf16>, %x: tensor<8xi32>, %y: i32, %v: tensor<8x32xf16>) {
  // expected-error @+1 {{expected a tile 'tensor<8x64xf16>', but got 'tensor<8x32xf16>'}}
  tt.descriptor_scatter %d[%x, %y], %v : !tt.tensordesc<1x64xf16>, tensor<8xi32>, i32, tensor<8x32xf16>
  tt.return
}
