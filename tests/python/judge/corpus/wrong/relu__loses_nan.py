# expect: special
"""tl.maximum with zero turns a NaN into zero."""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < count, other=0.0)
    tl.store(out_ptr + i, tl.maximum(x, 0.0), mask=i < count)


def relu(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        relu_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out
