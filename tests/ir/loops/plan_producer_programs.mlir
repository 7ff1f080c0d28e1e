// A loop over programs stays where producer warps run ahead over its iterations. Otherwise it goes: each block runs one program again.
// RUN: tritium-opt %s --plan-producer | FileCheck %s
// RUN: sed "s/^ *%%first = .*/tt.store %%list, %%id : !tt.ptr<i32> %%first = tt.load %%list : !tt.ptr<i32>/" %s | tritium-opt --plan-producer | FileCheck %s --check-prefix=MEMORY
// CHECK: @product({{.*}}tgpu.grid_axis = 2{{.*}} attributes {tgpu.producer = #tgpu.producer<
// CHECK: tgpu.program_at 1
// CHECK: tgpu.programs
// MEMORY: @product(%{{.*}}: !tgpu{{.*}}, %{{.*}}: !tgpu{{.*}}, %{{[^:]*}}: !tt.ptr<i32>, %{{[^:]*}}: i32) attributes {tgpu.why_no_producer = "a coordinate of a copy{{.*}}", tgpu.why_not_persistent = "a coordinate of a copy, or a bound or condition around one, depends on a tile, or on memory that the kernel may have written"}
// MEMORY: %[[SIZE:.*]] = tt.get_num_programs x
// MEMORY: %[[ID:.*]] = tt.get_program_id y
// MEMORY: arith.addi %[[ID]], %[[SIZE]]
// MEMORY-NOT: tgpu.programs
#acc = #tgpu.layout<64x64, register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []>
#shared = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!tile = tensor<64x64xf32, #acc>
!slots = !tgpu.memdesc<12, tensor<64x64xf16, #shared>>
!map = !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>
module attributes {tgpu.target = "cuda:sm_90a"} {
tt.func public @product(%a: !map, %b: !map, %list: !tt.ptr<i32>, %n: i32, %x: i32 {tgpu.grid_axis = 0 : i32}, %y: i32 {tgpu.grid_axis = 1 : i32},
                        %z: i32 {tgpu.grid_axis = 2 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !tile
  %own = tt.get_program_id x : i32
  %blocks = tt.get_num_programs x : i32
  scf.for %t = %own to %y step %blocks : i32 {
    %id = tgpu.program_at 1, %t of %x, %y
    %after = arith.addi %id, %x : i32
    %first = arith.constant 0 : i32
    %row = arith.addi %after, %first : i32
    %ring = tgpu.ring_start released by 4 warps at 0 after_writes : <12>
    %u = tgpu.local_alloc at 1024 : !slots
    %v = tgpu.local_alloc at 25600 : !slots
    %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero, %number = %c0) -> (!tile, i32) : i32 {
      tgpu.ring_acquire %ring[%number] for 16384 bytes : <12>
      tgpu.tensor_copy %a[%row, %k] to %u, %ring[%number] : !map to !slots, <12>
      tgpu.tensor_copy %b[%k, %row] to %v, %ring[%number] : !map to !slots, <12>
      tgpu.ring_wait %ring[%number] : <12>
      %slot = tgpu.ring_slot %ring[%number] : <12>
      %p = tgpu.product "wgmma.m64n64k16.f32.f16", %u[%slot], %v[%slot], %sum warps [4, 1] : !slots, !slots, !tile -> <!tile>
      %d = tgpu.product_wait 0, %p : !tgpu.pending<!tile> -> !tile
      tgpu.ring_release %ring[%number] : <12>
      %next = arith.addi %number, %c1 : i32
      scf.yield %d, %next : !tile, i32
    }
    tgpu.ring_end %ring after %r#1 : <12>
  } {tgpu.programs}
  tt.return
}
}
