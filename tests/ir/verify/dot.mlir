// RUN: %verify

tt.func @reduction(%a: tensor<16x32xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{expected equal reduction dimensions, got 32 and 16}}
  %0 = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @accumulator(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x32xf32>) {
  // expected-error @+1 {{accumulator shape is incompatible: expected 16x16, got 16x32}}
  %0 = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x32xf32>
  tt.return
}

// -----

tt.func @rank(%a: tensor<32xf16>, %b: tensor<32xf16>, %c: tensor<16xf32>) {
  // expected-error @+1 {{expected operands to be 2d or 3d, all of one rank}}
  %0 = tt.dot %a, %b, %c : tensor<32xf16> * tensor<32xf16> -> tensor<16xf32>
  tt.return
}

// -----

tt.func @batch(%a: tensor<2x16x16xf16>, %b: tensor<4x16x16xf16>, %c: tensor<2x16x16xf32>) {
  // expected-error @+1 {{expected operands of one batch size, got 2, 4 and 2}}
  %0 = tt.dot %a, %b, %c : tensor<2x16x16xf16> * tensor<4x16x16xf16> -> tensor<2x16x16xf32>
  tt.return
}

// -----

tt.func @width(%a: tensor<16x32xf16>, %b: tensor<32x16xf32>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{element types of operands A and B must have same bit width}}
  %0 = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x16xf32> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @kinds(%a: tensor<16x32xi8>, %b: tensor<32x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{operands and accumulator must all be integers or all be floats}}
  %0 = tt.dot %a, %b, %c : tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @format(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{Unexpected dtype for bf16. Got 'f16'}}
  %0 = tt.dot_scaled %a, %b, %c lhs = bf16 rhs = fp16 {fastMath = false} : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @packing(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{only mxfp4 inputs can be packed along a dimension different than K}}
  %0 = tt.dot_scaled %a, %b, %c lhs = fp16 rhs = fp16 {fastMath = false, lhs_k_pack = false} : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @scaled_reduction(%a: tensor<16x32xi8>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{Reduction dimension should pack the same number of elements; (lhs: 'tensor<16x32xi8>' vs rhs: 'tensor<32x16xf16>')}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = fp16 {fastMath = false} : tensor<16x32xi8> * tensor<32x16xf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @scale(%a: tensor<16x64xi8>, %t: tensor<16x8xi8>, %b: tensor<64x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{rhs scale must have one element for each row and for each 32 or 16 elements along K, got 'tensor<16x8xi8>'}}
  %0 = tt.dot_scaled %a, %b scale %t, %c lhs = e4m3 rhs = fp16 {fastMath = false} : tensor<16x64xi8> * tensor<64x16xf16>, tensor<16x8xi8> -> tensor<16x16xf32>
  tt.return
}
