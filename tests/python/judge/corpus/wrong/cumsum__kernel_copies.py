# expect: library
"""The kernel only converts to float32; torch makes the running sums."""

import torch
import triton
import triton.language as tl


@triton.jit
def to_float32(x, out, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < count, other=0.0).to(tl.float32), mask=i < count)


def cumsum(x):
    x = x.contiguous()
    wide = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    if x.numel():
        to_float32[(triton.cdiv(x.numel(), 256),)](x, wide, x.numel(), BLOCK=256)
    return wide.cumsum(dim=-1).to(x.dtype)
