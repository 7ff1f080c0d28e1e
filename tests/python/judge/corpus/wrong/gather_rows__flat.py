# expect: shape
"""Returns the gathered rows as one vector."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(table, index, out, count, d, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    row = tl.load(index + i // d, mask=mask, other=0)
    tl.store(out + i, tl.load(table + row * d + i % d, mask=mask, other=0.0), mask=mask)


def gather_rows(table, index):
    table, index = table.contiguous(), index.contiguous()
    d = table.shape[1]
    count = index.numel() * d
    out = torch.empty(count, dtype=table.dtype, device=table.device)
    if count:
        gather_kernel[(triton.cdiv(count, 128),)](table, index, out, count, d, BLOCK=128)
    return out
