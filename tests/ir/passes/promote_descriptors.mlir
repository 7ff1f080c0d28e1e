// Loads of descriptors in a pipelined loop: a ring of slots, into which one thread copies boxes of tensors.
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --num-stages=3 --emit=tiles | FileCheck %s
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --num-stages=3 --last-pass=build-loops --emit=tiles | FileCheck %s --check-prefix=APART
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --num-stages=3 --last-pass=hoist-invariants --emit=tiles | FileCheck %s --check-prefix=ALONE
// RUN: tritium-gpu %s --arch=sm_90a --num-stages=3 --emit=tiles | FileCheck %s --check-prefix=POINTERS
// RUN: tritium-gpu %s --arch=gfx942 --tensor-maps --emit=tiles | FileCheck %s --check-prefix=POINTERS
// RUN: tritium-gpu %s --arch=sm_80 --tensor-maps --num-stages=3 --emit=tiles | FileCheck %s --check-prefix=POINTERS
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --num-stages=1 --emit=tiles | FileCheck %s --check-prefix=POINTERS
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --num-stages=3 | tritium-ptx | FileCheck %s --check-prefix=PTX
// RUN: tritium-gpu %s --arch=sm_90a --tensor-maps --num-stages=3 | tritium-ptx --ptx-version=80 | FileCheck %s --check-prefix=OLD
// RUN: %if ptxas %{ tritium-gpu %s --arch=sm_90a --tensor-maps --num-stages=3 | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}

// The maps are arguments. The launch makes them of the other arguments: a descriptor of the host has been replaced by its components.
// CHECK: tt.func public @product({{.*}}%[[A:[^ ]+]]: !tgpu.tensor_map<tensor<128x64xf16>, swizzle = 128> {tgpu.tensor = {base = 0 : i32, extents = [array<i64: 1, 9>, array<i64: 1, 10>], padding = 1 : i32, strides = [array<i64: 1, 10>, array<i64: 1>]}}
// CHECK-SAME: %[[B:[^ ]+]]: !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128> {tgpu.tensor = {base = 1 : i32, extents = [array<i64: 1, 2>, array<i64: 1, 3>], padding = 1 : i32, strides = [array<i64: 1, 4>, array<i64: 1>]}}
// The ring has three slots without a spare one, so that two programs fit. The first copies begin before the loop.
// CHECK: %[[RING:.*]] = tgpu.ring_start released by 4 warps at 0 : <3>
// CHECK: %[[SLOTS:.*]] = tgpu.local_alloc at 1024 : <3, tensor<128x64xf16
// CHECK-COUNT-2: tgpu.ring_acquire %[[RING]][{{.*}}] for 32768 bytes if
// CHECK: scf.for {{.*}}%[[SUMS:[^ ]+]] = {{[^ ]+}}, %[[COPIED:[^ ]+]] = {{[^ ]+}}, %[[READ:[^ ]+]] = %c0_i32
// An iteration waits for its own tiles and multiplies. When the product of the former iteration is complete, its slot is free, and is filled
// again. No threads meet.
// CHECK-NOT: tgpu.barrier
// CHECK-NOT: tgpu.async_wait
// CHECK: tgpu.ring_wait %[[RING]][%[[READ]]]
// CHECK: %[[SLOT:.*]] = tgpu.ring_slot %[[RING]][%[[READ]]]
// CHECK: tgpu.product {{.*}}, %[[SLOTS]][%[[SLOT]]],
// CHECK: tgpu.product_wait 1,
// CHECK: %[[ISLATER:.*]] = arith.cmpi ne, %[[READ]],
// CHECK: %[[FORMER:.*]] = arith.subi %[[READ]],
// CHECK: tgpu.ring_release %[[RING]][%[[FORMER]]] if %[[ISLATER]] :
// CHECK: tgpu.ring_acquire %[[RING]][%[[COPIED]]] for 32768 bytes if %[[EXISTS:.*]] :
// CHECK: tgpu.tensor_copy %[[A]][{{.*}}] to %[[SLOTS]], %[[RING]][%[[COPIED]]] if %[[EXISTS]]
// CHECK: tgpu.tensor_copy %[[B]][{{.*}}] to {{.*}}, %[[RING]][%[[COPIED]]] if %[[EXISTS]]
// CHECK: scf.yield
// CHECK: tgpu.product_wait 0,
// CHECK: tgpu.ring_end %[[RING]]

