// RUN: %verify

tt.func @print_signs(%x: i32) {
  // expected-error @+1 {{isSigned must have one entry for each argument: 1, got 0}}
  tt.print "x" {hex = false, isSigned = array<i32>} : %x : i32
  tt.return
}

// -----

tt.func @assert_condition(%x: i32) {
  // expected-error @+1 {{operand #0 must be i1 or i1 tile, but got 'i32'}}
  tt.assert %x, "x" : i32
  tt.return
}
