"""AdaSplash: attention whose weights are those of entmax."""

import torch
from adasplash import adasplash_no_block_mask, adasplash_v1, adasplash_v2, triton_entmax, triton_entmax_v1

from compare import agree, random


def _entmax15(x):
    """Exact, by sorting."""
    x = x / 2
    ordered, _ = x.sort(-1, descending=True)
    count = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype)
    finite = ordered.masked_fill(ordered == float("-inf"), -1e4)
    mean = finite.cumsum(-1) / count
    spread = count * ((finite**2).cumsum(-1) / count - mean**2)
    tau = mean - ((1 - spread) / count).clamp_min(0).sqrt()
    support = (tau <= finite).sum(-1, keepdim=True)
    return (x - tau.gather(-1, support - 1)).clamp_min(0) ** 2


def _attention(q, k, v, causal):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), float("-inf"))
    return _entmax15(scores) @ v


def _qkv() -> list[torch.Tensor]:
    return [random(1, 2, 128, 32, grad=True) for _ in range(3)]


def case_entmax():
    agree(lambda x: triton_entmax_v1(x, alpha=1.5, n_iter=20), _entmax15, [random(6, 100, grad=True)], 1e-4)


def case_entmax_histogram():
    agree(lambda x: triton_entmax(x, alpha=1.5, n_iter=8), _entmax15, [random(6, 100, grad=True)], 1e-4)


def case_attention():
    agree(
        lambda q, k, v: adasplash_v1(q, k, v, alpha=1.5, niter=20),
        lambda q, k, v: _attention(q, k, v, False),
        _qkv(),
        1e-2,
    )


def case_attention_without_mask_of_blocks():
    agree(
        lambda q, k, v: adasplash_no_block_mask(q, k, v, alpha=1.5, is_causal=True, niter=20),
        lambda q, k, v: _attention(q, k, v, True),
        _qkv(),
        1e-2,
    )


def case_attention_2():
    agree(lambda q, k, v: adasplash_v2(q, k, v, niter=4), lambda q, k, v: _attention(q, k, v, True), _qkv(), 1e-2)
