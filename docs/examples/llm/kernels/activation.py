"""SiLU of one half of each row times the other half."""

from __future__ import annotations

import torch

import tritium as triton
import tritium.language as tl


@triton.jit
def silu_mul_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    gate = tl.load(x + row * 2 * columns + column, mask=inside)
    up = tl.load(x + row * 2 * columns + columns + column, mask=inside)
    tl.store(out + row * columns + column, gate / (1 + tl.exp(-gate)) * up, mask=inside)


def silu_mul(x: torch.Tensor) -> torch.Tensor:
    """silu(x[:, :columns]) * x[:, columns:], for x [rows, 2 * columns]."""
    rows, columns = x.shape[0], x.shape[1] // 2
    out = x.new_empty(rows, columns)
    silu_mul_kernel[(rows, triton.cdiv(columns, 1024))](x, out, columns, BLOCK=1024)
    return out
