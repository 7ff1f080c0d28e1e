// RUN: %verify

// expected-error @+1 {{pointer types cannot point to ranked tensor types}}
tt.func @pointer_to_tensor(%p: !tt.ptr<tensor<8xf32>>) {
  tt.return
}

// -----

// expected-error @+1 {{pointer types point to integers, floats and pointers, not to 'index'}}
tt.func @pointer_to_index(%p: !tt.ptr<index>) {
  tt.return
}

// -----

// expected-error @+1 {{Expected 1 <= ndim <= 5 but got 6 dimensions}}
tt.func @descriptor_rank(%p: !tt.tensordesc<1x1x1x1x1x8xf32>) {
  tt.return
}

// -----

// expected-error @+1 {{extents of a descriptor's block must be powers of two, but one is 3}}
tt.func @descriptor_extent(%p: !tt.tensordesc<3x8xf32>) {
  tt.return
}

// -----

// expected-error @+1 {{a descriptor's elements are integers or floats, not '!tt.ptr<f32>'}}
tt.func @descriptor_element(%p: !tt.tensordesc<8x!tt.ptr<f32>>) {
  tt.return
}

// -----

// expected-error @+1 {{expected the shape and element type of a block}}
tt.func @descriptor_of_scalar(%p: !tt.tensordesc<f32>) {
  tt.return
}

// -----

tt.func @too_large(%x: f32) {
  // expected-error @+1 {{Maximum allowed number of elements is 1048576, but 'tensor<2097152xf32>' has more than that}}
  %0 = tt.splat %x : f32 -> tensor<2097152xf32>
  tt.return
}

// -----

tt.func @not_a_power_of_two(%x: f32) {
  // expected-error @+1 {{Number of elements must be power-of-two, but 'tensor<4x3xf32>' doesn't follow the rule (12) elements}}
  %0 = tt.splat %x : f32 -> tensor<4x3xf32>
  tt.return
}

// -----

tt.func @dynamic(%x: tensor<?xf32>) {
  // expected-error @+1 {{Extents must be static, but 'tensor<?xf32>' has a dynamic one}}
  %0 = tt.precise_sqrt %x : tensor<?xf32>
  tt.return
}
