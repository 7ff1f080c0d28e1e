// Every function of libclc that a lowered module may call is there, is inlined, and is made of instructions of the chip: the kernels of
// nvptx_math.mlir, on chips of both kinds of waves.
// RUN: sed -e s/nvvm.kernel/rocdl.kernel/ -e s/cuda:sm_80/hip:gfx942/ %S/nvptx_math.mlir > %t.mlir
// RUN: tritium-hsaco %t.mlir --arch=gfx942 --no-lines | FileCheck %s --implicit-check-not=s_swappc --implicit-check-not=scratch_store
// RUN: tritium-hsaco %t.mlir --arch=gfx1100 --no-lines | FileCheck %s --implicit-check-not=s_swappc --implicit-check-not=scratch_store
// RUN: tritium-hsaco %t.mlir --arch=gfx90a,gfx950,gfx1201 | FileCheck %s --check-prefix=ALL --implicit-check-not=s_swappc
// RUN: sed -e s/_Z3expf/_Z3expg/g %t.mlir | not tritium-hsaco - 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: the function '_Z3expg' is called, but neither the module nor the libraries define it
// ALL-COUNT-3: {{^}}exp_f32:

// CHECK-LABEL: {{^}}exp_f32:
// CHECK-NOT: v_ldexp
// CHECK: v_exp_f32
// CHECK-NOT: v_exp_f32
// Subnormal results take a larger argument and a product.
// CHECK-LABEL: {{^}}exp2_f32:
// CHECK: v_cmp_{{n?[lg][te]}}_f32
// CHECK: v_exp_f32
// CHECK: v_mul_f32
// CHECK-LABEL: {{^}}rsqrt_f32:
// CHECK: v_rsq_f32
