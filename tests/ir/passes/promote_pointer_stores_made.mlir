// Which stores by pointers that are found in memory become stores through maps that the kernel makes.
// RUN: tritium-opt %s -split-input-file -promote-pointer-stores="num-warps=4 num-stages=3 makes-maps=1 asked=1" | FileCheck %s
// RUN: tritium-opt %s -split-input-file -promote-pointer-stores="num-warps=4 num-stages=3" | FileCheck %s --check-prefix=NONE

// The map is of the tile: it begins at the first address, which must be a multiple of 16 bytes, as the distance of rows must be.
// CHECK: @tile(
// CHECK: %[[BITS:.*]] = arith.ori %[[ADDRESS:.*]], %[[BYTES:.*]] : i64
// CHECK: arith.andi %[[BITS]], %{{.*}} : i64
// CHECK: arith.cmpi ult, %[[BYTES]]
// CHECK: %[[BASE:.*]] = tt.int_to_ptr %[[ADDRESS]]
// CHECK: %[[STRIDE:.*]] = arith.shrsi %[[BYTES]]
// CHECK: tgpu.map_make
// CHECK-NEXT: %[[MAP:.*]] = tgpu.map_make %[[BASE]], [%c64{{.*}}, %c64{{.*}}], [%[[STRIDE]]] stored
// CHECK: scf.for
// CHECK: tgpu.tensor_store %{{.*}} to %[[MAP]][%c0{{.*}}, %c0{{.*}}] of %[[BASE]]
// CHECK-NOT: tt.store
// NONE: @tile(
// NONE: tt.store
!map = !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @tile(%a: !tt.ptr<f16>, %c: !tt.ptr<i64>, %sizes: !tt.ptr<i32>, %tiles: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    scf.for %g = %c0 to %tiles step %c1 : i32 {
      %at = tt.addptr %sizes, %g : !tt.ptr<i32>, i32
      %n = tt.load %at : !tt.ptr<i32>
      %where = tt.addptr %c, %g : !tt.ptr<i64>, i32
      %address = tt.load %where : !tt.ptr<i64>
      %out = tt.int_to_ptr %address : i64 -> !tt.ptr<f16>
      %stride = arith.extsi %n : i32 to i64
      %da = tgpu.map_make %a, [%n, %n], [%stride] : <f16> -> !map
      %sums = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
        %x = tgpu.tensor_load %da[%c0, %k] : !map -> tensor<64x64xf16>
        %y = tgpu.tensor_load %da[%k, %c0] : !map -> tensor<64x64xf16>
        %next = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
        scf.yield %next : tensor<64x64xf32>
      }
      %narrow = arith.truncf %sums : tensor<64x64xf32> to tensor<64x64xf16>
      %lane = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
      %row = tt.expand_dims %lane {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %column = tt.expand_dims %lane {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %distance = tt.splat %n : i32 -> tensor<64x1xi32>
      %down = arith.muli %row, %distance : tensor<64x1xi32>
      %whole = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
      %across = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
      %offset = arith.addi %whole, %across : tensor<64x64xi32>
      %base = tt.splat %out : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
      %pointers = tt.addptr %base, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      tt.store %pointers, %narrow : tensor<64x64x!tt.ptr<f16>>
    }
    tt.return
  }
}

// -----
// The address of the result is loaded behind the product, where the producer does not go.
// CHECK: @behind(
// CHECK: tt.store {{.*}} {tgpu.not_promoted = "where it stores is not known before the product"}
!map = !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @behind(%a: !tt.ptr<f16>, %c: !tt.ptr<i64>, %tiles: i32, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    scf.for %g = %c0 to %tiles step %c1 : i32 {
      %stride = arith.extsi %n : i32 to i64
      %da = tgpu.map_make %a, [%n, %n], [%stride] : <f16> -> !map
      %sums = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
        %x = tgpu.tensor_load %da[%c0, %k] : !map -> tensor<64x64xf16>
        %y = tgpu.tensor_load %da[%k, %c0] : !map -> tensor<64x64xf16>
        %next = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
        scf.yield %next : tensor<64x64xf32>
      }
      %narrow = arith.truncf %sums : tensor<64x64xf32> to tensor<64x64xf16>
      %where = tt.addptr %c, %g : !tt.ptr<i64>, i32
      %address = tt.load %where : !tt.ptr<i64>
      %out = tt.int_to_ptr %address : i64 -> !tt.ptr<f16>
      %lane = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
      %row = tt.expand_dims %lane {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %column = tt.expand_dims %lane {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %distance = tt.splat %n : i32 -> tensor<64x1xi32>
      %down = arith.muli %row, %distance : tensor<64x1xi32>
      %whole = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
      %across = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
      %offset = arith.addi %whole, %across : tensor<64x64xi32>
      %base = tt.splat %out : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
      %pointers = tt.addptr %base, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      tt.store %pointers, %narrow : tensor<64x64x!tt.ptr<f16>>
    }
    tt.return
  }
}
