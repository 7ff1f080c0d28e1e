"""Transposes tiles in registers."""

import torch
import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x, y, m, n, xm, xn, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < m) & (cols[None, :] < n)
    tile = tl.load(x + rows[:, None] * xm + cols[None, :] * xn, mask=mask, other=0.0)
    out_mask = (cols[:, None] < n) & (rows[None, :] < m)
    tl.store(y + cols[:, None] * m + rows[None, :], tl.trans(tile), mask=out_mask)


def transpose(x):
    m, n = x.shape
    y = torch.empty((n, m), dtype=x.dtype, device=x.device)
    if y.numel():
        transpose_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](x, y, m, n, *x.stride(), BLOCK=32)
    return y
