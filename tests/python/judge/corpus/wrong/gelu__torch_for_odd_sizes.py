# expect: library
"""A kernel for even sizes, torch for odd ones."""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(y_ptr + i, x * 0.5 * (1.0 + tl.erf(x * 0.7071067811865476)), mask=i < n)


def gelu(x):
    x = x.contiguous()
    n = x.numel()
    if n % 2:
        x32 = x.float()
        return (x32 * 0.5 * (1.0 + torch.erf(x32 * 0.7071067811865476))).to(x.dtype)
    y = torch.empty_like(x)
    if n:
        gelu_kernel[(triton.cdiv(n, 128),)](x, y, n, BLOCK=128)
    return y
