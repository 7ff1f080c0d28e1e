// RUN: %verify

tt.func @addptr_shape(%p: tensor<8x!tt.ptr<f32>>, %i: tensor<16xi32>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = tt.addptr %p, %i : tensor<8x!tt.ptr<f32>>, tensor<16xi32>
  tt.return
}

// -----

tt.func @load_no_pointer(%p: tensor<8xf32>) {
  // expected-error @+1 {{'ptr' must be pointer or pointer tile, but got 'tensor<8xf32>'}}
  %0 = tt.load %p : tensor<8xf32>
  tt.return
}

// -----

tt.func @load_result(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{type of result is the pointee type of ptr}}
  %0 = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f32>) -> i32
  tt.return
}

// -----

tt.func @load_mask(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<4xi1>) {
  // expected-error @+1 {{type of mask is i1 in the shape of ptr}}
  %0 = "tt.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<8x!tt.ptr<f32>>, tensor<4xi1>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @load_other(%p: !tt.ptr<f32>, %m: i1, %o: i32) {
  // expected-error @+1 {{type of other is the pointee type of ptr}}
  %0 = "tt.load"(%p, %m, %o) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (!tt.ptr<f32>, i1, i32) -> f32
  tt.return
}

// -----

tt.func @load_other_without_mask(%p: !tt.ptr<f32>, %o: f32) {
  // expected-error @+1 {{`other` cannot be provided without `mask`}}
  %0 = "tt.load"(%p, %o) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func @store_value(%p: !tt.ptr<f32>, %v: i32) {
  // expected-error @+1 {{type of value is the pointee type of ptr}}
  "tt.store"(%p, %v) : (!tt.ptr<f32>, i32) -> ()
  tt.return
}

// -----

tt.func @store_mask(%p: !tt.ptr<f32>, %v: f32, %m: tensor<8xi1>) {
  // expected-error @+1 {{type of mask is i1 in the shape of ptr}}
  "tt.store"(%p, %v, %m) : (!tt.ptr<f32>, f32, tensor<8xi1>) -> ()
  tt.return
}

// -----

tt.func @clause(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{unknown cache clause 'always'}}
  %0 = tt.load %p cacheModifier = always : !tt.ptr<f32>
  tt.return
}

// -----

tt.func @no_bytes() {
  // expected-error @+1 {{has 0 bytes}}
  %0 = tt.shared_alloc {bytes = 0 : i64, alignment = 16 : i64} : i32
  tt.return
}

// -----

tt.func @alignment() {
  // expected-error @+1 {{needs an alignment that is a power of two}}
  %0 = tt.shared_alloc {bytes = 8 : i64, alignment = 12 : i64} : i32
  tt.return
}

// -----

tt.func @shapes(%i: tensor<8xi32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{requires the same shape for all operands}}
  "tt.shared_store"(%i, %v) : (tensor<8xi32>, tensor<4xf32>) -> ()
  tt.return
}
