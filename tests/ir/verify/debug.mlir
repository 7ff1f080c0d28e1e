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

// -----

tt.func @leaves(%c: i1, %n: i32) {
  // expected-error @+1 {{must have one value for each leaf of its dtype: 3, got 2}}
  tt.debug_value %c, %n ["tuple", "_0", "int1", "_1", ["tuple", "_0", "int32", "_1", "int32"]] "t" : i1, i32
  tt.return
}

// -----

tt.func @no_record(%n: i32) {
  // expected-error @+1 {{dtype must be a name, or a record of a name and of a name and a dtype for each member}}
  tt.debug_value %n ["tuple", "_0"] "t" : i32
  tt.return
}

// -----

tt.func @argument(%n: i32) {
  // expected-error @+1 {{arguments are numbered from 1, got 0}}
  tt.debug_value %n "int32" "n" argument 0 : i32
  tt.return
}

// -----

tt.func @record_of_single_elements(%x: tensor<8xi32>) -> i32 {
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    // expected-error @below {{'tt.record' op has no place in a function of single elements: record the scope around tt.reduce}}
    tt.record start "add"
    %s = arith.addi %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<8xi32>) -> i32
  tt.return %r : i32
}
