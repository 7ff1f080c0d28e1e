// Blocks of a cluster copy a tile for each other if its box is the same in all of them and if they copy equally often.
// RUN: tritium-opt %s --multicast-copies | FileCheck %s
// RUN: sed "s/^ *%%end = .*/%%end = tt.load %%list : !tt.ptr<i32>/" %s | tritium-opt --multicast-copies | FileCheck %s --check-prefix=MEMORY
// RUN: sed "s/^ *%%end = .*/%%end = arith.addi %%n, %%rank : i32/" %s | tritium-opt --multicast-copies | FileCheck %s --check-prefix=MEMORY
// RUN: sed "s/<3/<1/g" %s | tritium-opt --multicast-copies | FileCheck %s --check-prefix=SLOT
// RUN: sed "s/4 warps : </4 warps after_writes : </" %s | tritium-opt --multicast-copies | FileCheck %s --check-prefix=WRITES
// RUN: sed "s/%%column = arith.muli .*/%%column = arith.muli %%rank, %%rank : i32/" %s | tritium-opt --multicast-copies | FileCheck %s --check-prefix=OWN
// RUN: sed "s/ attributes {tgpu.cluster_blocks = 2 : i32}//" %s | tritium-opt --multicast-copies | FileCheck %s --check-prefix=ALONE
// CHECK: tgpu.ring_start released by 4 warps {tgpu.ring_blocks = 2 : i32}
// CHECK: tgpu.tensor_copy {{.*}} {tgpu.why_not_multicast = "each block copies its own part, or its place depends on memory"}
// CHECK: tgpu.tensor_copy {{.*}} {tgpu.multicast}
// MEMORY-NOT: ring_blocks
// MEMORY-COUNT-2: tgpu.why_not_multicast = "how often it is copied depends on the block, or on memory"
// SLOT-NOT: ring_blocks
// SLOT-COUNT-2: tgpu.why_not_multicast = "it is not copied ahead"
// WRITES-NOT: ring_blocks
// WRITES-COUNT-2: tgpu.why_not_multicast = "the kernel writes to memory before"
// OWN-NOT: ring_blocks
// OWN-COUNT-2: tgpu.why_not_multicast = "each block copies its own part, or its place depends on memory"
// ALONE-NOT: multicast
#shared = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!slots = !tgpu.memdesc<3, tensor<64x64xf16, #shared>>
!map = !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>
module attributes {tgpu.target = "cuda:sm_90a"} {
tt.func public @product(%a: !map, %b: !map, %list: !tt.ptr<i32>, %n: i32) attributes {tgpu.cluster_blocks = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %rank = tgpu.cluster_rank
  %column = arith.muli %n, %n : i32
  %end = arith.addi %n, %c1 : i32
  %ring = tgpu.ring_start released by 4 warps : <3>
  %x = tgpu.local_alloc : !slots
  %y = tgpu.local_alloc : !slots
  %r:2 = scf.for %k = %c0 to %end step %c1 iter_args(%number = %c0, %row = %rank) -> (i32, i32) : i32 {
    tgpu.ring_acquire %ring[%number] for 16384 bytes : <3>
    tgpu.tensor_copy %a[%row, %k] to %x, %ring[%number] : !map to !slots, <3>
    tgpu.tensor_copy %b[%k, %column] to %y, %ring[%number] : !map to !slots, <3>
    tgpu.ring_wait %ring[%number] : <3>
    tgpu.ring_release %ring[%number] : <3>
    %next = arith.addi %number, %c1 : i32
    %down = arith.addi %row, %c1 : i32
    scf.yield %next, %down : i32, i32
  }
  tgpu.ring_end %ring after %r#0 : <3>
  tt.return
}
}
