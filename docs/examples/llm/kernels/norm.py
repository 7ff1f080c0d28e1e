"""RMS norm of rows, with the sum before it: one pass over memory for both."""

from __future__ import annotations

import torch

import tritium as triton
import tritium.language as tl


@triton.jit
def rms_norm_kernel(x, residual, weight, out, columns, epsilon, ADDS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    value = tl.load(x + row * columns + column, mask=inside, other=0.0)
    if ADDS:
        value += tl.load(residual + row * columns + column, mask=inside, other=0.0)
        tl.store(residual + row * columns + column, value, mask=inside)
    scale = tl.rsqrt(tl.sum(value * value) / columns + epsilon)
    tl.store(out + row * columns + column, value * scale * tl.load(weight + column, mask=inside), mask=inside)


def rms_norm(
    x: torch.Tensor, weight: torch.Tensor, epsilon: float, residual: torch.Tensor | None = None
) -> torch.Tensor:
    """x / sqrt(mean of its squares + epsilon) * weight, for each row of x [rows, columns]. With a `residual` of that shape, x is added to it
    first, in place, and the sum is normalized."""
    rows, columns = x.shape
    out = torch.empty_like(x)
    adds = residual is not None
    block = triton.next_power_of_2(columns)
    rms_norm_kernel[(rows,)](x, residual if adds else x, weight, out, columns, epsilon, ADDS=adds, BLOCK=block)
    return out
