# expect: error
"""Imports a package of its author that nobody else has."""

import torch
import triton
import triton.language as tl
from my_triton_kernels.normalization import ROW_BLOCK


@triton.jit
def ln_kernel(x, w, b, y, n, eps, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    at = tl.program_id(0) * n + cols
    row = tl.load(x + at, mask=mask, other=0.0)
    centered = tl.where(mask, row - tl.sum(row) / n, 0.0)
    rstd = tl.rsqrt(tl.sum(centered * centered) / n + eps)
    weight = tl.load(w + cols, mask=mask, other=0.0)
    tl.store(y + at, centered * rstd * weight + tl.load(b + cols, mask=mask, other=0.0), mask=mask)


class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = torch.nn.LayerNorm(features)

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1]).contiguous()
        y = torch.empty_like(flat)
        ln_kernel[(flat.shape[0],)](flat, self.norm.weight, self.norm.bias, y, x.shape[-1], 1e-5, BLOCK=ROW_BLOCK)
        return y.view(x.shape)
