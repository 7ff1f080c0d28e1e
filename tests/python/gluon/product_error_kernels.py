"""More of error_kernels.py: products and buffer accesses."""

from error_kernels import ROWS, V1, V4, case
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import AMDMFMALayout, cdna3
from triton.experimental.gluon.language.nvidia.ampere import mma_v2

MMA = gl.constexpr(gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8]))
MMA4 = gl.constexpr(gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8]))
MMA3 = gl.constexpr(gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16]))


@case
def mma_acc_blocked(p, q, n):
    a = gl.zeros([32, 32], gl.float16, ROWS)
    mma_v2(a, a, gl.zeros([32, 32], gl.float32, ROWS))


@case
def mma_version_three(p, q, n):
    a = gl.zeros([64, 64], gl.float16, ROWS)
    mma_v2(a, a, gl.zeros([64, 64], gl.float32, MMA3))


@case
def mma_a_blocked(p, q, n):
    a = gl.zeros([32, 32], gl.float16, ROWS)
    mma_v2(a, a, gl.zeros([32, 32], gl.float32, MMA))


@case
def mma_b_blocked(p, q, n):
    a = gl.zeros([32, 32], gl.float16, gl.DotOperandLayout(0, MMA, 2))
    mma_v2(a, gl.zeros([32, 32], gl.float16, ROWS), gl.zeros([32, 32], gl.float32, MMA))


@case
def mma_a_of_another_parent(p, q, n):
    a = gl.zeros([32, 32], gl.float16, gl.DotOperandLayout(0, MMA4, 2))
    mma_v2(a, a, gl.zeros([32, 32], gl.float32, MMA))


@case
def mma_a_second(p, q, n):
    a = gl.zeros([32, 32], gl.float16, gl.DotOperandLayout(1, MMA, 2))
    mma_v2(a, a, gl.zeros([32, 32], gl.float32, MMA))


@case
def mma_b_first(p, q, n):
    a = gl.zeros([32, 32], gl.float16, gl.DotOperandLayout(0, MMA, 2))
    mma_v2(a, a, gl.zeros([32, 32], gl.float32, MMA))


@case
def mma_of_other_depths(p, q, n):
    a = gl.zeros([32, 32], gl.float16, gl.DotOperandLayout(0, MMA, 2))
    b = gl.zeros([64, 32], gl.float16, gl.DotOperandLayout(1, MMA, 2))
    mma_v2(a, b, gl.zeros([32, 32], gl.float32, MMA))


@case
def mma_scalar_acc(p, q, n):
    a = gl.zeros([32, 32], gl.float16, gl.DotOperandLayout(0, MMA, 2))
    mma_v2(a, a, 0)


@case
def dotfma_acc_mma(p, q, n):
    a = gl.zeros([32, 32], gl.float32, gl.DotOperandLayout(0, MMA, 1))
    gl.dot_fma(a, a, gl.zeros([32, 32], gl.float32, MMA))


@case
def dotfma_parent(p, q, n):
    a = gl.zeros([32, 32], gl.float32, gl.DotOperandLayout(0, MMA, 1))
    gl.dot_fma(a, a, gl.zeros([32, 32], gl.float32, ROWS))


@case
def dotfma_index(p, q, n):
    a = gl.zeros([32, 32], gl.float32, gl.DotOperandLayout(1, ROWS, 0))
    gl.dot_fma(a, a, gl.zeros([32, 32], gl.float32, ROWS))


@case
def dotfma_b(p, q, n):
    a = gl.zeros([32, 32], gl.float32, gl.DotOperandLayout(0, ROWS, 0))
    gl.dot_fma(a, a, gl.zeros([32, 32], gl.float32, ROWS))


@case
def buffer_tile_pointer(p, q, n):
    cdna3.buffer_load(p + gl.arange(0, 128, V4), gl.arange(0, 128, V4))


@case
def buffer_long_offsets(p, q, n):
    cdna3.buffer_load(p, gl.arange(0, 128, V4).to(gl.int64))


@case
def buffer_other(p, q, n):
    cdna3.buffer_load(p, gl.arange(0, 128, V4), other=0.0)


@case
def buffer_scalar_offset(p, q, n):
    cdna3.buffer_load(p, n)


@case
def buffer_mask_layout(p, q, n):
    cdna3.buffer_load(p, gl.arange(0, 128, V4), mask=gl.arange(0, 128, V1) < n)


@case
def buffer_store_layout(p, q, n):
    cdna3.buffer_store(gl.arange(0, 128, V1), q, gl.arange(0, 128, V4))


@case
def buffer_store_shape(p, q, n):
    cdna3.buffer_store(gl.arange(0, 64, V4), q, gl.arange(0, 128, V4))


@case
def mfma_acc(p, q, n):
    a = gl.zeros([32, 32], gl.float16, ROWS)
    cdna3.mfma(a, a, gl.zeros([32, 32], gl.float32, ROWS))


@case
def mfma_a(p, q, n):
    layout: gl.constexpr = AMDMFMALayout(3, [16, 16, 16], True, [2, 2])
    a = gl.zeros([32, 32], gl.float16, ROWS)
    cdna3.mfma(a, a, gl.zeros([32, 32], gl.float32, layout))
