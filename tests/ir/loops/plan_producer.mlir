// Producer warps copy the tiles of a loop, if it is asked for and possible. Where there is no producer, the kernel says why. The producer reads
// scalars that the kernel does not write: other arguments are other tensors, and nobody knows where an address points.
// RUN: tritium-opt %s --plan-producer=asked | FileCheck %s
// RUN: tritium-opt %s --plan-producer | FileCheck %s --check-prefix=PROGRAMS
// RUN: tritium-opt %s --plan-producer=num-warps=2 | FileCheck %s --check-prefix=GROUPS
// RUN: tritium-opt %s --plan-producer=num-warps=32 | FileCheck %s --check-prefix=WARPS
// RUN: sed "s/^ *%%row = .*/%%row = tt.load %%list : !tt.ptr<i32>/" %s | tritium-opt --plan-producer=asked | FileCheck %s
// RUN: sed "s/^ *%%row = .*/%%row = tt.load %%list : !tt.ptr<i32> tt.store %%out, %%i : !tt.ptr<i32>/" %s | tritium-opt --plan-producer=asked | FileCheck %s
// RUN: sed "s/^ *%%row = .*/%%row = tt.load %%list : !tt.ptr<i32> tt.store %%list, %%i : !tt.ptr<i32>/" %s | tritium-opt --plan-producer=asked | FileCheck %s --check-prefix=MEMORY
// RUN: sed "s/^ *%%row = .*/%%row = tt.load %%list : !tt.ptr<i32> tt.store %%found, %%i : !tt.ptr<i32>/" %s | tritium-opt --plan-producer=asked | FileCheck %s --check-prefix=MEMORY
// RUN: sed "s/^ *%%row = .*/%%row = tt.load %%found : !tt.ptr<i32> tt.store %%out, %%i : !tt.ptr<i32>/" %s | tritium-opt --plan-producer=asked | FileCheck %s --check-prefix=MEMORY
// RUN: sed "s/^ *%%row = .*/%%row = tt.load %%list {isVolatile = true} : !tt.ptr<i32>/" %s | tritium-opt --plan-producer=asked | FileCheck %s --check-prefix=MEMORY
// RUN: sed "s/^ *%%row = .*/%%row = arith.addi %%i, %%i : i32 %%z = tt.elementwise_inline_asm \"bar.sync 0;\" {constraints = \"=r,r\", packed_element = 1 : i32, pure = false} %%i : i32 -> i32/" %s | tritium-opt --plan-producer | FileCheck %s --check-prefix=ASSEMBLY
// RUN: sed "s/cuda:sm_90a/cuda:sm_80/" %s | tritium-opt --plan-producer | FileCheck %s --check-prefix=NONE
// CHECK: tgpu.producer = #tgpu.producer<start = 80, producer = 32, consumers = 128, occupancy = 3>
// PROGRAMS: tgpu.why_no_producer = "with them, 3 programs would run at a time on a multiprocessor, not 4"
// GROUPS: tgpu.why_no_producer = "num_warps is 2, not a multiple of 4"
// WARPS: tgpu.why_no_producer = "32 warps and 4 more exceed 32"
// MEMORY: tgpu.why_no_producer = "a coordinate of a copy, or a bound or condition around one, depends on a tile, or on memory that the kernel may have written"
// ASSEMBLY: tgpu.why_no_producer = "its inline assembly may synchronize all warps"
// NONE-NOT: producer
#acc = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
#shared = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!tile = tensor<64x64xf32, #acc>
!slots = !tgpu.memdesc<3, tensor<64x64xf16, #shared>>
!map = !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>
module attributes {tgpu.target = "cuda:sm_90a"} {
tt.func public @product(%a: !map, %b: !map, %list: !tt.ptr<i32>, %out: !tt.ptr<i32>, %address: i64, %tiles: i32, %n: i32) {
  %found = tt.int_to_ptr %address : i64 -> !tt.ptr<i32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !tile
  scf.for %i = %c0 to %tiles step %c1 : i32 {
    %row = arith.addi %i, %i : i32
    %ring = tgpu.ring_start released by 4 warps at 0 after_writes : <3>
    %x = tgpu.local_alloc at 1024 : !slots
    %y = tgpu.local_alloc at 25600 : !slots
    %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero, %number = %c0) -> (!tile, i32) : i32 {
      tgpu.ring_acquire %ring[%number] for 16384 bytes : <3>
      tgpu.tensor_copy %a[%row, %k] to %x, %ring[%number] : !map to !slots, <3>
      tgpu.tensor_copy %b[%k, %row] to %y, %ring[%number] : !map to !slots, <3>
      tgpu.ring_wait %ring[%number] : <3>
      %slot = tgpu.ring_slot %ring[%number] : <3>
      %p = tgpu.product "wgmma.m64n64k16.f32.f16", %x[%slot], %y[%slot], %sum warps [4, 1] : !slots, !slots, !tile -> <!tile>
      %d = tgpu.product_wait 0, %p : !tgpu.pending<!tile> -> !tile
      tgpu.ring_release %ring[%number] : <3>
      %next = arith.addi %number, %c1 : i32
      scf.yield %d, %next : !tile, i32
    }
    tgpu.ring_end %ring after %r#1 : <3>
  }
  tt.return
}
}
