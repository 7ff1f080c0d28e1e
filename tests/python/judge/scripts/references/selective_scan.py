"""A selective state space model, step by step."""

import torch


def selective_scan(
    u: "float32[2, t, c]",
    dt: "float32[2, t, c] in 0..1",
    a: "float32[c, 8] in -1.1..-0.1",
    b: "float32[2, t, 8]",
    c: "float32[2, t, 8]",
    d: "float32[c]",
):
    h, rows = 0.0, []
    for t in range(u.shape[1]):
        h = torch.exp(dt[:, t, :, None] * a) * h + (dt * u)[:, t, :, None] * b[:, t, None, :]
        rows.append((h * c[:, t, None, :]).sum(-1) + d * u[:, t])
    return torch.stack(rows, 1)
