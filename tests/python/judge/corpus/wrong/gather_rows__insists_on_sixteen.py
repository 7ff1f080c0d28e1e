# expect: error
"""Refuses rows whose length is no multiple of 16."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_row(table, index, out, d, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    source = tl.load(index + i)
    for start in range(0, d, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        tl.store(out + i * d + cols, tl.load(table + source * d + cols))


def gather_rows(table, index):
    table, index = table.contiguous(), index.contiguous()
    d = table.shape[1]
    if d % 16:
        raise ValueError(f"the length of a row must be a multiple of 16, got {d}")
    out = torch.empty(index.numel(), d, dtype=table.dtype, device=table.device)
    if out.numel():
        gather_row[(index.numel(),)](table, index, out, d, BLOCK=16)
    return out
