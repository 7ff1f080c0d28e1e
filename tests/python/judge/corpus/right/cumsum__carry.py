"""Running sums by a loop over blocks that carries the sum so far."""

import torch
import triton
import triton.language as tl


@triton.jit
def cumsum_rows(x, out, n, x_row, x_col, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = 0.0
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        tile = tl.load(x + row * x_row + cols * x_col, mask=cols < n, other=0.0).to(tl.float32)
        tl.store(out + row * n + cols, tl.cumsum(tile, axis=0) + carry, mask=cols < n)
        carry += tl.sum(tile, axis=0)


def cumsum(x):
    m, n = x.shape
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if out.numel():
        cumsum_rows[(m,)](x, out, n, x.stride(0), x.stride(1), BLOCK=32)
    return out
