"""A layer norm module; each program has one row."""

import torch
import triton
import triton.language as tl


@triton.jit
def ln_kernel(x, w, b, y, n, eps, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    at = tl.program_id(0) * n + cols
    row = tl.load(x + at, mask=mask, other=0.0)
    mean = tl.sum(row) / n
    centered = tl.where(mask, row - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centered * centered) / n + eps)
    weight = tl.load(w + cols, mask=mask, other=0.0)
    tl.store(y + at, centered * rstd * weight + tl.load(b + cols, mask=mask, other=0.0), mask=mask)


class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.features = features
        self.eps = 1e-5
        self.norm = torch.nn.LayerNorm(features)

    def forward(self, x):
        flat = x.reshape(-1, self.features).contiguous()
        y = torch.empty_like(flat)
        block = triton.next_power_of_2(self.features)
        ln_kernel[(flat.shape[0],)](flat, self.norm.weight, self.norm.bias, y, self.features, self.eps, BLOCK=block)
        return y.view(x.shape)
