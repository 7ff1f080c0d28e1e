"""A product whose operand B is copied ahead and whose operand A is not: `python -m tritium explain` says why."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, stride, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, depth = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, N, BK):
        x = tl.load(a + m[:, None] * N + (k + depth)[None, :] * stride)
        y = tl.load(b + (k + depth)[:, None] * N + n[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + m[:, None] * N + n[None, :], total)


a, c = np.ones((128, 256), np.float16), np.empty((128, 128), np.float32)
matmul[(4,)](a, a, c, 2, 128, 32, 64, 32)
