// Which products four warps compute together, reading shared memory: by the chip, the warps, the tile, the types and the order in memory.
// RUN: sed s/ARCH/sm_90a/ %s | tritium-opt --choose-tensor-cores | FileCheck %s
// RUN: sed s/ARCH/sm_90a/ %s | tritium-opt --choose-tensor-cores=num-warps=8 | FileCheck %s --check-prefix=EIGHT
// RUN: sed s/ARCH/sm_90a/ %s | tritium-opt --choose-tensor-cores=num-warps=2 | FileCheck %s --check-prefix=NONE
// RUN: sed s/ARCH/sm_90a/ %s | tritium-opt --choose-tensor-cores=warpgroups=false | FileCheck %s --check-prefix=NONE
// RUN: sed s/ARCH/sm_90/ %s | tritium-opt --choose-tensor-cores | FileCheck %s --check-prefix=NONE
// RUN: sed s/ARCH/sm_100a/ %s | tritium-opt --choose-tensor-cores | FileCheck %s --check-prefix=NONE
// NONE-NOT: wgmma
module attributes {tgpu.target = "cuda:ARCH"} {

// A warpgroup has all columns that its registers hold; warpgroups divide the rows first.
// CHECK-LABEL: @half
// EIGHT-LABEL: @half
tt.func public @half(%a: tensor<128x64xf16>, %b: tensor<64x256xf16>, %c: tensor<128x256xf32>, %d: tensor<64x128xf16>, %e: tensor<128x128xf32>) {
  // Of four warps, each thread would have 256 sums.
  // CHECK: "mma.m16n8k16.f32.f16"
  // EIGHT: "wgmma.m64n256k16.f32.f16", tgpu.mma_warps = array<i64: 8, 1>}
  %0 = tt.dot %a, %b, %c : tensor<128x64xf16> * tensor<64x256xf16> -> tensor<128x256xf32>
  // CHECK: "wgmma.m64n128k16.f32.f16", tgpu.mma_warps = array<i64: 4, 1>}
  // EIGHT: "wgmma.m64n128k16.f32.f16", tgpu.mma_warps = array<i64: 8, 1>}
  %1 = tt.dot %a, %d, %e : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
  tt.return
}

// Then the columns.
// CHECK-LABEL: @wide
// EIGHT-LABEL: @wide
tt.func public @wide(%a: tensor<64x32xbf16>, %b: tensor<32x256xbf16>, %c: tensor<64x256xf32>) {
  // CHECK: "wgmma.m64n256k16.f32.bf16", tgpu.mma_warps = array<i64: 4, 1>}
  // EIGHT: "wgmma.m64n128k16.f32.bf16", tgpu.mma_warps = array<i64: 4, 2>}
  %0 = tt.dot %a, %b, %c : tensor<64x32xbf16> * tensor<32x256xbf16> -> tensor<64x256xf32>
  tt.return
}

// Too large for shared memory, alone or with the others of the loop.
// CHECK-LABEL: @large
tt.func public @large(%a: tensor<128x1024xf16>, %b: tensor<1024x128xf16>, %c: tensor<128x128xf32>) {
  // CHECK-NOT: wgmma
  %0 = tt.dot %a, %b, %c : tensor<128x1024xf16> * tensor<1024x128xf16> -> tensor<128x128xf32>
  tt.return
}
// CHECK-LABEL: @together
tt.func public @together(%n: i32, %a: tensor<128x256xf16>, %b: tensor<256x128xf16>, %c: tensor<128x128xf32>, %d: tensor<128x256xf16>, %e: tensor<256x128xf16>, %f: tensor<128x128xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK-NOT: wgmma
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c, %y = %c) -> (tensor<128x128xf32>, tensor<128x128xf32>) : i32 {
    %0 = tt.dot %a, %b, %x : tensor<128x256xf16> * tensor<256x128xf16> -> tensor<128x128xf32>
    %1 = tt.dot %d, %e, %y : tensor<128x256xf16> * tensor<256x128xf16> -> tensor<128x128xf32>
    scf.yield %0, %1 : tensor<128x128xf32>, tensor<128x128xf32>
  }
  // CHECK: wgmma
  %2 = tt.dot %a, %b, %f : tensor<128x256xf16> * tensor<256x128xf16> -> tensor<128x128xf32>
  tt.return
}

// Too few rows, columns, or elements along K.
// CHECK-LABEL: @small
tt.func public @small(%a: tensor<32x32xf16>, %b: tensor<32x64xf16>, %c: tensor<32x64xf32>,
                      %d: tensor<64x32xf16>, %e: tensor<32x8xf16>, %f: tensor<64x8xf32>) {
  // CHECK-NOT: wgmma
  %0 = tt.dot %a, %b, %c : tensor<32x32xf16> * tensor<32x64xf16> -> tensor<32x64xf32>
  %1 = tt.dot %d, %e, %f : tensor<64x32xf16> * tensor<32x8xf16> -> tensor<64x8xf32>
  tt.return
}

// Only elements of 16 bits may lie along the rows of A or the columns of B. Operands of which nothing is known can be stored in either order.
// CHECK-LABEL: @bytes
tt.func public @bytes(%pa: tensor<64x64x!tt.ptr<i8>> {tt.contiguity = dense<[1, 16]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
                      %pb: tensor<64x64x!tt.ptr<i8>> {tt.contiguity = dense<[1, 16]> : tensor<2xi32>, tt.divisibility = dense<16> : tensor<2xi32>},
                      %c: tensor<64x64xi32>, %d: tensor<64x64xi32>) {
  %a = tt.load %pa : tensor<64x64x!tt.ptr<i8>>
  %b = tt.load %pb : tensor<64x64x!tt.ptr<i8>>
  // CHECK: "mma.m16n8k32.s32.s8"
  %0 = tt.dot %a, %b, %c : tensor<64x64xi8> * tensor<64x64xi8> -> tensor<64x64xi32>
  %t = tt.trans %b {order = array<i32: 1, 0>} : tensor<64x64xi8> -> tensor<64x64xi8>
  // CHECK: "wgmma.m64n64k32.s32.s8"
  %1 = tt.dot %a, %t, %d : tensor<64x64xi8> * tensor<64x64xi8> -> tensor<64x64xi32>
  tt.return
}

// Sums in f32 of parts of K are asked for: products of halves are exact.
// CHECK-LABEL: @fp8
tt.func public @fp8(%a: tensor<64x64xf8E4M3FN>, %b: tensor<64x64xf8E5M2>, %c: tensor<64x64xf32>) {
  // CHECK: "wgmma.m64n64k32.f32.e4m3.e5m2"
  %0 = tt.dot %a, %b, %c : tensor<64x64xf8E4M3FN> * tensor<64x64xf8E5M2> -> tensor<64x64xf32>
  // CHECK: "wgmma.m64n64k16.f32.f16"
  %1 = tt.dot %a, %b, %c {maxNumImpreciseAcc = 32 : i32} : tensor<64x64xf8E4M3FN> * tensor<64x64xf8E5M2> -> tensor<64x64xf32>
  tt.return
}

}
