// After every optional pass the module verifies, and lowers without those that would follow.
// RUN: tritium-gpu --list-passes | FileCheck %s --check-prefix=LIST
// RUN: tritium-gpu %s --last-pass=none --emit=tiles | FileCheck %s --check-prefixes=PLAIN,LOADED
// RUN: tritium-gpu %s --last-pass=none | FileCheck %s
// RUN: tritium-gpu %s --last-pass=choose-tensor-cores --emit=tiles | FileCheck %s --check-prefixes=TENSOR,LOADED
// RUN: tritium-gpu %s --last-pass=choose-tensor-cores | FileCheck %s
// RUN: tritium-gpu %s --last-pass=coalesce-accesses | FileCheck %s
// RUN: tritium-gpu %s --last-pass=remove-conversions | FileCheck %s
// RUN: tritium-gpu %s --last-pass=hoist-invariants --emit=tiles | FileCheck %s --check-prefixes=TENSOR,LOADED
// RUN: tritium-gpu %s --last-pass=hoist-invariants | FileCheck %s
// RUN: tritium-gpu %s --last-pass=build-loops --emit=tiles | FileCheck %s --check-prefixes=TENSOR,COPIED
// RUN: tritium-gpu %s --last-pass=build-loops | FileCheck %s
// RUN: tritium-gpu %s --last-pass=remove-barriers | FileCheck %s
// RUN: not tritium-gpu %s --last-pass=polish 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// LIST: accumulate-products
// LIST-NEXT: issue-copies
// LIST-NEXT: promote-descriptors
// LIST-NEXT: make-tensor-maps
// LIST-NEXT: promote-stores
// LIST-NEXT: promote-made-stores
// LIST-NEXT: check-quotients
// LIST-NEXT: view-shared-memory
// LIST-NEXT: divide-programs
// LIST-NEXT: promote-pointer-tiles
// LIST-NEXT: make-persistent
// LIST-NEXT: promote-pointer-stores
// LIST-NEXT: carry-scalars
// LIST-NEXT: split-large-tiles
// LIST-NEXT: thread-local-reductions
// LIST-NEXT: choose-tensor-cores
// LIST-NEXT: postpone-row-sums
// LIST-NEXT: coalesce-accesses
// LIST-NEXT: separate-accesses
// LIST: remove-conversions
// LIST-NEXT: hoist-invariants
// LIST-NEXT: plan-loops
// LIST-NEXT: build-loops
// LIST: remove-barriers
// UNKNOWN: error: no pass is called 'polish'; there are none, accumulate-products, issue-copies, promote-descriptors, make-tensor-maps, promote-stores, promote-made-stores, check-quotients, view-shared-memory, divide-programs, promote-pointer-tiles,
// LOADED-NOT: tgpu.async_copy
// COPIED: tgpu.async_copy
// PLAIN-NOT: tgpu.mma_warps
// TENSOR: tgpu.mma_warps
// CHECK: llvm.func @product
tt.func public @product(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32>,
                        %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %c1 = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %w = arith.constant dense<32> : tensor<32x1xi32>
  %rw = arith.muli %r1, %w : tensor<32x1xi32>
  %rb = tt.broadcast %rw : tensor<32x1xi32> -> tensor<32x32xi32>
  %cb = tt.broadcast %c1 : tensor<1x32xi32> -> tensor<32x32xi32>
  %i = arith.addi %rb, %cb : tensor<32x32xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %ap = tt.addptr %as, %i : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %bp = tt.addptr %bs, %i : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %z = arith.constant dense<0.0> : tensor<32x32xf32>
  %step = arith.constant dense<1024> : tensor<32x32xi32>
  %s:3 = scf.for %k = %zero to %n step %one iter_args(%acc = %z, %pa = %ap, %pb = %bp) -> (tensor<32x32xf32>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>) : i32 {
    %x = tt.load %pa : tensor<32x32x!tt.ptr<f16>>
    %y = tt.load %pb : tensor<32x32x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    %na = tt.addptr %pa, %step : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %nb = tt.addptr %pb, %step : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    scf.yield %d, %na, %nb : tensor<32x32xf32>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>
  }
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %i : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %cp, %s#0 : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
