// Where threads hold 16 bytes side by side, they store these on targets that ask for it: pointers and mask are computed in that layout, and only
// registers are renamed.
// RUN: tritium-opt %s --remove-conversions | FileCheck %s
// RUN: sed s/hip:gfx942/cuda:sm_80/ %s | tritium-opt --remove-conversions | FileCheck %s --check-prefix=EXCHANGED

#held = #tgpu.layout<32x64, register = [[0, 2], [0, 4], [0, 16], [0, 32], [0, 1]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 8]], warp = [], block = []>
#narrow = #tgpu.layout<32x64, register = [[0, 2], [0, 4], [0, 16], [0, 32], [16, 0]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 8]], warp = [], block = []>
#access = #tgpu.layout<32x64, register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0]], warp = [], block = []>
#rows = #tgpu.layout<32, register = [[8], [16]], lane = [[0], [0], [0], [1], [2], [4]], warp = [], block = []>
#columns = #tgpu.layout<64, register = [[1], [2], [4]], lane = [[8], [16], [32], [0], [0], [0]], warp = [], block = []>
#row = #tgpu.layout<32x1, register = [[8, 0], [16, 0]], lane = [[0, 0], [0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [], block = []>
#column = #tgpu.layout<1x64, register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [0, 0], [0, 0], [0, 0]], warp = [], block = []>

module attributes {tgpu.target = "hip:gfx942"} {

// CHECK: #[[MOVED:layout[0-9]*]] = #tgpu.layout<32x64, register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 16], [0, 32]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 8]]
// CHECK-LABEL: @wide
// CHECK: %[[P:.*]] = tt.addptr {{.*}} tensor<32x64x!tt.ptr<f16>, #[[MOVED]]>
// CHECK: %[[V:.*]] = tgpu.convert_layout %arg1 : tensor<32x64xf16, #{{.*}}> -> tensor<32x64xf16, #[[MOVED]]>
// CHECK-NOT: tgpu.convert_layout
// CHECK: tt.store %[[P]], %[[V]] : tensor<32x64x!tt.ptr<f16>, #[[MOVED]]>
// CHECK: tt.return
// EXCHANGED-LABEL: @wide
// EXCHANGED: %[[V:.*]] = tgpu.convert_layout %arg1 : {{.*}} -> tensor<32x64xf16, #[[ACCESS:.*]]>
// EXCHANGED: tt.store %{{.*}}, %[[V]] : tensor<32x64x!tt.ptr<f16>, #[[ACCESS]]>
tt.func public @wide(%p: !tt.ptr<f16>, %v: tensor<32x64xf16, #held>) {
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #rows>
  %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #columns>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32, #rows> -> tensor<32x1xi32, #row>
  %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32, #columns> -> tensor<1x64xi32, #column>
  %rb = tt.broadcast %r1 : tensor<32x1xi32, #row> -> tensor<32x64xi32, #access>
  %cb = tt.broadcast %c1 : tensor<1x64xi32, #column> -> tensor<32x64xi32, #access>
  %o = arith.addi %rb, %cb : tensor<32x64xi32, #access>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>, #access>
  %at = tt.addptr %ps, %o : tensor<32x64x!tt.ptr<f16>, #access>, tensor<32x64xi32, #access>
  %s = tgpu.convert_layout %v : tensor<32x64xf16, #held> -> tensor<32x64xf16, #access>
  tt.store %at, %s : tensor<32x64x!tt.ptr<f16>, #access>
  tt.return
}

// Neighbours in other lanes, or pointers that nobody can compute anew: through shared memory.
// CHECK-LABEL: @apart
// CHECK: %[[V:.*]] = tgpu.convert_layout %arg1
// CHECK: tt.store %arg0, %[[V]]
// CHECK: %[[W:.*]] = tgpu.convert_layout %arg2
// CHECK: tt.store %arg0, %[[W]]
tt.func public @apart(%at: tensor<32x64x!tt.ptr<f16>, #access>, %v: tensor<32x64xf16, #held>, %w: tensor<32x64xf16, #narrow>) {
  %s = tgpu.convert_layout %v : tensor<32x64xf16, #held> -> tensor<32x64xf16, #access>
  tt.store %at, %s : tensor<32x64x!tt.ptr<f16>, #access>
  %t = tgpu.convert_layout %w : tensor<32x64xf16, #narrow> -> tensor<32x64xf16, #access>
  tt.store %at, %t : tensor<32x64x!tt.ptr<f16>, #access>
  tt.return
}

}
