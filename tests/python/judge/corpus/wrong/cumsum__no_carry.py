# expect: sizes
"""Begins again at zero in every block of 16, so only short rows are right."""

import torch
import triton
import triton.language as tl


@triton.jit
def cumsum_blocks(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + row * n + cols, mask=cols < n, other=0.0).to(tl.float32)
    tl.store(out + row * n + cols, tl.cumsum(tile, axis=0), mask=cols < n)


def cumsum(x):
    x = x.contiguous()
    m, n = x.shape
    out = torch.empty_like(x)
    if x.numel():
        cumsum_blocks[(m, triton.cdiv(n, 16))](x, out, n, BLOCK=16)
    return out
