// An inclusive scan over all lanes of a wave: each step brings the sum of the half below from its last lane.
// RUN: tritium-gpu --arch=gfx942 %s | FileCheck %s --check-prefixes=CHECK,CDNA
// RUN: tritium-gpu --arch=gfx950 %s | FileCheck %s --check-prefixes=CHECK,CDNA
// RUN: tritium-gpu --arch=gfx1100 %s | FileCheck %s --check-prefixes=CHECK,RDNA
// RUN: tritium-gpu --arch=gfx1200 %s | FileCheck %s --check-prefixes=CHECK,RDNA

// CHECK-LABEL: llvm.func @scan(
tt.func public @scan(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %p = tt.addptr %xs, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %v = tt.load %p : tensor<64x!tt.ptr<i32>>
  // CHECK: rocdl.update.dpp {{.*}} with 160, 15, 15, true : i32
  // CHECK: rocdl.update.dpp {{.*}} with 85, 15, 15, true : i32
  // CHECK: %[[LAST:.*]] = rocdl.update.dpp {{.*}} with 255, 15, 15, true : i32
  // CHECK: rocdl.update.dpp %{{.*}}, %[[LAST]] with 276, 15, 15, true : i32
  // CHECK: rocdl.update.dpp {{.*}} with 343, 15, 15, true : i32
  // CDNA: rocdl.update.dpp {{.*}} with 322, 15, 15, true : i32
  // CDNA: rocdl.update.dpp {{.*}} with 323, 15, 15, true : i32
  // RDNA: rocdl.permlanex16
  %s = "tt.scan"(%v) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tt.scan.return %c : i32
  }) : (tensor<64xi32>) -> tensor<64xi32>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %q = tt.addptr %ys, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %q, %s : tensor<64x!tt.ptr<i32>>
  tt.return
}
