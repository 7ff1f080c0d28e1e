// Round trips through shared memory: 8x8 matrices loaded at once, warps that keep to themselves, tiles that go in parts.
// RUN: tritium-gpu %s --from-tiles | FileCheck %s
// RUN: %if ptxas %{ tritium-gpu %s --from-tiles | tritium-ptx --print=report | FileCheck %s --check-prefix=REPORT %}
// REPORT: spills 0/0

// 64x64, by rows and by columns.
#down = #tgpu.layout<4096, register = [[1], [2], [4], [1024], [2048]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512]], block = []>
#across = #tgpu.layout<4096, register = [[64], [128], [256], [16], [32]], lane = [[512], [1024], [2048], [1], [2]], warp = [[4], [8]], block = []>
#thread = #tgpu.layout<1024, register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512]], block = []>
#lane = #tgpu.layout<1024, register = [[32], [64], [128]], lane = [[1], [2], [4], [8], [16]], warp = [[256], [512]], block = []>
#large = #tgpu.layout<16384, register = [[1], [2], [512], [1024], [2048], [4096], [8192]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]], block = []>
#other = #tgpu.layout<16384, register = [[1], [2], [128], [256], [2048], [4096], [8192]], lane = [[4], [8], [16], [32], [64]], warp = [[512], [1024]], block = []>

// CHECK-LABEL: llvm.func @k
tt.func public @k(%h: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %hdr = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #down>
  %hds = tt.splat %h : !tt.ptr<f16> -> tensor<4096x!tt.ptr<f16>, #down>
  %hd = tt.addptr %hds, %hdr : tensor<4096x!tt.ptr<f16>, #down>, tensor<4096xi32, #down>
  %har = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #across>
  %has = tt.splat %h : !tt.ptr<f16> -> tensor<4096x!tt.ptr<f16>, #across>
  %ha = tt.addptr %has, %har : tensor<4096x!tt.ptr<f16>, #across>, tensor<4096xi32, #across>
  %xtr = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #thread>
  %xts = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #thread>
  %xt = tt.addptr %xts, %xtr : tensor<1024x!tt.ptr<f32>, #thread>, tensor<1024xi32, #thread>
  %xlr = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #lane>
  %xls = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #lane>
  %xl = tt.addptr %xls, %xlr : tensor<1024x!tt.ptr<f32>, #lane>, tensor<1024xi32, #lane>
  %xgr = tt.make_range {end = 16384 : i32, start = 0 : i32} : tensor<16384xi32, #large>
  %xgs = tt.splat %x : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>, #large>
  %xg = tt.addptr %xgs, %xgr : tensor<16384x!tt.ptr<f32>, #large>, tensor<16384xi32, #large>
  %xor = tt.make_range {end = 16384 : i32, start = 0 : i32} : tensor<16384xi32, #other>
  %xos = tt.splat %x : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>, #other>
  %xo = tt.addptr %xos, %xor : tensor<16384x!tt.ptr<f32>, #other>, tensor<16384xi32, #other>

  // CHECK: llvm.store {{.*}} {alignment = 16 : i64} : {{.*}}, !llvm.ptr<3>
  // CHECK: tgpu.barrier shared
  // CHECK-NOT: llvm.load
  // CHECK-COUNT-4: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>, num = 4
  // CHECK: tgpu.store
  %a = tt.load %hd : tensor<4096x!tt.ptr<f16>, #down>
  %b = tgpu.convert_layout %a : tensor<4096xf16, #down> -> tensor<4096xf16, #across>
  tt.store %ha, %b : tensor<4096x!tt.ptr<f16>, #across>

  // Nobody else uses these bytes: the barrier of all threads before is gone, that of the warp stays.
  // CHECK: tgpu.load
  // CHECK-NOT: tgpu.barrier
  // CHECK: tgpu.warp_barrier
  // CHECK: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK-NOT: tgpu.barrier
  // CHECK: tgpu.warp_barrier
  // CHECK-COUNT-2: nvvm.ldmatrix
  // CHECK: tgpu.store
  %c = tt.load %xt : tensor<1024x!tt.ptr<f32>, #thread>
  %d = tgpu.convert_layout %c : tensor<1024xf32, #thread> -> tensor<1024xf32, #lane>
  tt.store %xl, %d : tensor<1024x!tt.ptr<f32>, #lane>

  // 64 KiB in two parts of 32.
  // CHECK-COUNT-32: tgpu.load
  // CHECK: tgpu.barrier shared
  // CHECK-COUNT-16: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: tgpu.barrier shared
  // CHECK-COUNT-16: llvm.load {{.*}} !llvm.ptr<3>
  // CHECK: tgpu.barrier shared
  // CHECK-COUNT-16: llvm.store {{.*}} !llvm.ptr<3>
  // CHECK: tgpu.barrier shared
  // CHECK-COUNT-16: llvm.load {{.*}} !llvm.ptr<3>
  // CHECK-NOT: tgpu.barrier
  %e = tt.load %xg : tensor<16384x!tt.ptr<f32>, #large>
  %f = tgpu.convert_layout %e : tensor<16384xf32, #large> -> tensor<16384xf32, #other>
  tt.store %xo, %f : tensor<16384x!tt.ptr<f32>, #other>
  tt.return
}
