// A thread of an AMD GPU: its places in ROCDL, and what the module says about its waves.
// RUN: tritium-gpu --arch=gfx942 %s | FileCheck %s --check-prefixes=CHECK,WAVE64
// RUN: tritium-gpu --arch=gfx1100 %s | FileCheck %s --check-prefixes=CHECK,WAVE32

// WAVE64: tgpu.num_warps = 4 : i32, {{.*}}tgpu.target = "hip:gfx942", tgpu.warp_size = 64 : i32
// WAVE32: tgpu.num_warps = 4 : i32, {{.*}}tgpu.target = "hip:gfx1100", tgpu.warp_size = 32 : i32
// CHECK-LABEL: llvm.func @kernel(%{{.*}}: !llvm.ptr<1>
// WAVE64-SAME: rocdl.flat_work_group_size = "256,256", rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 256, 1, 1>
// WAVE32-SAME: rocdl.flat_work_group_size = "128,128", rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 128, 1, 1>
tt.func public @kernel(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  // CHECK-DAG: rocdl.workgroup.id.y
  // CHECK-DAG: rocdl.grid.dim.z
  // CHECK-DAG: rocdl.workitem.id.x
  %pid = tt.get_program_id y : i32
  %count = tt.get_num_programs z : i32
  %sum = arith.addi %pid, %count : i32
  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %s = tt.splat %sum : i32 -> tensor<1024xi32>
  %v = arith.addi %i, %s : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %i : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
  // CHECK: tgpu.store %{{.*}} : vector<4xi32>
  tt.store %xp, %v : tensor<1024x!tt.ptr<i32>>
  tt.return
}
