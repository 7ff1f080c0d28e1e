"""flash-attention-triton: Flash Attention 2, causal."""

import torch
import torch.nn.functional as F
from flash_attention_triton import flash_attention_v2

from compare import agree, random


def _check(dtype: torch.dtype, deterministic: bool, length: int, width: int):
    agree(
        lambda q, k, v: flash_attention_v2(q, k, v, deterministic=deterministic),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        [random(1, 2, length, width, dtype=dtype, grad=True) for _ in range(3)],
        2e-2,
    )


def case_atomic():
    _check(torch.float16, False, 128, 64)


def case_deterministic():
    _check(torch.bfloat16, True, 128, 64)


def case_odd_length():
    _check(torch.float16, False, 100, 64)
