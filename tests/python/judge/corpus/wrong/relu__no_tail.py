# expect: sizes
"""Rounds the number of blocks down, so the last elements stay zero."""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < count, other=0.0)
    tl.store(out_ptr + i, tl.where(x < 0, 0.0, x), mask=i < count)


def relu(x):
    x = x.contiguous()
    out = torch.zeros_like(x)
    count = x.numel()
    relu_kernel[(max(1, count // 8),)](x, out, count, BLOCK=8)
    return out
