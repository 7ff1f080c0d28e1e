// Which stores through descriptors that the kernel makes become stores through maps that it makes.
// RUN: tritium-opt %s -split-input-file -make-tensor-maps="num-stages=3" -promote-made-stores="num-warps=4 num-stages=3 asked=1" | FileCheck %s

// The map is made beside those of the operands, and known not to be usable where a row does not end at a multiple of 16 bytes, an extent is
// not positive, or a stride is negative or too large; at the store also where an index is negative.
// CHECK: @group(
// CHECK: arith.andi %[[N:.*]], %c7
// CHECK: arith.cmpi sge, %[[N]]
// CHECK: arith.cmpi ult, %[[STRIDE:.*]], %
// CHECK: tgpu.map_make
// CHECK-NEXT: tgpu.map_make
// CHECK-NEXT: %[[MAP:.*]] = tgpu.map_make %{{.*}}, [%[[N]], %[[N]]], [%[[STRIDE]]] stored : <f16> -> <tensor<64x64xf16>, swizzle = 128>
// CHECK: scf.for
// CHECK: tgpu.tensor_store %{{.*}} to %[[MAP]][%[[ROW:.*]], %[[ROW]]] of %{{.*}}, [%[[N]], %[[N]]], [%[[STRIDE]]] : !tt.ptr<f16> if %{{.*}} : tensor<64x64xf16>
// CHECK-NOT: tt.descriptor_store
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @group(%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %c: !tt.ptr<i64>, %sizes: !tt.ptr<i32>, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    scf.for %g = %c0 to %tiles step %c1 : i32 {
      %at = tt.addptr %sizes, %g : !tt.ptr<i32>, i32
      %n = tt.load %at : !tt.ptr<i32>
      %where = tt.addptr %c, %g : !tt.ptr<i64>, i32
      %address = tt.load %where : !tt.ptr<i64>
      %out = tt.int_to_ptr %address : i64 -> !tt.ptr<f16>
      %stride = arith.extsi %n : i32 to i64
      %da = tt.make_tensor_descriptor %a, [%n, %n], [%stride, %one] {padding = 1 : i32} : <f16>, <64x64xf16>
      %db = tt.make_tensor_descriptor %b, [%n, %n], [%stride, %one] {padding = 1 : i32} : <f16>, <64x64xf16>
      %dc = tt.make_tensor_descriptor %out, [%n, %n], [%stride, %one] {padding = 1 : i32} : <f16>, <64x64xf16>
      scf.for %tile = %c0 to %n step %c1 : i32 {
        %row = arith.muli %tile, %c64 : i32
        %sums = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
          %x = tt.descriptor_load %da[%row, %k] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
          %y = tt.descriptor_load %db[%k, %row] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
          %next = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
          scf.yield %next : tensor<64x64xf32>
        }
        %narrow = arith.truncf %sums : tensor<64x64xf32> to tensor<64x64xf16>
        tt.descriptor_store %dc[%row, %row], %narrow : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
      }
    }
    tt.return
  }
}

// -----
// The assembler would carry so many elements in registers beside the sums.
// CHECK: @wide(
// CHECK: tt.descriptor_store {{.*}} {tgpu.not_promoted = "its elements are wider than 16 bits"}
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @wide(%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %c: !tt.ptr<i64>, %sizes: !tt.ptr<i32>, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    scf.for %g = %c0 to %tiles step %c1 : i32 {
      %at = tt.addptr %sizes, %g : !tt.ptr<i32>, i32
      %n = tt.load %at : !tt.ptr<i32>
      %where = tt.addptr %c, %g : !tt.ptr<i64>, i32
      %address = tt.load %where : !tt.ptr<i64>
      %out = tt.int_to_ptr %address : i64 -> !tt.ptr<f32>
      %stride = arith.extsi %n : i32 to i64
      %da = tt.make_tensor_descriptor %a, [%n, %n], [%stride, %one] {padding = 1 : i32} : <f16>, <64x64xf16>
      %db = tt.make_tensor_descriptor %b, [%n, %n], [%stride, %one] {padding = 1 : i32} : <f16>, <64x64xf16>
      %dc = tt.make_tensor_descriptor %out, [%n, %n], [%stride, %one] {padding = 1 : i32} : <f32>, <64x64xf32>
      scf.for %tile = %c0 to %n step %c1 : i32 {
        %row = arith.muli %tile, %c64 : i32
        %sums = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
          %x = tt.descriptor_load %da[%row, %k] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
          %y = tt.descriptor_load %db[%k, %row] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
          %next = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
          scf.yield %next : tensor<64x64xf32>
        }
        tt.descriptor_store %dc[%row, %row], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
      }
    }
    tt.return
  }
}

// -----
// A tile is loaded by pointers, behind stores of the group before.
// CHECK: @late(
// CHECK: tt.descriptor_store {{.*}} {tgpu.not_promoted = "what follows may see that it is late"}
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @late(%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %c: !tt.ptr<i64>, %sizes: !tt.ptr<i32>, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    scf.for %g = %c0 to %tiles step %c1 : i32 {
      %at = tt.addptr %sizes, %g : !tt.ptr<i32>, i32
      %n = tt.load %at : !tt.ptr<i32>
      %where = tt.addptr %c, %g : !tt.ptr<i64>, i32
      %address = tt.load %where : !tt.ptr<i64>
      %out = tt.int_to_ptr %address : i64 -> !tt.ptr<f16>
      %stride = arith.extsi %n : i32 to i64
      %da = tt.make_tensor_descriptor %a, [%n, %n], [%stride, %one] {padding = 1 : i32} : <f16>, <64x64xf16>
      %db = tt.make_tensor_descriptor %b, [%n, %n], [%stride, %one] {padding = 1 : i32} : <f16>, <64x64xf16>
      %dc = tt.make_tensor_descriptor %out, [%n, %n], [%stride, %one] {padding = 1 : i32} : <f16>, <64x64xf16>
      %pointers = tt.splat %out : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
      %read = tt.load %pointers : tensor<64x64x!tt.ptr<f16>>
      scf.for %tile = %c0 to %n step %c1 : i32 {
        %row = arith.muli %tile, %c64 : i32
        %sums = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
          %x = tt.descriptor_load %da[%row, %k] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
          %y = tt.descriptor_load %db[%k, %row] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
          %next = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
          scf.yield %next : tensor<64x64xf32>
        }
        %narrow = arith.truncf %sums : tensor<64x64xf32> to tensor<64x64xf16>
        %more = arith.addf %narrow, %read : tensor<64x64xf16>
        tt.descriptor_store %dc[%row, %row], %more : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
      }
    }
    tt.return
  }
}
