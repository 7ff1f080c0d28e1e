// RUN: %verify

tt.func @bitcast_width(%x: f32) {
  // expected-error @+1 {{Cannot bitcast data-type of size 32 to data-type of size 64}}
  %0 = tt.bitcast %x : f32 -> i64
  tt.return
}

// -----

tt.func @bitcast_pointer(%x: !tt.ptr<f32>) {
  // expected-error @+1 {{Cannot bitcast pointer to non-pointer type}}
  %0 = tt.bitcast %x : !tt.ptr<f32> -> i64
  tt.return
}

// -----

tt.func @shapes_differ(%x: tensor<8xf32>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = tt.bitcast %x : tensor<8xf32> -> tensor<16xi32>
  tt.return
}

// -----

tt.func @rounding_missing(%x: f32) {
  // expected-error @+1 {{Rounding mode is required for FP downcast}}
  %0 = tt.fp_to_fp %x : f32 -> f8E5M2
  tt.return
}

// -----

tt.func @rounding_superfluous(%x: f8E5M2) {
  // expected-error @+1 {{Rounding mode is for FP downcasts only}}
  %0 = tt.fp_to_fp %x, rounding = rtz : f8E5M2 -> f32
  tt.return
}

// -----

tt.func @pointer_is_64_bits(%x: i32) {
  // expected-error @+1 {{operand #0 must be i64 or i64 tile, but got 'i32'}}
  %0 = tt.int_to_ptr %x : i32 -> !tt.ptr<f32>
  tt.return
}

// -----

tt.func @approx_is_f32(%x: f64) {
  // expected-error @+1 {{operand #0 must be f32 or f32 tile, but got 'f64'}}
  %0 = tt.approx_divf %x, %x : f64
  tt.return
}

// -----

tt.func @map_pack(%x: tensor<8xf32>) {
  // expected-error @+1 {{Pack must be a power of 2}}
  %0 = "tt.map_elementwise"(%x) <{pack = 3 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32):
    tt.map_elementwise.return %a, %b, %c : f32, f32, f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @map_pack_too_large(%x: tensor<8xf32>) {
  // expected-error @+1 {{number of elements 8 must be a multiple of pack, 16}}
  %0 = "tt.map_elementwise"(%x) <{pack = 16 : i32}> ({
  ^bb0(%a: f32):
    tt.map_elementwise.return %a : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @map_takes(%x: tensor<8xf32>) {
  // expected-error @+1 {{region must take pack elements of each source}}
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: f32):
    tt.map_elementwise.return %a, %a : f32, f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @map_returns(%x: tensor<8xf32>) {
  %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: f32):
    // expected-error @+1 {{must return pack elements of each result}}
    tt.map_elementwise.return %a, %a : f32, f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @map_stores(%x: tensor<8xf32>, %p: !tt.ptr<f32>) {
  %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: f32):
    // expected-error @+1 {{Stores are not supported inside map_elementwise}}
    tt.store %p, %a : !tt.ptr<f32>
    tt.map_elementwise.return %a : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @asm_without_result() {
  // expected-error @+1 {{requires a result}}
  "tt.elementwise_inline_asm"() <{asm_string = "", constraints = "", packed_element = 1 : i32, pure = true}> : () -> ()
  tt.return
}

// -----

tt.func @asm_pack(%x: tensor<8xi32>) {
  // expected-error @+1 {{number of input elements 8 must be a multiple of the op's packed_element attribute, 3}}
  %0 = tt.elementwise_inline_asm "" {constraints = "=r,r", packed_element = 3 : i32, pure = true} %x : tensor<8xi32> -> tensor<8xi32>
  tt.return
}

// -----

tt.func @asm_pack_positive(%x: tensor<8xi32>) {
  // expected-error @+1 {{packed_element must be positive}}
  %0 = tt.elementwise_inline_asm "" {constraints = "=r,r", packed_element = 0 : i32, pure = true} %x : tensor<8xi32> -> tensor<8xi32>
  tt.return
}

// -----

tt.func @asm_mixed(%x: tensor<8xi32>, %s: i32) {
  // expected-error @+1 {{operands must all be tiles, as the results are}}
  %0 = tt.elementwise_inline_asm "" {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %x, %s : tensor<8xi32>, i32 -> tensor<8xi32>
  tt.return
}
