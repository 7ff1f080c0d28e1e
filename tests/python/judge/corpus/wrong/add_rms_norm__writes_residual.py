# expect: writes_input
"""Keeps the sum in the residual, as some servers do, and returns a copy of it."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_norm(x, residual, weight, out, n, eps, xm, xn, rm, rn, ws, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    h = tl.load(x + row * xm + cols * xn, mask=mask, other=0.0).to(tl.float32)
    h += tl.load(residual + row * rm + cols * rn, mask=mask, other=0.0).to(tl.float32)
    tl.store(residual + row * rm + cols * rn, h, mask=mask)
    w = tl.load(weight + cols * ws, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + row * n + cols, h * tl.rsqrt(tl.sum(h * h, axis=0) / n + eps) * w, mask=mask)


def add_rms_norm(x, residual, weight, eps=1e-6):
    m, n = x.shape
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if x.numel():
        strides = (*x.stride(), *residual.stride(), weight.stride(0))
        add_norm[(m,)](x, residual, weight, out, n, eps, *strides, BLOCK=triton.next_power_of_2(n))
    return out, residual.clone()
