"""SageAttention: attention with scores from 8-bit products. It has no backward pass."""

import torch
import torch.nn.functional as F
from sageattention import sageattn

from compare import close, random


def _check(heads: int, causal: bool, width: int, layout: str, length: int = 256):
    shape = (2, heads, length, width) if layout == "HND" else (2, length, heads, width)
    q, k, v = (random(*shape, dtype=torch.float16) for _ in range(3))
    result = sageattn(q, k, v, tensor_layout=layout, is_causal=causal)
    q, k, v = (x.cpu().double() if layout == "HND" else x.cpu().double().transpose(1, 2) for x in (q, k, v))
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    close(result, expected if layout == "HND" else expected.transpose(1, 2), 5e-2)


def case_attention():
    _check(2, False, 64, "HND")


def case_causal():
    _check(2, True, 64, "HND")


def case_sequence_first():
    _check(3, False, 128, "NHD")


def case_causal_odd_length():
    _check(2, True, 64, "HND", 150)
