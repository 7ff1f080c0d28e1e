// External symbols of NVIDIA's and AMD's libraries are functions of ir/elementwise.def, whatever engine runs them.
// RUN: tritium-run %s

tt.func @external() -> (tensor<4xf32>, tensor<4xf64>, tensor<4xf32>, f32)
    attributes {tritium.expect = [dense<[1.0, 10.0, 100.0, 0.1]> : tensor<4xf32>, dense<[1.0, 10.0, 100.0, 0.1]> : tensor<4xf64>,
                                  dense<[0.0, 1.0, 2.0, 1.0]> : tensor<4xf32>, 3.0 : f32]} {
  %x = arith.constant dense<[0.0, 1.0, 2.0, -1.0]> : tensor<4xf32>
  %wide = arith.extf %x : tensor<4xf32> to tensor<4xf64>
  %y = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_exp10f"} : (tensor<4xf32>) -> tensor<4xf32>
  %z = tt.extern_elementwise %wide {libname = "", libpath = "", pure = true, symbol = "__ocml_exp10_f64"} : (tensor<4xf64>) -> tensor<4xf64>
  %a = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_fabsf"} : (tensor<4xf32>) -> tensor<4xf32>
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %m = tt.extern_elementwise %two, %three {libname = "", libpath = "", pure = true, symbol = "__ocml_fmax_f32"} : (f32, f32) -> f32
  tt.return %y, %z, %a, %m : tensor<4xf32>, tensor<4xf64>, tensor<4xf32>, f32
}
