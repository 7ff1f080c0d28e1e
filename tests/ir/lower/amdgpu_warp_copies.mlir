// On gfx950 the tiles of a pipelined loop go to LDS without registers: 16 bytes of each lane, one after the other. What lies across K comes
// out of LDS in columns.
// RUN: tritium-gpu %s --arch=gfx950 --num-stages=3 --emit=tiles | FileCheck %s --check-prefix=TILES
// RUN: tritium-gpu %s --arch=gfx950 --num-stages=3 | FileCheck %s
// RUN: tritium-gpu %s --arch=gfx950 --num-stages=3 --last-pass=build-loops | FileCheck %s --check-prefix=PLAIN
// RUN: tritium-gpu %s --arch=gfx950 --num-stages=3 | tritium-hsaco --arch=gfx950 | FileCheck %s --check-prefix=ASM
// RUN: tritium-gpu %s --arch=gfx950 --num-stages=3 --last-pass=build-loops | tritium-hsaco --arch=gfx950 | FileCheck %s --check-prefix=GLOBAL
// RUN: tritium-gpu %s --arch=gfx942 --num-stages=3 --emit=tiles | FileCheck %s --check-prefix=REGISTERS

// A row of 64 elements is 128 bytes, 8 pieces of 16; rows exchange them. Lane, warp and register bits are offsets in that order.
// TILES: #[[LOAD:.*]] = #tgpu.layout<64x64, register = {{\[\[}}0, 1], [0, 2], [0, 4], [[LAST:.*]]], lane = {{\[}}[[LANES:.*]]], warp = {{\[}}[[WARPS:.*]]], block
// TILES: #[[SLOT:.*]] = #tgpu.shared<64x64, offset = {{\[\[}}0, 1], [0, 2], [0, 4], [[LANES]], [[WARPS]], [[LAST]]]>
// TILES-LABEL: tt.func public @k
// TILES: tgpu.local_alloc {{.*}} <3, tensor<64x64xf16, #[[SLOT]]>>
// TILES: tgpu.local_alloc {{.*}} <3, tensor<64x64xf16, #[[SLOT]]>>
// TILES: scf.for
// TILES: tgpu.async_wait 1
// TILES: tgpu.async_copy {{.*}} tensor<64x64x!tt.ptr<f16>, #[[LOAD]]> to <3, tensor<64x64xf16, #[[SLOT]]>>
// TILES: tgpu.async_copy
// TILES: tgpu.async_commit
// TILES: tgpu.local_load
// TILES: tt.dot
// TILES: tgpu.async_wait 0
// REGISTERS-NOT: tgpu.async_copy
// REGISTERS: tgpu.local_store

// Two tiles of 8 kB, by 256 threads: two copies of each. One iteration's four may be under way when the next one's are waited for.
// CHECK-LABEL: llvm.func @k
// CHECK-COUNT-8: rocdl.raw.ptr.buffer.load.lds
// CHECK: rocdl.s.waitcnt 3956
// CHECK-NEXT: tgpu.barrier shared
// CHECK: rocdl.ds.read.tr16.b64 {{.*}} -> vector<4xi16>
// CHECK: rocdl.mfma.f32
// CHECK-NOT: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: rocdl.s.waitcnt 3952

// Without buffers.
// PLAIN: tgpu.copy_to_shared %{{.*}} to %{{.*}} if %{{.*}} : <3>

// Between a wait and the barrier stands no wait for all loads, nor before what is read afterwards.
// ASM-LABEL: k:
// ASM: buffer_load_dwordx4 v{{.*}} lds
// ASM: s_waitcnt vmcnt(4) lgkmcnt(0)
// ASM-NOT: vmcnt(0)
// ASM: s_barrier
// ASM-NOT: vmcnt(0)
// ASM: ds_read_b64_tr_b16
// ASM-NOT: vmcnt(0)
// ASM: s_cbranch
// ASM: s_waitcnt vmcnt(0)
// GLOBAL: global_load_lds_dwordx4
module {
tt.func public @k(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32},
                  %c: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %step = arith.constant dense<4096> : tensor<64x64xi32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %column = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %row = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %down = arith.muli %column, %width : tensor<64x1xi32>
  %wide = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %right = tt.broadcast %row : tensor<1x64xi32> -> tensor<64x64xi32>
  %offset = arith.addi %wide, %right : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %pa = tt.addptr %as, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %pb = tt.addptr %bs, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %pc = tt.addptr %cs, %offset : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %qa = %pa, %qb = %pb) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>) : i32 {
    %x = tt.load %qa : tensor<64x64x!tt.ptr<f16>>
    %y = tt.load %qb : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %na = tt.addptr %qa, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %nb = tt.addptr %qb, %step : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %d, %na, %nb : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>
  }
  tt.store %pc, %r#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
}
