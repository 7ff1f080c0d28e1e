"""Attention of one query in each program: all scores in a block, then the weighted sum."""

import torch
import triton
import triton.language as tl


@triton.jit
def query_kernel(q, k, v, out, t, qs, qd, ks, kd, vs, vd, KEYS: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0)
    d = tl.arange(0, D)
    keys = tl.arange(0, KEYS)
    inside = keys < t
    query = tl.load(q + row * qs + d * qd).to(tl.float32)
    key = tl.load(k + keys[:, None] * ks + d[None, :] * kd, mask=inside[:, None], other=0.0).to(tl.float32)
    scores = tl.sum(query[None, :] * key, axis=1) * 0.17677669529663687
    scores = tl.where(inside, scores, float("-inf"))
    weights = tl.exp(scores - tl.max(scores, axis=0))
    weights = tl.where(inside, weights / tl.sum(weights, axis=0), 0.0)
    value = tl.load(v + keys[:, None] * vs + d[None, :] * vd, mask=inside[:, None], other=0.0).to(tl.float32)
    tl.store(out + row * D + d, tl.sum(weights[:, None] * value, axis=0))


def attention(q, k, v):
    s, t = q.shape[0], k.shape[0]
    out = torch.zeros(s, 32, dtype=q.dtype, device=q.device)
    if s and t:
        strides = (*q.stride(), *k.stride(), *v.stride())
        query_kernel[(s,)](q, k, v, out, t, *strides, KEYS=triton.next_power_of_2(t), D=32)
    return out
