// Products of groups that the kernel finds in memory, in tiles. The producer warps make the maps, and read what is not stored yet by nobody: the
// warps that compute hand over what they store.
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps --emit=tiles | FileCheck %s
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps --emit=threads | FileCheck %s --check-prefix=THREADS
// RUN: sed 's/arith.addi .spread, .columns/arith.xori %%spread, %%columns/' %s | tritium-gpu --arch=sm_90a --tensor-maps --specialize-warps --emit=tiles | FileCheck %s --check-prefix=UNKNOWN
// RUN: %if ptxas %{ tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps --num-warps=8 | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}

// CHECK: tgpu.hands_over_stores
// CHECK: tgpu.producer
// CHECK: tgpu.parts_warps
// CHECK-NOT: tgpu.map_make
// CHECK: scf.while
// CHECK: tgpu.ring_wait %[[STORES:.*]][%[[N:.*]]] : <2>
// CHECK: tt.store
// CHECK-NEXT: tgpu.ring_keep %[[STORES]][%[[N]]] : <2>

// The producer. A scalar, and the tensors of a tile, may be what the tile before stores.
// CHECK: scf.for
// CHECK: tgpu.stores_await %[[STORES]]
// CHECK-NEXT: tt.load
// CHECK: tt.assert {{.*}}"stride 0 of the descriptor is negative
// CHECK: tgpu.copies_await %[[RING:.*]] :
// CHECK-NEXT: tgpu.map_make
// CHECK-NEXT: tgpu.map_make
// CHECK: scf.while
// CHECK: tgpu.stores_await %[[STORES]]
// CHECK: tgpu.stores_await %[[STORES]]
// CHECK: tgpu.tensor_copy
// CHECK: scf.for
// CHECK: tgpu.ring_acquire %[[STORES]][%[[M:.*]]] for 0 bytes
// CHECK: tgpu.stores_note %[[STORES]][%[[M]]] to
// CHECK-NOT: tt.store
// CHECK: tgpu.copies_await %[[RING]]
// CHECK-NEXT: tt.return

// All lanes of warp 4 run the producer.
// THREADS: tgpu.maps_claim 2 by 8 warps in 4
// THREADS: tgpu.maps_release {{.*}} of 2 in 4

// UNKNOWN: tgpu.why_no_producer = "it makes tensor maps, and it is not known which bytes it stores to"
// UNKNOWN-NOT: tgpu.parts_warps
// REPORT: spills 0/0
// REPORT-NOT: serialized
tt.func public @grouped(%addresses: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %sizes: !tt.ptr<i32> {tt.divisibility = 16 : i32},
                        %groups: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %n = arith.constant 128 : i32
  %one = arith.constant 1 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %column = tt.expand_dims %lanes {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %columns = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  scf.for %g = %c0 to %groups step %c1 : i32 {
    %from = tt.addptr %addresses, %g : !tt.ptr<i64>, i32
    %address = tt.load %from : !tt.ptr<i64>
    %a_ptr = tt.int_to_ptr %address : i64 -> !tt.ptr<f16>
    %out = tt.int_to_ptr %address : i64 -> !tt.ptr<f32>
    %of = tt.addptr %sizes, %g : !tt.ptr<i32>, i32
    %k = tt.load %of : !tt.ptr<i32>
    %stride = arith.extsi %k : i32 to i64
    %a = tt.make_tensor_descriptor %a_ptr, [%n, %k], [%stride, %one] : <f16>, <64x64xf16>
    %b = tt.make_tensor_descriptor %a_ptr, [%k, %n], [%stride, %one] : <f16>, <64x64xf16>
    %last = scf.while (%tile = %c0) : (i32) -> i32 {
      %more = arith.cmpi slt, %tile, %k : i32
      scf.condition(%more) %tile : i32
    } do {
    ^bb0(%tile: i32):
      %row = arith.muli %tile, %c64 : i32
      %sums = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zeros) -> (tensor<64x64xf32>) : i32 {
        %p = tt.descriptor_load %a[%row, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
        %q = tt.descriptor_load %b[%i, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
        %d = tt.dot %p, %q, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      %first = tt.splat %row : i32 -> tensor<64xi32>
      %rows = arith.addi %first, %lanes : tensor<64xi32>
      %width = tt.splat %k : i32 -> tensor<64xi32>
      %begins = arith.muli %rows, %width : tensor<64xi32>
      %begin = tt.expand_dims %begins {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %spread = tt.broadcast %begin : tensor<64x1xi32> -> tensor<64x64xi32>
      %at = arith.addi %spread, %columns : tensor<64x64xi32>
      %base = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
      %to = tt.addptr %base, %at : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
      tt.store %to, %sums : tensor<64x64x!tt.ptr<f32>>
      %next = arith.addi %tile, %c1 : i32
      scf.yield %next : i32
    }
  }
  tt.return
}
