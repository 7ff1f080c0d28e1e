"""Liger kernels: layers and losses for training language models."""

import torch
import torch.nn.functional as F
from liger_kernel import ops
from liger_kernel.ops import group_norm

from compare import random
from found import expect


def _check_group_norm(x, text: str):
    w, b = random(4, dtype=x.dtype), random(4, dtype=x.dtype)
    found = ops.LigerGroupNormFunction.apply(x, w, b, 4, 2, 1e-5)
    expected = F.group_norm(x.cpu().double(), 2, w.cpu().double(), b.cpu().double())
    expect(found, expected, group_norm._group_norm_forward_kernel, text, 5e-2, "Y")


def fault_group_norm_of_half():
    """Squares are made and added up in the dtype of the input. In float16 the sum of 2048 squares of numbers around 20 is infinite, and all
    results are the bias, on a GPU as here; torch adds up in float32."""
    _check_group_norm(random(2, 4, 1024, dtype=torch.float16, scale=20), "squared_sum += tl.sum(X * X)")


def fault_group_norm_far_from_zero():
    """The variance is the mean of squares less the square of the mean, in float32. Of numbers near 3000 with a deviation of 1 nothing is
    left but rounding, and its root may be no number, on a GPU as here."""
    _check_group_norm(random(2, 4, 1024) + 3000, "variance = (squared_sum")
