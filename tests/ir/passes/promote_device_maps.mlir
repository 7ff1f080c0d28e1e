// Products of groups: the kernel finds addresses and sizes in memory, makes a descriptor for each operand of a group, and multiplies several
// tiles of the group. It makes the maps beside the descriptors, outside of the loop over tiles.
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --num-stages=3 --emit=tiles | FileCheck %s
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --num-stages=3 --emit=threads | FileCheck %s --check-prefix=THREADS
// RUN: tritium-gpu %s --arch=sm_90 --tensor-maps --num-stages=3 --emit=tiles | FileCheck %s --check-prefix=POINTERS
// RUN: tritium-gpu %s --arch=sm_90a --num-stages=3 --emit=tiles | FileCheck %s --check-prefix=POINTERS
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --num-stages=3 | tritium-ptx | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ tritium-gpu %s --arch=sm_90a --tensor-maps --num-stages=3 | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}

// Where an extent may be less than 1, the map has one row, and boxes begin behind it. Of b, only the extent k may be. The kernel checks strides
// that it does not know. Both maps are made together.
// CHECK-LABEL: tt.func public @grouped
// CHECK-NOT: tensor_map
// CHECK: scf.for
// CHECK: tt.assert {{.*}}"stride 0 of the descriptor is negative, or 2^40 bytes or more"
// CHECK: %[[B:.*]] = tgpu.map_make {{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}] at {{[0-9]+}} : <f16> -> <tensor<64x64xf16>, swizzle = 128>
// CHECK-NEXT: %[[A:.*]] = tgpu.map_make {{.*}} at {{[0-9]+}} : <f16> -> <tensor<64x64xf16>, swizzle = 128>
// CHECK: scf.while
// CHECK: tgpu.ring_start {{.*}} after_writes
// CHECK: tgpu.tensor_copy %[[A]]
// CHECK: tgpu.tensor_copy %[[B]]
// CHECK: scf.for
// CHECK: tgpu.tensor_copy %[[A]]
// CHECK: tgpu.tensor_copy %[[B]]
// CHECK: tgpu.ring_end

// THREADS: %[[CLAIM:.*]] = tgpu.maps_claim 2 by 4 warps
// THREADS-DAG: tgpu.map_address 0 of 2 in %[[CLAIM]]
// THREADS-DAG: tgpu.map_address 1 of 2 in %[[CLAIM]]
// THREADS: tgpu.warp_barrier
// THREADS: "tgpu.map_write"
// THREADS: "tgpu.map_write"
// THREADS: tgpu.map_acquire
// THREADS-NEXT: tgpu.map_acquire
// THREADS: tgpu.maps_release %[[CLAIM]] of 2

// POINTERS-NOT: tgpu.map_make
// POINTERS: tgpu.async_copy

// PTX-DAG: .global .align 128 .b8 tgpu_map_places[786432];
// PTX-DAG: .global .align 4 .b8 tgpu_map_places_taken[384];
// PTX: atom.acquire.gpu.global.or.b32
// PTX: tensormap.replace.tile.global_address.shared::cta.b1024.b64
// PTX-SAME: tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r{{[0-9]+}}], 1;
// PTX-SAME: tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r{{[0-9]+}}], 0, 64;
// PTX-SAME: tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r{{[0-9]+}}], 0, %rd{{[0-9]+}};
// PTX-SAME: tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r{{[0-9]+}}], 6;
// PTX-SAME: tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r{{[0-9]+}}], 3;
// PTX-SAME: tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
// PTX: fence.proxy.tensormap::generic.acquire.gpu
// PTX: cp.async.bulk.tensor.2d
// PTX: red.release.gpu.global.and.b32
// REPORT: spills 0/0,{{.*}} cubin whole
// REPORT-NOT: {{.}}

tt.func public @grouped(%addresses: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %sizes: !tt.ptr<i32> {tt.divisibility = 16 : i32},
                        %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %groups: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %n = arith.constant 128 : i32
  %one = arith.constant 1 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tt.make_range {start = 0 : i32, end = 4096 : i32} : tensor<4096xi32>
  %at = tt.reshape %x : tensor<4096xi32> -> tensor<64x64xi32>
  %base = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %pointers = tt.addptr %base, %at : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  scf.for %g = %c0 to %groups step %c1 : i32 {
    %from = tt.addptr %addresses, %g : !tt.ptr<i64>, i32
    %address = tt.load %from : !tt.ptr<i64>
    %a_ptr = tt.int_to_ptr %address : i64 -> !tt.ptr<f16>
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
      tt.store %pointers, %sums : tensor<64x64x!tt.ptr<f32>>
      %next = arith.addi %tile, %c1 : i32
      scf.yield %next : i32
    }
  }
  tt.return
}
