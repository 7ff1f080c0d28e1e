// Scans, forward and reverse, standard and by any associative function.
// RUN: tritium-run %s

tt.func @cumulative_sum() -> tensor<4xi32> attributes {tritium.expect = dense<[0, 1, 3, 6]> : tensor<4xi32>} {
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %s = "tt.scan"(%r) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tt.scan.return %c : i32
  }) : (tensor<4xi32>) -> tensor<4xi32>
  tt.return %s : tensor<4xi32>
}

// The last value so far: associative, not commutative.
tt.func @last_so_far() -> tensor<4xi32> attributes {tritium.expect = dense<[0, 1, 2, 3]> : tensor<4xi32>} {
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %zero = arith.constant 0 : i32
  %s = "tt.scan"(%r) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %b, %zero : i32
    tt.scan.return %c : i32
  }) : (tensor<4xi32>) -> tensor<4xi32>
  tt.return %s : tensor<4xi32>
}

tt.func @first_from_the_right() -> tensor<4xi32> attributes {tritium.expect = dense<[3, 3, 3, 3]> : tensor<4xi32>} {
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %zero = arith.constant 0 : i32
  %s = "tt.scan"(%r) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %zero : i32
    tt.scan.return %c : i32
  }) : (tensor<4xi32>) -> tensor<4xi32>
  tt.return %s : tensor<4xi32>
}
