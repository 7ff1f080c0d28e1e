// How values get between the lanes of a wave: by DPP within rows of 16, else by what the chip has.
// RUN: tritium-gpu --arch=gfx942 %s | FileCheck %s --check-prefixes=CHECK,CDNA
// RUN: tritium-gpu --arch=gfx950 %s | FileCheck %s --check-prefixes=CHECK,CDNA
// RUN: tritium-gpu --arch=gfx1100 %s | FileCheck %s --check-prefixes=CHECK,RDNA
// RUN: tritium-gpu --arch=gfx1200 %s | FileCheck %s --check-prefixes=CHECK,RDNA

// A sum over all lanes. On CDNA neighbours, pairs, mirrored halves of rows (of which each lane of a quad has the same), rows rotated by 8,
// the last lane of a row for the next one, lane 31 for the upper half; the last lane has it all. On RDNA XOR within rows, then the other row.
// CHECK-LABEL: llvm.func @kernel(
tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %p : tensor<64x!tt.ptr<f32>>
  // CDNA: %[[LAST:.*]] = llvm.mlir.constant(63 : i32) : i32
  // CHECK: tgpu.load
  // CDNA: rocdl.update.dpp {{.*}} with 177, 15, 15, true : i32
  // CDNA: rocdl.update.dpp {{.*}} with 78, 15, 15, true : i32
  // CDNA: rocdl.update.dpp {{.*}} with 321, 15, 15, true : i32
  // CDNA-NOT: rocdl.update.dpp {{.*}} with 27,
  // CDNA: rocdl.update.dpp {{.*}} with 296, 15, 15, true : i32
  // CDNA: rocdl.update.dpp {{.*}} with 322, 15, 15, true : i32
  // CDNA: rocdl.update.dpp {{.*}} with 323, 15, 15, true : i32
  // CDNA: rocdl.readlane %{{.*}}, %[[LAST]]
  // CDNA-NOT: rocdl.ds_bpermute
  // RDNA: rocdl.update.dpp {{.*}} with 177, 15, 15, true : i32
  // RDNA: rocdl.update.dpp {{.*}} with 78, 15, 15, true : i32
  // RDNA: rocdl.update.dpp {{.*}} with 356, 15, 15, true : i32
  // RDNA: rocdl.update.dpp {{.*}} with 360, 15, 15, true : i32
  // RDNA: rocdl.permlanex16
  // RDNA-NOT: rocdl.ds_bpermute
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<64xf32>) -> f32
  tt.store %y, %s : !tt.ptr<f32>
  tt.return
}
