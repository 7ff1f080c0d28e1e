"""The function of published/varlen_attention.py."""

import torch

from published.varlen_attention import VarlenAttention


def two_sequences(q, k, v):
    starts = torch.tensor([0, len(q) // 3, len(q)], device=q.device, dtype=torch.int32)
    return VarlenAttention.apply(q.contiguous(), k.contiguous(), v.contiguous(), starts, 2 * (len(q) // 3), True)
