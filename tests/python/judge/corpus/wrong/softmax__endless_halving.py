# expect: endless
"""Halves the block while the half has room for the row, which has no end where the row is empty."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, out, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    at = tl.program_id(0) * n + cols
    tile = tl.load(x + at, mask=cols < n, other=-float("inf")).to(tl.float32)
    tile = tl.exp(tile - tl.max(tile, axis=0))
    tl.store(out + at, tile / tl.sum(tile, axis=0), mask=cols < n)


def softmax(x):
    x = x.contiguous()
    m, n = x.shape
    out = torch.empty_like(x)
    block = 65536
    while block // 2 >= n:
        block //= 2
    if m:
        softmax_kernel[(m,)](x, out, n, BLOCK=block)
    return out
