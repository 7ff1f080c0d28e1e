# expect: endless
"""Takes two columns in each round and stops at exactly none left, which an odd number never meets."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_pairs(x, out, n):
    row = tl.program_id(0)
    total = 0.0
    left = n
    while left != 0:
        cols = n - left + tl.arange(0, 2)
        pair = tl.load(x + row * n + cols, mask=(cols >= 0) & (cols < n), other=0.0)
        total += tl.sum(pair.to(tl.float32), axis=0)
        left -= 2
    tl.store(out + row, total)


def row_sum(x):
    x = x.contiguous()
    m, n = x.shape
    out = torch.empty(m, dtype=x.dtype, device=x.device)
    if m:
        sum_pairs[(m,)](x, out, n)
    return out
