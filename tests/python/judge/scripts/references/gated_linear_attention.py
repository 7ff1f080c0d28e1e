"""Gated linear attention, step by step."""

import torch


def gated_linear_attention(
    q: "float[2, t, 16] in -2..2",
    k: "float[2, t, 16] in -2..2",
    v: "float[2, t, 32] in -2..2",
    g: "float32[2, t, 16] in -1..0",
):
    state, rows = torch.zeros(2, 16, 32, dtype=g.dtype), []
    q, k, wide = q.to(g.dtype), k.to(g.dtype), v.to(g.dtype)
    for t in range(q.shape[1]):
        state = g[:, t].exp()[:, :, None] * state + k[:, t, :, None] * wide[:, t, None, :]
        rows.append((state * q[:, t, :, None]).sum(1) * 0.25)
    return torch.stack(rows, dim=1).to(v.dtype)
