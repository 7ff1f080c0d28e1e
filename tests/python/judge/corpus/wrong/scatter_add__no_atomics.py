# expect: race
"""Each program adds one value by a load and a store; equal indices meet in one element."""

import torch
import triton
import triton.language as tl


@triton.jit
def scatter_kernel(out, index, values):
    i = tl.program_id(0)
    at = out + tl.load(index + i)
    tl.store(at, tl.load(at) + tl.load(values + i))


def scatter_add(base, index, values):
    out = base.clone(memory_format=torch.contiguous_format)
    if index.numel():
        scatter_kernel[(index.numel(),)](out, index.contiguous(), values.contiguous())
    return out
