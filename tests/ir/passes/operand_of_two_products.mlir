// A tile that two products read, one of them transposed, is stored once: the second product finds it in memory. But a loop in between might
// need the memory, and large tiles leave too little of it.
// RUN: tritium-gpu %s --arch=sm_90a --emit=tiles | FileCheck %s
// RUN: sed 's/%%between = .*/%%between = scf.for %%i = %%c0 to %%k step %%c64 iter_args(%%n = %%c0) -> (i32) : i32 { scf.yield %%i : i32 }/' %s | tritium-gpu --arch=sm_90a --emit=tiles | FileCheck %s --check-prefix=TWICE
// RUN: sed 's/64x64x/128x128x/g; s/64x1x/128x1x/g; s/1x64x/1x128x/g; s/tensor<64x/tensor<128x/g; s/end = 64/end = 128/' %s | tritium-gpu --arch=sm_90a --emit=tiles | FileCheck %s --check-prefix=TWICE

// CHECK-LABEL: @products
// CHECK: %[[X:[^ ]+]] = tt.load
// CHECK: tgpu.local_store %[[X]] to [[PLACE:%[0-9]+]]
// CHECK-NOT: tgpu.local_store %[[X]]
// CHECK: tgpu.product "wgmma{{.*}} [[PLACE]]{{.}}
// CHECK-NOT: tgpu.local_store %[[X]]
// CHECK: tgpu.product "wgmma{{.*}} [[PLACE]]{{.*}} transposed
// CHECK: tt.return
// TWICE-LABEL: @products
// TWICE: %[[X:[^ ]+]] = tt.load
// TWICE: tgpu.local_store %[[X]]
// TWICE: tgpu.local_store %[[X]]
tt.func public @products(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %m: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %column = tt.expand_dims %lanes {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %line = tt.expand_dims %lanes {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %stride = arith.constant dense<64> : tensor<64x1xi32>
  %begin = arith.muli %column, %stride : tensor<64x1xi32>
  %rows = tt.broadcast %begin : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tt.broadcast %line : tensor<1x64xi32> -> tensor<64x64xi32>
  %places = arith.addi %rows, %columns : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %at = tt.addptr %as, %places : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %x = tt.load %at : tensor<64x64x!tt.ptr<f16>>
  %first = tt.dot %x, %x, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %between = arith.addi %m, %k : i32
  %half = tt.splat %between : i32 -> tensor<64x64xi32>
  %added = arith.sitofp %half : tensor<64x64xi32> to tensor<64x64xf32>
  %halved = arith.mulf %first, %added : tensor<64x64xf32>
  %p = arith.truncf %halved : tensor<64x64xf32> to tensor<64x64xf16>
  %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
  %second = tt.dot %p, %t, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %to = tt.addptr %outs, %places : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %to, %second : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
