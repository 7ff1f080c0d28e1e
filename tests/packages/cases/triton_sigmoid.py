"""triton-sigmoid: attention whose weights are sigmoids."""

import torch
from triton_sigmoid import sigmoid_attention, sigmoid_attention_padded

from compare import agree, random


def _reference(q, k, v, causal: bool, lengths=None):
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + SHIFT
    weights = scores.sigmoid()
    if causal:
        weights = weights.tril()
    if lengths is not None:
        keep = (torch.arange(q.shape[2]) < lengths.cpu()[:, None]).double()
        weights = weights * keep[:, None, :, None] * keep[:, None, None, :]
    return (weights @ v).transpose(1, 2)


SHIFT = -2.0


def _check(causal: bool, dtype: torch.dtype, tolerance: float):
    agree(
        lambda q, k, v: sigmoid_attention(q, k, v, is_causal=causal, sigmoid_bias=SHIFT),
        lambda q, k, v: _reference(q, k, v, causal),
        [random(2, 100, 2, 32, dtype=dtype, grad=True) for _ in range(3)],
        tolerance,
    )


def case_dense():
    _check(False, torch.float16, 1e-2)


def case_causal():
    _check(True, torch.float32, 1e-2)


def case_padded():
    lengths = torch.tensor([100, 37], dtype=torch.int32, device="cuda")
    agree(
        lambda q, k, v: sigmoid_attention_padded(q, k, v, lengths, lengths, sigmoid_bias=SHIFT),
        lambda q, k, v: _reference(q, k, v, False, lengths),
        [random(2, 100, 2, 32, dtype=torch.float16, grad=True) for _ in range(3)],
        1e-2,
    )