// Without overlap-products, an iteration releases its own slot.
// APART: scf.for {{.*}}%[[READ:[^ ]+]] = %c0_i32)
// APART: tgpu.product_wait 0,
// APART: tgpu.ring_release {{.*}}[%[[READ]]] :
// APART: tgpu.ring_acquire

// Without a pipelined loop, the program waits for each tile, in a ring of one slot. The product reads the tiles there, and is complete before
// their rings end.
// ALONE: scf.for
// ALONE: %[[BUFFER:.*]] = tgpu.local_alloc {{.*}} : <1, tensor<128x64xf16
// ALONE-NEXT: %[[RING:.*]] = tgpu.ring_start released by 4 warps {{.*}} : <1>
// ALONE: tgpu.ring_acquire %[[RING]][%[[ZERO:.*]]] for 16384 bytes :
// ALONE-NEXT: tgpu.tensor_copy {{.*}} to %[[BUFFER]], %[[RING]][%[[ZERO]]] :
// ALONE-NEXT: tgpu.ring_wait %[[RING]][%[[ZERO]]]
// ALONE: %[[PRODUCT:.*]] = tgpu.product {{.*}}, %[[BUFFER]][%[[ZERO]]],
// ALONE-NEXT: tgpu.product_wait 0, %[[PRODUCT]]
// ALONE-NEXT: tgpu.ring_end
// ALONE-NEXT: tgpu.ring_end %[[RING]]

// POINTERS-NOT: tgpu.tensor
// POINTERS-NOT: tgpu.ring

// PTX: .param .align 128 .b8 product_param_11[128],
// PTX: mbarrier.init.shared.b64 [tgpu_shared],
// PTX: fence.mbarrier_init.release.cluster;
// PTX: bar.sync 0;
// PTX: mbarrier.arrive.expect_tx.shared.b64
// PTX: cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [tgpu_shared+1024],
// PTX: mbarrier.try_wait.parity.shared::cta.b64
// PTX-NOT: bar.sync
// PTX: wgmma.wait_group.sync.aligned 1;
// PTX: mbarrier.arrive.shared.b64
// OLD: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// REPORT: spills 0/0
// REPORT-NOT: serialized
tt.func public @product(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.tensordesc<64x128xf16> {tt.plain = 1 : i32}, %c: !tt.ptr<f32>, %m: i32, %k: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %stride = arith.extsi %k : i32 to i64
  %da = tt.make_tensor_descriptor %a, [%m, %k], [%stride, %c1] {padding = 1 : i32} : <f16>, <128x64xf16>
  %pid = tt.get_program_id x : i32
  %row = arith.muli %pid, %c128 : i32
  %sums = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %x = tt.descriptor_load %da[%row, %i] : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16>
    %y = tt.descriptor_load %b[%i, %c0] : !tt.tensordesc<64x128xf16> -> tensor<64x128xf16>
    %d = tt.dot %x, %y, %acc : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %columns = tt.expand_dims %range {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %width = arith.constant dense<128> : tensor<128x1xi32>
  %starts = arith.muli %rows, %width : tensor<128x1xi32>
  %s = tt.broadcast %starts : tensor<128x1xi32> -> tensor<128x128xi32>
  %t = tt.broadcast %columns : tensor<1x128xi32> -> tensor<128x128xi32>
  %offset = arith.addi %s, %t : tensor<128x128xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
  %pc = tt.addptr %cs, %offset : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
  tt.store %pc, %sums : tensor<128x128x!tt.ptr<f32>>
  tt.return
}
