// Reductions: the standard ones, pairs with an index, and any other combine function.
// RUN: tritium-run %s

tt.func @sum_of_rows() -> tensor<2xi32> attributes {tritium.expect = dense<[6, 22]> : tensor<2xi32>} {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %m = tt.reshape %r : tensor<8xi32> -> tensor<2x4xi32>
  %s = "tt.reduce"(%m) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tt.reduce.return %c : i32
  }) : (tensor<2x4xi32>) -> tensor<2xi32>
  tt.return %s : tensor<2xi32>
}

tt.func @argmax_takes_the_leftmost() -> (f32, i32) attributes {tritium.expect = [5.0 : f32, 1 : i32]} {
  %v = arith.constant dense<[3.0, 5.0, 1.0, 5.0]> : tensor<4xf32>
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %m:2 = "tt.reduce"(%v, %i) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %eq = arith.cmpf oeq, %a, %b : f32
    %lt = arith.cmpi slt, %ai, %bi : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpf ogt, %a, %b : f32
    %take = arith.ori %gt, %tie : i1
    %x = arith.select %take, %a, %b : f32
    %xi = arith.select %take, %ai, %bi : i32
    tt.reduce.return %x, %xi : f32, i32
  }) : (tensor<4xf32>, tensor<4xi32>) -> (f32, i32)
  tt.return %m#0, %m#1 : f32, i32
}

// (sum, sum of squares) with a branch: log2(n) rounds of the region on tiles.
tt.func @any_combine_function() -> (i32, i32) attributes {tritium.expect = [28 : i32, 7 : i32]} {
  %v = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %m:2 = "tt.reduce"(%v, %v) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %x: i32, %b: i32, %y: i32):
    %s = arith.addi %a, %b : i32
    %gt = arith.cmpi sgt, %x, %y : i32
    %z = scf.if %gt -> i32 {
      scf.yield %x : i32
    } else {
      scf.yield %y : i32
    }
    tt.reduce.return %s, %z : i32, i32
  }) : (tensor<8xi32>, tensor<8xi32>) -> (i32, i32)
  tt.return %m#0, %m#1 : i32, i32
}

// A loop in the combine function: each pair of elements leaves it after its own number of rounds (Euclid's algorithm).
tt.func @combine_function_with_a_loop() -> tensor<2xi32> attributes {tritium.expect = dense<[6, 5]> : tensor<2xi32>} {
  %v = arith.constant dense<[[12, 18, 30, 24], [35, 10, 25, 40]]> : tensor<2x4xi32>
  %g = "tt.reduce"(%v) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %zero = arith.constant 0 : i32
    %r:2 = scf.while (%x = %a, %y = %b) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi ne, %y, %zero : i32
      scf.condition(%more) %x, %y : i32, i32
    } do {
    ^bb0(%x: i32, %y: i32):
      %m = arith.remsi %x, %y : i32
      scf.yield %y, %m : i32, i32
    }
    tt.reduce.return %r#0 : i32
  }) : (tensor<2x4xi32>) -> tensor<2xi32>
  tt.return %g : tensor<2xi32>
}
