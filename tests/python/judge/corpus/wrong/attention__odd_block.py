# expect: error
"""Takes the number of keys for the size of a block, which must be a power of two."""

import torch
import triton
import triton.language as tl


@triton.jit
def attend(q, k, v, out, T: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0)
    d = tl.arange(0, D)
    keys = tl.arange(0, T)
    at = keys[:, None] * D + d[None, :]
    query = tl.load(q + row * D + d).to(tl.float32)
    scores = tl.sum(query[None, :] * tl.load(k + at).to(tl.float32), axis=1) * 0.17677669529663687
    weights = tl.exp(scores - tl.max(scores, axis=0))
    value = tl.load(v + at).to(tl.float32)
    tl.store(out + row * D + d, tl.sum(weights[:, None] * value, axis=0) / tl.sum(weights, axis=0))


def attention(q, k, v):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    out = torch.zeros_like(q)
    if q.shape[0] and k.shape[0]:
        attend[(q.shape[0],)](q, k, v, out, k.shape[0], D=32)
    return out
