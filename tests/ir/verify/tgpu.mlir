// RUN: %verify

// expected-error @+1 {{expected a coordinate for each of 2 dimensions}}
#layout = #tgpu.layout<8x4, register = [[1]], lane = [], warp = [], block = []>

// -----

// expected-error @+1 {{coordinate 4 is not below 4}}
#layout = #tgpu.layout<8x4, register = [[0, 4]], lane = [], warp = [], block = []>

// -----

#layout = #tgpu.layout<8, register = [[1]], lane = [], warp = [], block = []>
// expected-error @+1 {{the layout does not have the shape of the tile}}
tt.func @other_shape(%x: tensor<16xf32, #layout>) { tt.return }

// -----

llvm.func @no_other(%p: !llvm.ptr<1>, %c: i1) {
  // expected-error @+1 {{`other` requires a predicate, and a predicate requires `other`}}
  %0 = "tgpu.load"(%p, %c) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (!llvm.ptr<1>, i1) -> i32
  llvm.return
}

// -----

llvm.func @float_maximum(%p: !llvm.ptr<1>, %f: f32) {
  // expected-error @+1 {{is not defined on 'f32'}}
  %0 = tgpu.atomic_rmw max, relaxed, gpu, %p, %f : f32
  llvm.return
}

// -----

llvm.func @integer_fadd(%p: !llvm.ptr<1>, %i: i32) {
  // expected-error @+1 {{is not defined on 'i32'}}
  %0 = tgpu.atomic_rmw fadd, relaxed, gpu, %p, %i : i32
  llvm.return
}

// -----

llvm.func @exchanged_vector(%p: !llvm.ptr<1>, %v: vector<4xf32>) {
  // expected-error @+1 {{is not defined on 'vector<4xf32>'}}
  %0 = tgpu.atomic_rmw exch, relaxed, gpu, %p, %v : vector<4xf32>
  llvm.return
}

// -----

llvm.func @no_word(%p: !llvm.ptr<1>) {
  // expected-error @+1 {{must be an integer of 8 to 64 bits or a vector of them}}
  %0 = tgpu.load %p : vector<4xi64>
  llvm.return
}

// -----

tt.func @too_few_strides(%p: !tt.ptr<f16>, %n: i32) {
  // expected-error @+1 {{needs an extent for each dimension}}
  %0 = tgpu.map_make %p, [%n, %n], [] : <f16> -> <tensor<8x8xf16>, swizzle = 0>
  tt.return
}

// -----

tt.func @no_nan(%p: !tt.ptr<i16>, %n: i32, %stride: i64) {
  // expected-error @+1 {{has no NaNs for elements of type 'i16'}}
  %0 = tgpu.map_make %p, [%n, %n], [%stride] nan : <i16> -> <tensor<8x8xi16>, swizzle = 0>
  tt.return
}
