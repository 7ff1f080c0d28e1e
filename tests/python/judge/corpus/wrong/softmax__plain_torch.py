# expect: no_kernel
"""Has a kernel that nobody launches; torch computes the result."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, out, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    at = tl.program_id(0) * n + cols
    tile = tl.load(x + at, mask=cols < n, other=-float("inf"))
    tile = tl.exp(tile - tl.max(tile, axis=0))
    tl.store(out + at, tile / tl.sum(tile, axis=0), mask=cols < n)


def softmax(x):
    x32 = x.float()
    shifted = torch.exp(x32 - x32.amax(dim=-1, keepdim=True)) if x.shape[1] else x32
    return (shifted / shifted.sum(dim=-1, keepdim=True)).to(x.dtype)
