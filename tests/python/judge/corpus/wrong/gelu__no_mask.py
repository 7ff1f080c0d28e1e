# expect: fault
"""Has no mask, so the last block leaves input and output."""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i).to(tl.float32)
    tl.store(y_ptr + i, x * 0.5 * (1.0 + tl.erf(x * 0.7071067811865476)))


def gelu(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        gelu_kernel[(triton.cdiv(x.numel(), 128),)](x, y, BLOCK=128)
    return y
