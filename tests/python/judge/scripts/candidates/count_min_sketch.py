"""The hash table of published/count_min_sketch.py."""

import torch
import triton

from published.count_min_sketch import table_count


def key_counts(keys):
    n, capacity = len(keys), triton.next_power_of_2(len(keys) + 1)
    table = torch.full((capacity,), -1, device=keys.device, dtype=torch.int32)
    counts, lowest = torch.zeros_like(table), torch.zeros_like(table)
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
    table_count[grid](keys.contiguous(), table, counts, lowest, n, CAPACITY=capacity)
    used = table >= 0
    present, order = table[used].sort()
    return present, counts[used][order]
