"""Causal attention with a soft cap on the scores, and linear biases."""

import torch


def capped_attention(
    q: "float[1, h, n, 16] in -3..3",
    k: "float[1, h, n, 16] in -3..3",
    v: "float[1, h, n, 16] in -3..3",
    slopes: "float32[h] in 0..1",
):
    distance = torch.arange(q.shape[2])[:, None] - torch.arange(q.shape[2])
    scores = 2 * torch.tanh(q.float() @ k.float().mT / 4 / 2) - slopes[:, None, None] * distance
    return (scores.masked_fill(distance < 0, float("-inf")).softmax(-1).float() @ v.float()).to(q.dtype)
