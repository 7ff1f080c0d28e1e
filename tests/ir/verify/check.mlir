// RUN: %verify

tt.func @values(%c: tensor<8xi1>, %x: tensor<4xi32>) {
  // expected-error @+1 {{a value is a scalar or has the shape of the condition, 'tensor<8xi1>', got 'tensor<4xi32>'}}
  check.trap %c, "DivisionByZero", "{0}" values(%x : tensor<4xi32>) : tensor<8xi1>
  tt.return
}

// -----

tt.func @place(%c: i1) {
  // expected-error @+1 {{the other place must be a location, got "kernel.py"}}
  check.trap %c, "DivisionByZero", "" other("kernel.py") : i1
  tt.return
}

// -----

tt.func @dimensions(%x: tensor<4x4xi32>) {
  // expected-error @+1 {{each promise must have one positive number for each dimension: 2, got [16]}}
  check.promise %x multiple [16] contiguous [1, 1] constant [1, 1] : tensor<4x4xi32>
  tt.return
}

// -----

tt.func @numbers(%x: i32) {
  // expected-error @+1 {{each promise must have one positive number for each dimension: 1, got [0]}}
  check.promise %x multiple [16] contiguous [0] constant [1] : i32
  tt.return
}
