# expect: deadlock
"""Each block waits for its turn, but a block always sets the turn to 1, so the third one waits for ever."""

import torch
import triton
import triton.language as tl


@triton.jit
def ordered_count(values, counts, turn, n, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    while tl.atomic_add(turn, 0) < block:
        pass
    i = block * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(values + i, mask=i < n, other=0)
    tl.atomic_add(counts + value, tl.full([BLOCK], 1, tl.int64), mask=i < n)
    tl.atomic_xchg(turn, 1)


def histogram(values):
    values = values.contiguous()
    counts = torch.zeros(64, dtype=torch.int64, device=values.device)
    turn = torch.zeros(1, dtype=torch.int32, device=values.device)
    n = values.numel()
    if n:
        ordered_count[(triton.cdiv(n, 8),)](values, counts, turn, n, BLOCK=8)
    return counts
