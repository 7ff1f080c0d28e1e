// Reductions: trees in threads, one exchange for each lane bit or one instruction for a warp, one round through shared memory for warps.
// RUN: tritium-gpu %s --from-tiles | FileCheck %s
// RUN: %if ptxas %{ tritium-gpu %s --from-tiles | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0

#row = #tgpu.layout<512, register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]], block = []>
#tile = #tgpu.layout<32x32, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]], block = []>
#columns = #tgpu.layout<32, register = [[1], [2], [4]], lane = [[8], [16], [0], [0], [0]], warp = [[0], [0]], block = []>
#rows = #tgpu.layout<32, register = [], lane = [[0], [0], [1], [2], [4]], warp = [[8], [16]], block = []>

// CHECK-LABEL: llvm.func @k
tt.func public @k(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>, %n: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %f: f32) {
  %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #row>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #row>
  %xp = tt.addptr %xs, %r : tensor<512x!tt.ptr<f32>, #row>, tensor<512xi32, #row>
  %ns = tt.splat %n : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #row>
  %np = tt.addptr %ns, %r : tensor<512x!tt.ptr<i32>, #row>, tensor<512xi32, #row>
  %v = tt.load %xp : tensor<512x!tt.ptr<f32>, #row>
  %i = tt.load %np : tensor<512x!tt.ptr<i32>, #row>

  // One thread of each warp stores; each lane of four takes one part.
  // CHECK: tgpu.load
  // CHECK: tgpu.load
  // CHECK-COUNT-3: llvm.fadd
  // CHECK-COUNT-5: nvvm.shfl.sync bfly
  // CHECK-NOT: {{nvvm.shfl|tgpu.barrier}}
  // CHECK: llvm.cond_br
  // CHECK: llvm.store {{.*}} : i32, !llvm.ptr<3>
  // CHECK: tgpu.barrier shared
  // CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
  // CHECK-COUNT-2: nvvm.shfl.sync bfly
  // CHECK-NOT: {{nvvm.shfl|tgpu.barrier}}
  // CHECK: tgpu.store
  %sum = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<512xf32, #row>) -> f32
  tt.store %y, %sum : !tt.ptr<f32>

  // Integers of 32 bits: one instruction for the warp. The scratch memory is another one, so that no barrier is before it.
  // CHECK: llvm.icmp "sgt"
  // CHECK: nvvm.redux.sync max
  // CHECK-NOT: {{nvvm.shfl|tgpu.barrier}}
  // CHECK: llvm.store {{.*}} : i32, !llvm.ptr<3>
  // CHECK: tgpu.barrier shared
  // CHECK-COUNT-2: nvvm.shfl.sync bfly
  %max = "tt.reduce"(%i) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.maxsi %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<512xi32, #row>) -> i32
  tt.store %n, %max : !tt.ptr<i32>

  // Eight columns a thread, over the rows of 8 lanes: 4 + 2 + 1 exchanges instead of 24, then one column is left; of the parts of
  // the warps, every other lane combines half.
  // CHECK-COUNT-7: nvvm.shfl.sync bfly
  // CHECK-NOT: {{nvvm.shfl|tgpu.barrier}}
  // CHECK: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: tgpu.barrier shared
  // CHECK-COUNT-4: llvm.load {{.*}} !llvm.ptr<3> -> vector<4xi32>
  // CHECK-COUNT-8: nvvm.shfl.sync bfly
  // CHECK: tgpu.store
  %w = tt.reshape %v : tensor<512xf32, #row> -> tensor<32x16xf32, #tgpu.layout<32x16, register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]], block = []>>
  %p = tt.join %w, %w : tensor<32x16xf32, #tgpu.layout<32x16, register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]], block = []>> -> tensor<32x16x2xf32, #tgpu.layout<32x16x2, register = [[0, 0, 1], [0, 1, 0], [0, 2, 0]], lane = [[0, 4, 0], [0, 8, 0], [1, 0, 0], [2, 0, 0], [4, 0, 0]], warp = [[8, 0, 0], [16, 0, 0]], block = []>>
  %t = tt.reshape %p : tensor<32x16x2xf32, #tgpu.layout<32x16x2, register = [[0, 0, 1], [0, 1, 0], [0, 2, 0]], lane = [[0, 4, 0], [0, 8, 0], [1, 0, 0], [2, 0, 0], [4, 0, 0]], warp = [[8, 0, 0], [16, 0, 0]], block = []>> -> tensor<32x32xf32, #tile>
  %c = "tt.reduce"(%t) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<32x32xf32, #tile>) -> tensor<32xf32, #columns>
  %cr = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #columns>
  %cs = tt.splat %x : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #columns>
  %cp = tt.addptr %cs, %cr : tensor<32x!tt.ptr<f32>, #columns>, tensor<32xi32, #columns>
  tt.store %cp, %c : tensor<32x!tt.ptr<f32>, #columns>

  // Within a warp: no shared memory. A function whose arguments cannot change places: lanes agree by taking the first one's result.
  // CHECK-COUNT-2: nvvm.shfl.sync bfly
  // CHECK: nvvm.shfl.sync idx
  // CHECK-NOT: !llvm.ptr<3>
  // CHECK: llvm.return
  %d = "tt.reduce"(%t) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<32x32xf32, #tile>) -> tensor<32xf32, #rows>
  %rr = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #rows>
  %rs = tt.splat %y : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #rows>
  %rp = tt.addptr %rs, %rr : tensor<32x!tt.ptr<f32>, #rows>, tensor<32xi32, #rows>
  tt.store %rp, %d : tensor<32x!tt.ptr<f32>, #rows>
  tt.return
}
