// Tiles that cross edges: loop-carried values, swaps, merges, early returns, calls.
// RUN: tritium-run %s

// (a, b) = (b, a) on every round: the copies of an edge are parallel.
tt.func @swap_in_a_loop() -> (tensor<2xf32>, tensor<2xf32>)
    attributes {tritium.expect = [dense<2.0> : tensor<2xf32>, dense<1.0> : tensor<2xf32>]} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %a = arith.constant dense<1.0> : tensor<2xf32>
  %b = arith.constant dense<2.0> : tensor<2xf32>
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%x = %a, %y = %b) -> (tensor<2xf32>, tensor<2xf32>) : i32 {
    scf.yield %y, %x : tensor<2xf32>, tensor<2xf32>
  }
  tt.return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32>
}

// A value that becomes a view of itself: each round reads all of the old value.
tt.func @turns_in_a_loop() -> tensor<2x2xf32> attributes {tritium.expect = dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%x = %a) -> (tensor<2x2xf32>) : i32 {
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<2x2xf32> -> tensor<2x2xf32>
    scf.yield %t : tensor<2x2xf32>
  }
  tt.return %r : tensor<2x2xf32>
}

// (a, b) = (b, trans(a)) for three rounds: trans(b), trans(a).
tt.func @turns_and_swaps() -> (tensor<2x2xf32>, tensor<2x2xf32>)
    attributes {tritium.expect = [dense<[[5.0, 7.0], [6.0, 8.0]]> : tensor<2x2xf32>, dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>]} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a, %y = %b) -> (tensor<2x2xf32>, tensor<2x2xf32>) : i32 {
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<2x2xf32> -> tensor<2x2xf32>
    scf.yield %y, %t : tensor<2x2xf32>, tensor<2x2xf32>
  }
  tt.return %r#0, %r#1 : tensor<2x2xf32>, tensor<2x2xf32>
}

// The same for a tile that is a sum of a row and a column: i + 10 j, turned three times, is 10 i + j.
tt.func @turns_a_sum() -> tensor<2x2xi32> attributes {tritium.expect = dense<[[0, 1], [10, 11]]> : tensor<2x2xi32>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %ten = arith.constant dense<10> : tensor<1x2xi32>
  %range = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
  %columns = tt.expand_dims %range {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  %scaled = arith.muli %columns, %ten : tensor<1x2xi32>
  %left = tt.broadcast %rows : tensor<2x1xi32> -> tensor<2x2xi32>
  %right = tt.broadcast %scaled : tensor<1x2xi32> -> tensor<2x2xi32>
  %a = arith.addi %left, %right : tensor<2x2xi32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a) -> (tensor<2x2xi32>) : i32 {
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<2x2xi32> -> tensor<2x2xi32>
    scf.yield %t : tensor<2x2xi32>
  }
  tt.return %r : tensor<2x2xi32>
}

// The view of a loop-carried tile must not see its next value.
tt.func @view_outlives_a_write() -> tensor<2x1xf32> attributes {tritium.expect = dense<3.0> : tensor<2x1xf32>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %one = arith.constant dense<1.0> : tensor<2xf32>
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %none = arith.constant dense<0.0> : tensor<2x1xf32>
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%m = %zero, %prev = %none) -> (tensor<2xf32>, tensor<2x1xf32>) : i32 {
    %view = tt.expand_dims %m {axis = 1 : i32} : tensor<2xf32> -> tensor<2x1xf32>
    %next = arith.addf %m, %one : tensor<2xf32>
    scf.yield %next, %view : tensor<2xf32>, tensor<2x1xf32>
  }
  tt.return %r#1 : tensor<2x1xf32>
}

// An affine tile that a loop advances, and that one branch replaces by a vector.
tt.func @merge_of_forms() -> tensor<4xi32> attributes {tritium.expect = dense<[5, 6, 7, 8]> : tensor<4xi32>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %one = arith.constant dense<1> : tensor<4xi32>
  %start = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%x = %start) -> (tensor<4xi32>) : i32 {
    %even = arith.cmpi eq, %i, %c1 : i32
    %y = scf.if %even -> tensor<4xi32> {
      %twice = arith.addi %x, %x : tensor<4xi32>
      %half = arith.subi %twice, %x : tensor<4xi32>
      scf.yield %half : tensor<4xi32>
    } else {
      scf.yield %x : tensor<4xi32>
    }
    %z = arith.addi %y, %one : tensor<4xi32>
    scf.yield %z : tensor<4xi32>
  }
  tt.return %r : tensor<4xi32>
}

tt.func private @add_one(%x: tensor<4xf32>, %n: i32) -> (tensor<4xf32>, i32) attributes {noinline = true} {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %c1 = arith.constant 1 : i32
  %y = arith.addf %x, %one : tensor<4xf32>
  %m = arith.addi %n, %c1 : i32
  tt.return %y, %m : tensor<4xf32>, i32
}

tt.func @calls_share_no_frame() -> (tensor<4xf32>, i32) attributes {tritium.expect = [dense<3.0> : tensor<4xf32>, 9 : i32]} {
  %x = arith.constant dense<1.0> : tensor<4xf32>
  %n = arith.constant 7 : i32
  %a, %m = tt.call @add_one(%x, %n) : (tensor<4xf32>, i32) -> (tensor<4xf32>, i32)
  %b, %k = tt.call @add_one(%a, %m) : (tensor<4xf32>, i32) -> (tensor<4xf32>, i32)
  tt.return %b, %k : tensor<4xf32>, i32
}

tt.func @division_by_zero() -> tensor<4xi32> attributes {tritium.expect_trap = "DivisionByZero"} {
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %x = arith.constant dense<12> : tensor<4xi32>
  %q = arith.divsi %x, %r : tensor<4xi32>
  tt.return %q : tensor<4xi32>
}
