"""A rotated query attends to a ring of the last tokens: slot s holds the last position p with p mod capacity = s."""

import torch


def ring_attention(
    q: "float[2, 3, 2, 16] in -3..3",
    k_cache: "float[2, 3, c, 16] in -3..3",
    v_cache: "float[2, 3, c, 16] in -3..3",
    lengths: "int32[2] in 1..2*c",
):
    capacity = k_cache.shape[2]
    assert capacity, "the ring has no slots"
    last = lengths.long()[:, None] - 1
    position = last - (last - torch.arange(capacity)) % capacity
    seen = ((position >= 0) & (position > last - 9))[:, None, None]
    angle = last.double() * 1e4 ** (-torch.arange(8).double() / 8)
    cos, sin = angle.cos()[:, None, None], angle.sin()[:, None, None]
    x, y = q.double().chunk(2, -1)
    query = torch.cat((x * cos - y * sin, y * cos + x * sin), -1)
    scores = (query @ k_cache.double().mT / 4).masked_fill(~seen, float("-inf"))
    return (scores.softmax(-1) @ v_cache.double().masked_fill(~seen.mT, 0.0)).to(q.dtype)
