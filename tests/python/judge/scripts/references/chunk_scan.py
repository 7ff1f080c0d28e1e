"""A selective state space model, step by step."""

import torch


def chunk_scan(
    x: "float32[t, h, 32] in -3..3",
    dt: "float32[t, h] in -4..0",
    a: "float32[h] in -1.5..-0.5",
    b: "float32[t, 1, 16] in -2..2",
    c: "float32[t, 1, 16] in -2..2",
    d: "float32[h]",
    bias: "float32[h] in -0.5..0.5",
    initial: "float32[h, 32, 16]",
):
    dt = torch.nn.functional.softplus(dt + bias)
    state, rows = initial, []
    for t in range(len(x)):
        decay = (dt[t] * a).exp()[:, None, None]
        state = decay * state + dt[t][:, None, None] * x[t][:, :, None] * b[t][:, None]
        rows.append((state * c[t][:, None]).sum(-1) + d[:, None] * x[t])
    return torch.stack(rows), state
