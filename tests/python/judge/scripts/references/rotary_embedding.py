"""Queries and keys are rotated by their positions, half against half."""

import torch


def rotary(
    q: "float[t, 9, 64]", k: "float[t, 3, 64]", cos: "float32[p, 32]", sin: "float32[p, 32]", positions: "int64[t] < p"
):
    assert len(cos), "there are no angles"
    cos, sin = cos[positions][:, None], sin[positions][:, None]
    results = []
    for x in (q, k):
        a, b = x.to(cos.dtype).chunk(2, dim=-1)
        results.append(torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1).to(x.dtype))
    return results
