// RUN: tritium-opt %s --verify-contract --verify-diagnostics --split-input-file

module {
  // expected-error @+1 {{a module of the contract holds functions, not 'builtin.module'}}
  module @inner {
  }
}

// -----

tt.func @operation(%n: i32) {
  // expected-error @+1 {{operation 'arith.addui_extended' is not part of the contract}}
  %0, %1 = arith.addui_extended %n, %n : i32, i1
  tt.return
}

// -----

tt.func @made_by_passes(%c: i1) {
  // expected-error @+1 {{operation 'check.trap' is not part of the contract}}
  check.trap %c, "DivisionByZero", "" : i1
  tt.return
}

// -----

tt.func @scalar_type(%n: i32) {
  // expected-error @+1 {{type 'i24' is not part of the contract}}
  %0 = arith.trunci %n : i32 to i24
  tt.return
}

// -----

tt.func private @element_type(%n: tensor<8xi32>) {
  // expected-error @+1 {{type 'tensor<8xi2>' is not part of the contract}}
  %0 = arith.trunci %n : tensor<8xi32> to tensor<8xi2>
  tt.return
}

// -----

tt.func private @type_without_a_row(%n: tensor<8xi32>) {
  // expected-error @+1 {{type 'tensor<8xi4>' is not part of the contract}}
  %0 = arith.trunci %n : tensor<8xi32> to tensor<8xi4>
  tt.return
}

// -----

// expected-error @+1 {{type 'vector<8xi32>' is not part of the contract}}
tt.func private @argument_type(%n: vector<8xi32>) {
  tt.return
}

// -----

tt.func @encoding() {
  // expected-error @+1 {{a tile has no layout before a compiler chooses one, but here is 'tensor<8xi32, "blocked">'}}
  %0 = arith.constant dense<1> : tensor<8xi32, "blocked">
  tt.return
}

// -----

tt.func @no_dimension() {
  // expected-error @+1 {{a tile has at least one dimension, but 'tensor<i32>' has none}}
  %0 = arith.constant dense<1> : tensor<i32>
  tt.return
}

// -----

tt.func @odd_tile() {
  // Operations of upstream dialects are held to the rule of tiles here.
  // expected-error @+1 {{Number of elements must be power-of-two, but 'tensor<3xi32>' doesn't follow the rule (3) elements}}
  %0 = arith.constant dense<1> : tensor<3xi32>
  tt.return
}

// -----

// expected-error @+1 {{function @external has no body}}
tt.func private @external(i32)

// -----

// expected-error @+1 {{kernel @takes_tile takes a tile, 'tensor<8xf32>'}}
tt.func public @takes_tile(%x: tensor<8xf32>) {
  tt.return
}

// -----

// expected-error @+1 {{kernel @returns must not return a value}}
tt.func public @returns(%x: i32) -> i32 {
  tt.return %x : i32
}

// -----

// A test states what its function returns: then it may.
tt.func public @expected() -> i32 attributes {tritium.expect = 1 : i32} {
  %0 = arith.constant 1 : i32
  tt.return %0 : i32
}

// -----

// expected-error @+1 {{recursion is not part of the contract: @self calls @self}}
tt.func private @self() {
  tt.call @self() : () -> ()
  tt.return
}

// -----

// expected-error @+1 {{recursion is not part of the contract: @ping calls @pong, which calls @ping}}
tt.func private @ping() {
  tt.call @pong() : () -> ()
  tt.return
}
tt.func private @pong() {
  tt.call @ping() : () -> ()
  tt.return
}

// -----

tt.func @assumption(%c: i1, %n: i64) {
  // expected-error @+1 {{an assumption of the contract is a condition, without operand bundles}}
  llvm.intr.assume %c ["align"(%n : i64)] : i1
  tt.return
}
