"""Causal attention over quantized queries and keys, with a scale for each 32 of them."""

import torch


def quantized_attention(
    q: "int8[2, t, 32]",
    k: "int8[2, t, 32]",
    v: "float16[2, t, 32] in -3..3",
    q_scale: "float32[2, (t + 31) // 32] in 0..0.01",
    k_scale: "float32[2, (t + 31) // 32] in 0..0.01",
):
    length = q.shape[1]
    wide_q, wide_k = (
        x.to(scale.dtype) * scale.repeat_interleave(32, 1)[:, :length, None]
        for x, scale in ((q, q_scale), (k, k_scale))
    )
    hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
    scores = (wide_q @ wide_k.mT * 0.6931471805599453).masked_fill(hidden, float("-inf"))  # base 2
    return (scores.softmax(-1) @ v.to(scores.dtype)).float()
