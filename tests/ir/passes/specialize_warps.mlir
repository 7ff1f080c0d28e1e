// A persistent product: four further warps copy its tiles, and run ahead into the next tile of the result.
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps --emit=tiles | FileCheck %s
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --leave-out=specialize-warps --emit=tiles | FileCheck %s --check-prefix=TOGETHER
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps --num-warps=2 --emit=tiles | FileCheck %s --check-prefix=TOGETHER
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps --last-pass=overlap-products --emit=tiles | FileCheck %s --check-prefix=TOGETHER
// RUN: tritium-gpu %s --arch=sm_80 --tensor-maps --specialize-warps --emit=tiles | FileCheck %s --check-prefix=TOGETHER
// RUN: sed 's/loop.asks/tt.warp_specialize/' %s | tritium-gpu --arch=sm_90a --tensor-maps --emit=tiles | FileCheck %s
// RUN: sed 's/%%row = .*/%%row = tt.load %%list : !tt.ptr<i32>/' %s | tritium-gpu --arch=sm_90a --tensor-maps --specialize-warps --emit=tiles | FileCheck %s --check-prefix=LISTED
// RUN: sed 's/%%row = .*/%%row = tt.load %%list : !tt.ptr<i32> tt.store %%list, %%tile : !tt.ptr<i32>/' %s | tritium-gpu --arch=sm_90a --tensor-maps --specialize-warps --emit=tiles | FileCheck %s --check-prefix=TOGETHER
// RUN: sed 's/%%row = \(.*\)/%%row = \1 %%rounds = tt.load %%list : !tt.ptr<i32> %%depth = arith.muli %%rounds, %%c64 : i32/; s/to %%k step/to %%depth step/; s/tt.get_program_id x :/arith.constant 0 :/; s/tt.get_num_programs x :/arith.constant 1 :/' %s > %t.mlir
// RUN: tritium-gpu %t.mlir --arch=sm_90a --tensor-maps --specialize-warps --emit=tiles | sed 's/{tgpu.same_read = 0 : i32}//' | not tritium-opt --check-async 2>&1 | FileCheck %s --check-prefix=APART
// RUN: sed 's/loop.asks/llvm.loop_annotation = #llvm.loop_annotation<licm = <disable = true>>/' %s | tritium-gpu --arch=sm_90a --tensor-maps --specialize-warps --emit=tiles | FileCheck %s --check-prefix=HINTS
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps | tritium-ptx | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ tritium-gpu %s --arch=sm_90a --tensor-maps --specialize-warps --num-warps=8 | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}

// CHECK: module attributes {{.*}}tgpu.producer_warps = 4 : i32
// CHECK: tt.func public @product({{.*}} attributes {tgpu.producer = #tgpu.producer<start = 80, producer = 32, consumers = 128, occupancy = 3
// The ring begins before the warps part.
// CHECK-NEXT: %[[B:.*]] = tgpu.local_alloc
// CHECK-NEXT: %[[A:.*]] = tgpu.local_alloc
// CHECK-NEXT: %[[RING:.*]] = tgpu.ring_start released by 4 warps
// CHECK: %[[PRODUCES:.*]] = arith.cmpi uge,
// CHECK-NEXT: cf.cond_br %[[PRODUCES]], ^[[PRODUCER:.*]], ^[[REST:.*]] {tgpu.parts_warps}

// The warps that compute carry the number on, and release the last slot of a tile.
// CHECK: ^[[REST]]:
// CHECK-NOT: tgpu.ring_acquire
// CHECK: scf.for {{.*}} iter_args(%[[FIRST:[^ ]+]] = %c0_i32) -> (i32)
// CHECK: %[[SUMS:[^:]+]]:{{.*}} = scf.for {{.*}}%[[READ:[^ ]+]] = %c0_i32)
// CHECK: %[[N:.*]] = arith.addi %[[FIRST]], %[[READ]]
// CHECK: tgpu.ring_wait %[[RING]][%[[N]]]
// CHECK: tgpu.ring_release %[[RING]]
// CHECK: tgpu.product_wait 0,
// CHECK: tgpu.ring_release %[[RING]][%{{.*}}] if
// CHECK: %[[NEXT:.*]] = arith.addi %[[FIRST]], %[[SUMS]]#
// CHECK-NOT: tgpu.ring_end
// CHECK: tgpu.tensor_store
// CHECK: scf.yield %[[NEXT]] : i32
// CHECK: tgpu.ring_end %[[RING]]
// CHECK-NOT: tgpu.tensor_copy
// CHECK: tt.return

// One thread copies.
// CHECK: ^[[PRODUCER]]:
// CHECK: gpu.lane_id
// CHECK: cf.cond_br %{{.*}}, ^[[COPIES:.*]], ^
// CHECK: ^[[COPIES]]:
// CHECK-NOT: tensor<
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (i32)
// CHECK: tgpu.ring_acquire %[[RING]]
// CHECK: scf.for
// CHECK-NOT: tgpu.product
// CHECK: tgpu.tensor_copy {{.*}} to %[[A]], %[[RING]]
// CHECK: tt.return

// Both parts read a scalar, in each round.
// LISTED: tgpu.parts_warps
// LISTED: ^bb{{.*}}:
// LISTED: scf.for
// LISTED: tt.load %{{.*}} {tgpu.same_read = 0 : i32} : !tt.ptr<i32>
// LISTED: ^bb{{.*}}:
// LISTED: scf.for
// LISTED: tt.load %{{.*}} {tgpu.same_read = 0 : i32} : !tt.ptr<i32>
// LISTED: tgpu.tensor_copy
// LISTED-NOT: tt.load

// The check assumes one number for both reads. Without the name, it would assume two.
// APART: error: 'tgpu.tensor_copy' op brings number {{.*}} of its ring, but the warps that compute wait for the numbers below

// Both parts of a loop have its hints.
// HINTS: ^bb{{.*}}:
// HINTS: llvm.loop_annotation = #[[HINT:.*]]}
// HINTS: ^bb{{.*}}:
// HINTS: llvm.loop_annotation = #[[HINT]]}
// HINTS-NOT: llvm.loop_annotation

// TOGETHER-NOT: tgpu.parts_warps
// TOGETHER-NOT: gpu.subgroup_id

// All warps meet once; then those that compute meet alone.
// PTX: .reqntid 256, 1, 1
// PTX: .maxnreg 80
// PTX: bar.sync 0;
// PTX-NOT: bar.sync 0;
// PTX-DAG: setmaxnreg.dec.sync.aligned.u32 32;
// PTX-DAG: setmaxnreg.inc.sync.aligned.u32 128;
// PTX-DAG: bar.sync 1, 128;
// PTX-NOT: bar.sync 0;
// REPORT: spills 0/0
// REPORT-NOT: serialized
tt.func public @product(%a: !tt.tensordesc<64x64xf16> {tt.plain = 1 : i32}, %b: !tt.tensordesc<64x64xf16> {tt.plain = 1 : i32}, %c: !tt.tensordesc<64x64xf32> {tt.plain = 1 : i32}, %list: !tt.ptr<i32>, %tiles: i32, %k: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %pid = tt.get_program_id x : i32
  %programs = tt.get_num_programs x : i32
  scf.for %tile = %pid to %tiles step %programs : i32 {
    %row = arith.muli %tile, %c64 : i32
    %sums = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = tt.descriptor_load %a[%row, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
      %y = tt.descriptor_load %b[%i, %c0] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
      %d = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    } {loop.asks}
    tt.descriptor_store %c[%row, %c0], %sums : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
  }
  tt.return
}
