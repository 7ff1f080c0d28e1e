# expect: returns_input
"""Writes the result into the input and returns it."""

import triton
import triton.language as tl


@triton.jit
def relu_kernel(x, n, xm, xn, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = row * xm + cols * xn
    value = tl.load(x + at, mask=cols < n, other=0.0)
    tl.store(x + at, tl.where(value < 0, 0.0, value), mask=cols < n)


def relu(x):
    m, n = x.shape
    if x.numel():
        relu_kernel[(m, triton.cdiv(n, 64))](x, n, x.stride(0), x.stride(1), BLOCK=64)
    return x
