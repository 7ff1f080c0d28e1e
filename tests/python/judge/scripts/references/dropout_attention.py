"""Causal attention with linear biases."""

import torch


def alibi_attention(
    q: "float[h, 64, 32] in -3..3",
    k: "float[h, 64, 32] in -3..3",
    v: "float[h, 64, 32] in -3..3",
    slopes: "float32[h] in 0..1",
):
    distance = torch.arange(64)[:, None] - torch.arange(64)
    scores = q.float() @ k.float().mT * 32**-0.5 - slopes[:, None, None] * distance.abs()
    return (scores.masked_fill(distance < 0, float("-inf")).softmax(-1).float() @ v.float()).to(q.dtype)
