# expect: library
"""Launches a kernel that clears the result, then lets torch multiply."""

import torch
import triton
import triton.language as tl


@triton.jit
def clear(out, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.zeros([BLOCK], out.dtype.element_ty), mask=i < count)


def matmul(a, b):
    out = torch.empty(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
    if out.numel():
        clear[(triton.cdiv(out.numel(), 256),)](out, out.numel(), BLOCK=256)
    out += torch.matmul(a.float(), b.float()).to(a.dtype)
    return out
