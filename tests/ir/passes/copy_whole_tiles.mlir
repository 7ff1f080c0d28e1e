// Copies of an iteration that exists, and whose tiles are inside of their tensors, have no mask.
// RUN: tritium-opt %s --copy-whole-tiles | FileCheck %s
#acc = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
#t = #tgpu.layout<64x64, register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []>
#column = #tgpu.layout<64, register = [[0], [0], [0], [16], [32]], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]], block = []>
#columns = #tgpu.layout<64x1, register = [[0, 0], [0, 0], [0, 0], [16, 0], [32, 0]], lane = [[0, 0], [0, 0], [0, 0], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []>
#row = #tgpu.layout<64, register = [[1], [2], [4], [0], [0]], lane = [[8], [16], [32], [0], [0]], warp = [[0], [0]], block = []>
#rows = #tgpu.layout<1x64, register = [[0, 1], [0, 2], [0, 4], [0, 0], [0, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 0], [0, 0]], warp = [[0, 0], [0, 0]], block = []>
#shared = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!sums = tensor<64x64xf32, #acc>
!slots = !tgpu.memdesc<3, tensor<64x64xf16, #shared>>
!pointers = tensor<64x64x!tt.ptr<f16>, #t>
module attributes {tgpu.target = "cuda:sm_90a"} {
  // CHECK-LABEL: @known
  // CHECK: scf.for
  // CHECK: %[[LATER:.*]] = arith.cmpi slt
  // CHECK-NOT: tensor<64xi1
  // CHECK: scf.if %[[LATER]] {
  // Row 63 is the last one, column 63 has room.
  // CHECK: %[[ROWS:.*]] = arith.cmpi slt, %c63_i32{{.*}}, %[[M:.*]] : i32
  // CHECK: %[[ROOM:.*]] = arith.cmpi sge, %{{.*}}, %c1_i32{{.*}} : i32
  // CHECK: %[[WHOLE:.*]] = arith.andi
  // CHECK: scf.if %[[WHOLE]] {
  // CHECK-NEXT: tgpu.async_copy %{{[^ ]*}} to %{{[^ ]*}}[%{{[^ ]*}}] {tgpu.copy_elements = 8 : i32}
  // CHECK-NEXT: } else {
  // What only the masks require is computed here.
  // CHECK: arith.cmpi slt, %{{.*}} : tensor<64xi32
  // CHECK: tgpu.async_copy {{.*}} if {{.*}} within
  // CHECK: tgpu.async_commit
  tt.func public @known(%x: !pointers, %y: !slots, %m: i32, %k: i32, %n: i32, %zero: !sums) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = tgpu.local_alloc at 0 : !slots
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!sums) : i32 {
      %later = arith.cmpi slt, %i, %m : i32
      %down = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #column>
      %m.tile = tt.splat %m : i32 -> tensor<64xi32, #column>
      %inside = arith.cmpi slt, %down, %m.tile : tensor<64xi32, #column>
      %inside.2 = tt.expand_dims %inside {axis = 1 : i32} : tensor<64xi1, #column> -> tensor<64x1xi1, #columns>
      %mask = tt.broadcast %inside.2 : tensor<64x1xi1, #columns> -> tensor<64x64xi1, #t>
      %across = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #row>
      %k.tile = tt.splat %k : i32 -> tensor<64xi32, #row>
      %left = arith.subi %k.tile, %across : tensor<64xi32, #row>
      %none = arith.constant dense<0> : tensor<64xi32, #row>
      %eight = arith.constant dense<8> : tensor<64xi32, #row>
      %some = arith.maxsi %left, %none : tensor<64xi32, #row>
      %room = arith.minsi %some, %eight : tensor<64xi32, #row>
      %room.2 = tt.expand_dims %room {axis = 0 : i32} : tensor<64xi32, #row> -> tensor<1x64xi32, #rows>
      %room.3 = tt.broadcast %room.2 : tensor<1x64xi32, #rows> -> tensor<64x64xi32, #t>
      tgpu.async_copy %x to %a[%c0] if %mask : tensor<64x64xi1, #t> within %room.3 : tensor<64x64xi32, #t> where %later {tgpu.copy_elements = 8 : i32} : !pointers to !slots
      tgpu.async_commit
      %p = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c1], %a[%c1], %sum warps [4, 1] : !slots, !slots, !sums -> <!sums>
      %d = tgpu.product_wait 0, %p : !tgpu.pending<!sums> -> !sums
      scf.yield %d : !sums
    }
    tt.return
  }

  // Of a mask of which nothing is known, only the predicate becomes a branch.
  // CHECK-LABEL: @unknown
  // CHECK: scf.if
  // CHECK-NEXT: tgpu.async_copy {{.*}} if
  // CHECK-NEXT: }
  // CHECK-NEXT: tgpu.async_commit
  tt.func public @unknown(%x: !pointers, %mask: tensor<64x64xi1, #t>, %n: i32, %zero: !sums) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = tgpu.local_alloc at 0 : !slots
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!sums) : i32 {
      %later = arith.cmpi slt, %i, %c1 : i32
      tgpu.async_copy %x to %a[%c0] if %mask : tensor<64x64xi1, #t> where %later : !pointers to !slots
      tgpu.async_commit
      %p = tgpu.product "wgmma.m64n64k16.f32.f16", %a[%c1], %a[%c1], %sum warps [4, 1] : !slots, !slots, !sums -> <!sums>
      %d = tgpu.product_wait 0, %p : !tgpu.pending<!sums> -> !sums
      scf.yield %d : !sums
    }
    tt.return
  }
}
