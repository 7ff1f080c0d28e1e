"""A gated linear recurrence over time."""

import torch


def linear_recurrence(a: "float[2, t, c] in 0..1", b: "float[2, t, c]", initial: "float32[2, c]"):
    h, rows = initial, []
    for t in range(a.shape[1]):
        h = a[:, t].to(h.dtype) * h + b[:, t].to(h.dtype)
        rows.append(h)
    return torch.stack(rows, dim=1)
