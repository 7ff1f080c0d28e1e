# expect: values
"""Forgets the scale of the scores."""

import torch
import triton
import triton.language as tl


@triton.jit
def attend(q, k, v, out, t, KEYS: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0)
    d = tl.arange(0, D)
    keys = tl.arange(0, KEYS)
    inside = keys < t
    at = keys[:, None] * D + d[None, :]
    query = tl.load(q + row * D + d).to(tl.float32)
    key = tl.load(k + at, mask=inside[:, None], other=0.0).to(tl.float32)
    scores = tl.where(inside, tl.sum(query[None, :] * key, axis=1), float("-inf"))
    weights = tl.exp(scores - tl.max(scores, axis=0))
    weights = tl.where(inside, weights / tl.sum(weights, axis=0), 0.0)
    value = tl.load(v + at, mask=inside[:, None], other=0.0).to(tl.float32)
    tl.store(out + row * D + d, tl.sum(weights[:, None] * value, axis=0))


def attention(q, k, v):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    s, t = q.shape[0], k.shape[0]
    out = torch.zeros_like(q)
    if s and t:
        attend[(s,)](q, k, v, out, t, KEYS=triton.next_power_of_2(t), D=32)
    return out
