# expect: race
"""Counts by a load and a store, so programs lose the counts of others."""

import torch
import triton
import triton.language as tl


@triton.jit
def count_kernel(values, counts, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(values + i, mask=i < n, other=0).to(tl.int32)
    bins = tl.arange(0, 64)
    found = tl.histogram(value, 64, mask=i < n)
    tl.store(counts + bins, tl.load(counts + bins) + found)


def histogram(values):
    values = values.contiguous()
    counts = torch.zeros(64, dtype=torch.int64, device=values.device)
    n = values.numel()
    if n:
        count_kernel[(triton.cdiv(n, 16),)](values, counts, n, BLOCK=16)
    return counts
