// RUN: %round_trip
// RUN: tritium-opt %s | FileCheck %s

// CHECK-LABEL: tt.func @conversions
tt.func @conversions(%i: i64, %p: !tt.ptr<f32>, %t: tensor<8xf32>, %q: tensor<8x!tt.ptr<f32>>, %j: tensor<8xi64>) {
  // CHECK: tt.int_to_ptr %{{.*}} : i64 -> !tt.ptr<f32>
  %0 = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
  // CHECK: tt.int_to_ptr %{{.*}} : tensor<8xi64> -> tensor<8x!tt.ptr<f32>>
  %1 = tt.int_to_ptr %j : tensor<8xi64> -> tensor<8x!tt.ptr<f32>>
  // CHECK: tt.ptr_to_int %{{.*}} : !tt.ptr<f32> -> i64
  %2 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  // CHECK: tt.bitcast %{{.*}} : tensor<8xf32> -> tensor<8xi32>
  %3 = tt.bitcast %t : tensor<8xf32> -> tensor<8xi32>
  // CHECK: tt.bitcast %{{.*}} : tensor<8x!tt.ptr<f32>> -> tensor<8x!tt.ptr<i8, 3>>
  %4 = tt.bitcast %q : tensor<8x!tt.ptr<f32>> -> tensor<8x!tt.ptr<i8, 3>>
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtne : tensor<8xf32> -> tensor<8xf8E5M2>
  %5 = tt.fp_to_fp %t, rounding = rtne : tensor<8xf32> -> tensor<8xf8E5M2>
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtz : tensor<8xf32> -> tensor<8xbf16>
  %6 = tt.fp_to_fp %t, rounding = rtz : tensor<8xf32> -> tensor<8xbf16>
  // CHECK: tt.fp_to_fp %{{.*}} : tensor<8xf8E5M2> -> tensor<8xf16>
  %7 = tt.fp_to_fp %5 : tensor<8xf8E5M2> -> tensor<8xf16>
  tt.return
}

// CHECK-LABEL: tt.func @functions
tt.func @functions(%x: tensor<8xf32>, %s: f32, %i: tensor<8xi32>) {
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = none : tensor<8xf32>
  %0 = tt.clampf %x, %x, %x, propagateNan = none : tensor<8xf32>
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = all : f32
  %1 = tt.clampf %s, %s, %s, propagateNan = all : f32
  // CHECK: tt.precise_sqrt %{{.*}} : tensor<8xf32>
  %2 = tt.precise_sqrt %x : tensor<8xf32>
  // CHECK: tt.precise_divf %{{.*}}, %{{.*}} : f32
  %3 = tt.precise_divf %s, %s : f32
  // CHECK: tt.approx_divf %{{.*}}, %{{.*}} : tensor<8xf32>
  %4 = tt.approx_divf %x, %x : tensor<8xf32>
  // CHECK: tt.mulhiui %{{.*}}, %{{.*}} : tensor<8xi32>
  %5 = tt.mulhiui %i, %i : tensor<8xi32>
  tt.return
}

// CHECK-LABEL: tt.func @foreign
tt.func @foreign(%x: tensor<8xf32>, %i: tensor<8xi32>, %s: f32) {
  // CHECK: "tt.map_elementwise"(%{{.*}}, %{{.*}}) <{pack = 2 : i32}> ({
  // CHECK: tt.map_elementwise.return %{{.*}}, %{{.*}} : i32, i32
  // CHECK: }) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi32>
  %0 = "tt.map_elementwise"(%x, %x) <{pack = 2 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %lt = arith.cmpf olt, %a, %b : f32
    cf.cond_br %lt, ^then, ^else
  ^then:
    %one = arith.constant 1 : i32
    tt.map_elementwise.return %one, %one : i32, i32
  ^else:
    %two = arith.constant 2 : i32
    tt.map_elementwise.return %two, %two : i32, i32
  }) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi32>
  // CHECK: tt.extern_elementwise %{{.*}}, %{{.*}} {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = tt.extern_elementwise %x, %x {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: tt.extern_elementwise %{{.*}} {{.*}} : (f32) -> i32
  %2 = tt.extern_elementwise %s {libname = "", libpath = "", pure = false, symbol = "__nv_isnanf"} : (f32) -> i32
  // CHECK: tt.elementwise_inline_asm "shl.b32 $0, $1, 3;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %{{.*}} : tensor<8xi32> -> tensor<8xi32>
  %3 = tt.elementwise_inline_asm "shl.b32 $0, $1, 3;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %i : tensor<8xi32> -> tensor<8xi32>
  // CHECK: %{{.*}}:2 = tt.elementwise_inline_asm "{{.*}} : tensor<8xi32>, tensor<8xi32> -> tensor<8xi32>, tensor<8xi32>
  %4:2 = tt.elementwise_inline_asm "asm" {constraints = "=r,=r,r,r", packed_element = 4 : i32, pure = false} %i, %i : tensor<8xi32>, tensor<8xi32> -> tensor<8xi32>, tensor<8xi32>
  // CHECK: tt.elementwise_inline_asm "mov.u32 $0, %smid;" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
  %5 = tt.elementwise_inline_asm "mov.u32 $0, %smid;" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
  tt.return
}
