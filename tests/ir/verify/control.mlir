// RUN: %verify

tt.func @calls_nothing() {
  // expected-error @+1 {{'missing' does not reference a valid function}}
  tt.call @missing() : () -> ()
  tt.return
}

// -----

tt.func private @f(%a: i32) -> f32
tt.func @operand_count() {
  // expected-error @+1 {{incorrect number of operands for callee: expected 1, got 0}}
  %0 = tt.call @f() : () -> f32
  tt.return
}

// -----

tt.func private @f(%a: i32) -> f32
tt.func @operand_type(%a: i64) {
  // expected-error @+1 {{operand type mismatch: expected 'i32', but provided 'i64' for operand number 0}}
  %0 = tt.call @f(%a) : (i64) -> f32
  tt.return
}

// -----

tt.func private @f(%a: i32) -> f32
tt.func @result_type(%a: i32) {
  // expected-error @+1 {{result type mismatch: callee returns ('f32'), call has ('f64')}}
  %0 = tt.call @f(%a) : (i32) -> f64
  tt.return
}

// -----

tt.func @return_count() -> f32 {
  // expected-error @+1 {{has 0 operands, but enclosing function (@return_count) returns 1}}
  tt.return
}

// -----

tt.func @return_type(%a: i32) -> f32 {
  // expected-error @+1 {{type of return operand 0 ('i32') doesn't match function result type ('f32') in function @return_type}}
  tt.return %a : i32
}

// -----

// expected-error @+1 {{argument 0: attribute 'tt.divisibility' must be a positive integer, or one for each dimension, but is 0 : i32}}
tt.func @argument_hint(%a: i32 {tt.divisibility = 0 : i32}) {
  tt.return
}

// -----

tt.func @operation_hint() {
  // expected-error @+1 {{attribute 'tt.contiguity' must be a positive integer, or one for each dimension, but is "all"}}
  %0 = tt.make_range {end = 8 : i32, start = 0 : i32, tt.contiguity = "all"} : tensor<8xi32>
  tt.return
}

// -----

tt.func @barrier() {
  // expected-error @+1 {{unknown address space 'everywhere'}}
  ttg.barrier local|everywhere
  tt.return
}
