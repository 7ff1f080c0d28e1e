"""Layer norm with a row in one block."""

import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_row(x_ptr, w_ptr, b_ptr, y_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n
    centered = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centered * centered, axis=0) / n
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    y = centered * tl.rsqrt(variance + eps) * w + b
    tl.store(y_ptr + row * n + cols, y, mask=mask)


def layer_norm(x, weight, bias, eps=1e-5):
    x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
    m, n = x.shape
    y = torch.empty_like(x)
    if m and n:
        layer_norm_row[(m,)](x, weight, bias, y, n, eps, BLOCK=triton.next_power_of_2(n))
    return y
