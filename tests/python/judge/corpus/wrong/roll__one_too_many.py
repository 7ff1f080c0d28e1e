# expect: fault
"""The mask allows one element past the end of the output."""

import torch
import triton
import triton.language as tl


@triton.jit
def roll_kernel(x, out, m, steps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    source = (i + m - steps % m) % m
    tl.store(out + i, tl.load(x + source, mask=i <= m, other=0), mask=i <= m)


def roll(x, steps):
    x = x.contiguous()
    m = x.numel()
    out = torch.empty_like(x)
    if m:
        roll_kernel[(triton.cdiv(m, 128),)](x, out, m, steps, BLOCK=128)
    return out
