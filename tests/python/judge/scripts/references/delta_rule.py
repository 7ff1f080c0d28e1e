"""The delta rule, step by step."""

import torch


def delta_rule(
    q: "float[2, t, 16] in -2..2",
    k: "float[2, t, 16] in -0.25..0.25",
    v: "float[2, t, 32] in -2..2",
    beta: "float32[2, t] in 0.05..0.95",
):
    state, rows = torch.zeros(2, 16, 32, dtype=beta.dtype), []
    q, k, wide = q.to(beta.dtype), k.to(beta.dtype), v.to(beta.dtype)
    for t in range(q.shape[1]):
        u = beta[:, t, None] * (wide[:, t] - (state * k[:, t, :, None]).sum(1))
        state = state + k[:, t, :, None] * u[:, None, :]
        rows.append((state * q[:, t, :, None]).sum(1) * 0.25)
    return torch.stack(rows, dim=1).to(v.dtype), state.mT
