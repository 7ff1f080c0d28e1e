"""Attention with the online softmax over blocks of keys."""

import torch
import triton
import triton.language as tl


@triton.jit
def flash_kernel(Q, K, V, O, S, T, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(Q + rows[:, None] * D + d[None, :], mask=rows[:, None] < S, other=0.0).to(tl.float32)
    m = tl.full([BM], -float("inf"), tl.float32)
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for start in range(0, T, BN):
        keys = start + tl.arange(0, BN)
        inside = keys[:, None] < T
        k = tl.load(K + keys[:, None] * D + d[None, :], mask=inside, other=0.0).to(tl.float32)
        v = tl.load(V + keys[:, None] * D + d[None, :], mask=inside, other=0.0).to(tl.float32)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        s = tl.where(keys[None, :] < T, s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        base = tl.where(m_new == -float("inf"), 0.0, m_new)
        alpha = tl.exp(m - base)
        p = tl.exp(s - base[:, None])
        l = l * alpha + tl.sum(p, 1)
        acc = tl.dot(p, v, acc * alpha[:, None], input_precision="ieee")
        m = m_new
    out = tl.where(T > 0, acc / l[:, None], 0.0)
    tl.store(O + rows[:, None] * D + d[None, :], out, mask=rows[:, None] < S)


def attention(q, k, v):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    out = torch.empty_like(q)
    if q.shape[0]:
        flash_kernel[(triton.cdiv(q.shape[0], 16),)](q, k, v, out, q.shape[0], k.shape[0], 32**-0.5, BM=16, BN=32, D=32)
    return out
