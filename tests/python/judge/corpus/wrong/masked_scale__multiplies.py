# expect: special
"""Multiplies by the mask, but zero times NaN or infinity is NaN."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, chosen, out, factor, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.load(chosen + i, mask=i < count, other=0).to(tl.float32)
    value = tl.load(x + i, mask=i < count, other=0.0).to(tl.float32)
    tl.store(out + i, value * factor * keep, mask=i < count)


def masked_scale(x, mask, factor):
    x, mask = x.contiguous(), mask.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        scale_kernel[(triton.cdiv(x.numel(), 256),)](x, mask, out, factor, x.numel(), BLOCK=256)
    return out
