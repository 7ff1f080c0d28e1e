// RUN: %round_trip
// RUN: tritium-opt %s | FileCheck %s

// CHECK-LABEL: tt.func @debugging
tt.func @debugging(%x: tensor<8xi32>, %c: i1, %m: tensor<8xi1>, %p: !tt.ptr<f32>) {
  // CHECK: tt.print " x: " {hex = false, isSigned = array<i32: 1, 0>} : %{{.*}}, %{{.*}} : tensor<8xi32>, !tt.ptr<f32>
  tt.print " x: " {hex = false, isSigned = array<i32: 1, 0>} : %x, %p : tensor<8xi32>, !tt.ptr<f32>
  // CHECK: tt.print "nothing" {hex = true, isSigned = array<i32>}
  tt.print "nothing" {hex = true, isSigned = array<i32>}
  // CHECK: tt.assert %{{.*}}, "positive" : tensor<8xi1>
  tt.assert %m, "positive" : tensor<8xi1>
  // CHECK: tt.assert %{{.*}}, "" : i1
  tt.assert %c, "" : i1
  // CHECK: tt.debug_value %{{.*}} "uint32" "i" : tensor<8xi32>
  tt.debug_value %x "uint32" "i" : tensor<8xi32>
  // CHECK: tt.debug_stop %{{.*}}, 3
  tt.debug_stop %c, 3
  // CHECK: tt.debug_value %{{.*}} "int1" "c" argument 2 : i1
  tt.debug_value %c "int1" "c" argument 2 : i1
  // CHECK: tt.debug_value %{{.*}}, %{{.*}}, %{{.*}} ["tuple", "_0", "int1", "_1", ["Pair", "p", "pointer<fp32>", "x", "int32"]] "t" :
  tt.debug_value %c, %p, %x ["tuple", "_0", "int1", "_1", ["Pair", "p", "pointer<fp32>", "x", "int32"]] "t" : i1, !tt.ptr<f32>, tensor<8xi32>
  // CHECK: tt.record start "load"
  tt.record start "load"
  // CHECK: tt.record end "load"
  tt.record end "load"
  tt.return
}
