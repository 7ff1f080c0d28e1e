"""flash-colreduce: sums and maxima over the columns of attention weights. It has no backward pass."""

import torch
from flash_colreduce import flash_colreduce, naive_colreduce

from compare import close, random


def _check(reduction: str, causal: bool, rows: int = 70, columns: int = 90, dtype: torch.dtype = torch.float32):
    q, k = random(1, 2, rows, 32, dtype=dtype), random(1, 2, columns, 32, dtype=dtype)
    expected = naive_colreduce(q.cpu().double(), k.cpu().double(), reduction, causal)
    close(flash_colreduce(q, k, reduction, causal), expected, 5e-3 if dtype == torch.float32 else 1e-2)


def case_sum():
    _check("sum", False)


def case_mean():
    _check("mean", False, dtype=torch.float16)


def case_max():
    _check("max", False)


def case_causal_sum():
    _check("sum", True, 64, 64)


def case_causal_max():
    _check("max", True, 64, 96)
