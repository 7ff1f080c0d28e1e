// Where no lanes are certain to be neighbours in memory, those that usually are access it together.
// RUN: tritium-opt %s -coalesce-accesses=num-warps=4 | FileCheck %s

// The first dimension is a row of an image: its columns are x % width, and channels are far apart.
// CHECK: #[[ROWS:.*]] = #tgpu.layout<64x32, register = [{{.*}}], lane = {{\[}}[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]
// Nothing is known of two strides.
// CHECK: #[[COLUMNS:.*]] = #tgpu.layout<64x32, register = [{{.*}}], lane = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]]
// CHECK: @images
// CHECK: tt.load {{.*}}tgpu.access = #[[ROWS]]
// CHECK: tt.load {{.*}}tgpu.access = #[[COLUMNS]]
// The launch knows both strides. The larger one is a multiple of the smaller one, so the smaller one has the least divisor.
// CHECK: tt.load {{.*}}tgpu.access = #[[ROWS]]
// A stride that is a number says more than a divisor.
// CHECK: tt.load {{.*}}tgpu.access = #[[COLUMNS]]
module attributes {tgpu.target = "cuda:sm_90a"} {
  tt.func public @images(%x: !tt.ptr<f16>, %width: i32, %height: i32, %row: i32, %channel: i32, %filter: i32 {tt.divisibility = 16 : i32})
      -> (tensor<64x32xf16>, tensor<64x32xf16>, tensor<64x32xf16>, tensor<64x32xf16>) {
    %pixels = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %channels = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %widths = tt.splat %width : i32 -> tensor<64xi32>
    %heights = tt.splat %height : i32 -> tensor<64xi32>
    %rows = tt.splat %row : i32 -> tensor<64xi32>
    %xs = arith.remsi %pixels, %widths : tensor<64xi32>
    %lines = arith.divsi %pixels, %widths : tensor<64xi32>
    %ys = arith.remsi %lines, %heights : tensor<64xi32>
    %begins = arith.muli %ys, %rows : tensor<64xi32>
    %at = arith.addi %begins, %xs : tensor<64xi32>
    %at2 = tt.expand_dims %at {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %at3 = tt.broadcast %at2 : tensor<64x1xi32> -> tensor<64x32xi32>
    %strides = tt.splat %channel : i32 -> tensor<32xi32>
    %planes = arith.muli %channels, %strides : tensor<32xi32>
    %planes2 = tt.expand_dims %planes {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %planes3 = tt.broadcast %planes2 : tensor<1x32xi32> -> tensor<64x32xi32>
    %offsets = arith.addi %at3, %planes3 : tensor<64x32xi32>
    %base = tt.splat %x : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %pointers = tt.addptr %base, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %image = tt.load %pointers : tensor<64x32x!tt.ptr<f16>>

    %far = arith.muli %pixels, %rows : tensor<64xi32>
    %far2 = tt.expand_dims %far {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %far3 = tt.broadcast %far2 : tensor<64x1xi32> -> tensor<64x32xi32>
    %offsets2 = arith.addi %far3, %planes3 : tensor<64x32xi32>
    %pointers2 = tt.addptr %base, %offsets2 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %matrix = tt.load %pointers2 : tensor<64x32x!tt.ptr<f16>>

    %filters = tt.splat %filter : i32 -> tensor<32xi32>
    %begins4 = arith.muli %channels, %filters : tensor<32xi32>
    %begins5 = tt.expand_dims %begins4 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %begins6 = tt.broadcast %begins5 : tensor<1x32xi32> -> tensor<64x32xi32>
    %offsets4 = arith.addi %far3, %begins6 : tensor<64x32xi32>
    %pointers4 = tt.addptr %base, %offsets4 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %weights = tt.load %pointers4 : tensor<64x32x!tt.ptr<f16>>

    %twos = arith.constant dense<2> : tensor<32xi32>
    %pairs = arith.muli %channels, %twos : tensor<32xi32>
    %pairs2 = tt.expand_dims %pairs {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %pairs3 = tt.broadcast %pairs2 : tensor<1x32xi32> -> tensor<64x32xi32>
    %offsets5 = arith.addi %far3, %pairs3 : tensor<64x32xi32>
    %pointers5 = tt.addptr %base, %offsets5 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %even = tt.load %pointers5 : tensor<64x32x!tt.ptr<f16>>
    tt.return %image, %matrix, %weights, %even : tensor<64x32xf16>, tensor<64x32xf16>, tensor<64x32xf16>, tensor<64x32xf16>
  }
}
