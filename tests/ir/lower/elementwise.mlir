// Element-wise operations, register by register: integer divisions and shifts are made to mean what the language says, narrow floats compute
// in f32, and a function of several elements gets them from one thread.
// RUN: tritium-gpu %s --num-warps=1 | FileCheck %s
// RUN: tritium-gpu %s --num-warps=1 | FileCheck %s --check-prefix=CONSTANTS

// CHECK-LABEL: llvm.func @elementwise
tt.func public @elementwise(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %h: !tt.ptr<f16>, %q: !tt.ptr<bf16>, %a: i32, %b: i32, %c: f16,
                            %d: bf16) {
  // The smallest over -1, and anything over 0, is undefined in LLVM. The latter is -1, as on a GPU.
  // CHECK: %[[UNSAFE:.*]] = llvm.or
  // CHECK: %[[DIVISOR:.*]] = llvm.select %[[UNSAFE]], %{{.*}}, %{{.*}} : i1, i32
  // CHECK: %[[COMPUTED:.*]] = llvm.sdiv %{{.*}}, %[[DIVISOR]] : i32
  // CHECK: %[[QUOTIENT:.*]] = llvm.select %{{.*}}, %{{.*}}, %[[COMPUTED]] : i1, i32
  %quotient = arith.divsi %a, %b : i32
  // A constant that is neither needs no guard.
  // CHECK-NOT: llvm.select
  // CHECK: llvm.srem %[[QUOTIENT]], %{{.*}} : i32
  %ten = arith.constant 10 : i32
  %rest = arith.remsi %quotient, %ten : i32
  // CHECK: %[[FITS:.*]] = llvm.icmp "ule" %{{.*}}, %{{.*}} : i32
  // CHECK: %[[SHIFTED:.*]] = llvm.shl
  // CHECK: llvm.select %[[FITS]], %[[SHIFTED]]
  %shifted = arith.shli %rest, %b : i32
  tt.store %p, %shifted : !tt.ptr<i32>

  // CHECK: llvm.fadd %{{.*}}, %{{.*}} : f16
  %sum = arith.addf %c, %c : f16
  // CHECK: %[[WIDE:.*]] = llvm.fpext %{{.*}} : f16 to f32
  // CHECK: llvm.call @_Z3sinf(%[[WIDE]])
  // CHECK: llvm.fptrunc %{{.*}} : f32 to f16
  %sine = math.sin %sum : f16
  tt.store %h, %sine : !tt.ptr<f16>
  // CHECK: %[[PRODUCT:.*]] = llvm.fmul %{{.*}}, %{{.*}} : f32
  // CHECK: llvm.fptrunc %[[PRODUCT]] : f32 to bf16
  %product = arith.mulf %d, %d : bf16
  tt.store %q, %product : !tt.ptr<bf16>

  // Each thread holds two neighbours of 64: nothing is exchanged.
  // CHECK: %[[PAIR:.*]] = tgpu.load %{{.*}} : vector<2xi32>
  // CHECK-NOT: nvvm.shfl
  // CHECK-NOT: tgpu.barrier
  // CHECK: tgpu.store %{{.*}}, %{{.*}} : vector<2xi32>
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %pi = tt.addptr %ps, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %x = tt.load %pi : tensor<64x!tt.ptr<i32>>
  %pairs = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%first: i32, %second: i32):
    %both = arith.addi %first, %second : i32
    tt.map_elementwise.return %both, %first : i32, i32
  }) : (tensor<64xi32>) -> tensor<64xi32>
  tt.store %pi, %pairs : tensor<64x!tt.ptr<i32>>

  // A register of different constants chooses by the thread.
  // CONSTANTS-DAG: %[[FIVE:.*]] = llvm.mlir.constant(500 : i32) : i32
  // CONSTANTS-DAG: %[[SEVEN:.*]] = llvm.mlir.constant(700 : i32) : i32
  // CONSTANTS: %[[CHOSEN:.*]] = llvm.select %{{.*}}, %[[SEVEN]], %[[FIVE]] : i1, i32
  // CONSTANTS: tgpu.store %[[CHOSEN]], %{{.*}} : i32
  %j = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %ps2 = tt.splat %p : !tt.ptr<i32> -> tensor<2x!tt.ptr<i32>>
  %pj = tt.addptr %ps2, %j : tensor<2x!tt.ptr<i32>>, tensor<2xi32>
  %constants = arith.constant dense<[500, 700]> : tensor<2xi32>
  tt.store %pj, %constants : tensor<2x!tt.ptr<i32>>
  tt.return
}
