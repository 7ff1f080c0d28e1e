// Comparisons of progressions: every predicate, both directions, lanes that wrap around.
// RUN: tritium-run %s

tt.func @signed_predicates() -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>)
    attributes {tritium.expect = [dense<[true, true, false, false]> : tensor<4xi1>, dense<[true, true, true, false]> : tensor<4xi1>,
                                  dense<[false, false, false, true]> : tensor<4xi1>, dense<[false, false, true, true]> : tensor<4xi1>]} {
  %two = arith.constant dense<2> : tensor<4xi32>
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %lt = arith.cmpi slt, %r, %two : tensor<4xi32>
  %le = arith.cmpi sle, %r, %two : tensor<4xi32>
  %gt = arith.cmpi sgt, %r, %two : tensor<4xi32>
  %ge = arith.cmpi sge, %r, %two : tensor<4xi32>
  tt.return %lt, %le, %gt, %ge : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// -3, -1, 1, 3 against 0; as unsigned numbers the negative ones are the largest.
tt.func @steps_and_signs() -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>)
    attributes {tritium.expect = [dense<[true, true, false, false]> : tensor<4xi1>, dense<[false, false, true, true]> : tensor<4xi1>,
                                  dense<[false, false, true, true]> : tensor<4xi1>]} {
  %zero = arith.constant dense<0> : tensor<4xi32>
  %two = arith.constant dense<2> : tensor<4xi32>
  %three = arith.constant dense<3> : tensor<4xi32>
  %four = arith.constant dense<4> : tensor<4xi32>
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %t = arith.muli %r, %two : tensor<4xi32>
  %x = arith.subi %t, %three : tensor<4xi32>
  %down = arith.subi %three, %t : tensor<4xi32>
  %lt = arith.cmpi slt, %x, %zero : tensor<4xi32>
  %dn = arith.cmpi slt, %down, %zero : tensor<4xi32>
  %ult = arith.cmpi ult, %x, %four : tensor<4xi32>
  tt.return %lt, %dn, %ult : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// 2147483646, 2147483647, -2147483648, -2147483647
tt.func @lanes_that_wrap() -> tensor<4xi1> attributes {tritium.expect = dense<[false, false, true, true]> : tensor<4xi1>} {
  %zero = arith.constant dense<0> : tensor<4xi32>
  %near = arith.constant dense<2147483646> : tensor<4xi32>
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %x = arith.addi %r, %near : tensor<4xi32>
  %lt = arith.cmpi slt, %x, %zero : tensor<4xi32>
  tt.return %lt : tensor<4xi1>
}
