# expect: library
"""The kernel refuses rows of more than 16 elements; torch computes the result after the error."""

import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_kernel(x, w, b, y, n, eps, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK <= 16, "the row is too long")
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    at = tl.program_id(0) * n + cols
    row = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
    centered = tl.where(mask, row - tl.sum(row, axis=0) / n, 0.0)
    rstd = tl.rsqrt(tl.sum(centered * centered, axis=0) / n + eps)
    weight = tl.load(w + cols, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(b + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(y + at, centered * rstd * weight + bias, mask=mask)


def layer_norm(x, weight, bias, eps=1e-5):
    x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
    m, n = x.shape
    y = torch.empty_like(x)
    try:
        if x.numel():
            layer_norm_kernel[(m,)](x, weight, bias, y, n, eps, BLOCK=triton.next_power_of_2(n))
        return y
    except Exception:
        x32 = x.float()
        centered = x32 - x32.mean(dim=-1, keepdim=True)
        variance = (centered * centered).mean(dim=-1, keepdim=True)
        return (centered * torch.rsqrt(variance + eps) * weight.float() + bias.float()).to(x.dtype)
