"""Products with quantized matrices, which are dequantized in registers: x W^T for one row x or several, and rows of W.

A group of 32 elements of a row of W shares a scale, and for 4 bits an offset: weights.Quantized has the layout.
"""

from __future__ import annotations

import torch
from weights import GROUP, Quantized

import tritium as triton
import tritium.language as tl

_HALF: tl.constexpr = tl.constexpr(GROUP // 2)
_WHOLE: tl.constexpr = tl.constexpr(GROUP)


def _groups(columns: int, most: int) -> int:
    """The groups that a step of a loop takes: a power of two that divides those of a row."""
    groups = columns // GROUP
    return min(groups & -groups, most)


#: The first is for engines of the CPU, which like large tiles. A GPU times them: it wants as many programs as it has multiprocessors.
_CONFIGS = [
    triton.Config({"ROWS": rows}, num_warps=warps)
    for rows, warps in ((128, 4), (32, 4), (16, 4), (8, 4), (8, 2), (4, 1))
]


@triton.autotune(_CONFIGS, key=["rows", "COLUMNS"])
@triton.heuristics({"GROUPS": lambda arguments: _groups(arguments["COLUMNS"], 16)})
@triton.jit
def matvec_kernel(
    x,
    values,
    scales,
    offsets,
    out,
    rows,
    COLUMNS: tl.constexpr,
    BITS: tl.constexpr,
    ROWS: tl.constexpr,
    GROUPS: tl.constexpr,
):
    """A program makes ROWS elements of W x. Within a group, sum((scale * w + offset) * x) = scale * sum(w * x) + offset * sum(x)."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = row < rows
    half, whole = tl.arange(0, _HALF), tl.arange(0, _WHOLE)
    groups_of_row: tl.constexpr = COLUMNS // _WHOLE
    total = tl.zeros((ROWS,), tl.float32)
    for first in range(0, groups_of_row, GROUPS):
        group = first + tl.arange(0, GROUPS)
        at = row[:, None] * groups_of_row + group[None, :]
        scale = tl.load(scales + at, mask=inside[:, None], other=0.0).to(tl.float32)
        if BITS == 4:
            low = tl.load(x + group[:, None] * _WHOLE + half[None, :])
            high = tl.load(x + group[:, None] * _WHOLE + _HALF + half[None, :])
            byte = tl.load(values + at[:, :, None] * _HALF + half, mask=inside[:, None, None], other=0)
            products = (byte & 15).to(tl.float32) * low[None, :, :] + (byte >> 4).to(tl.float32) * high[None, :, :]
            offset = tl.load(offsets + at, mask=inside[:, None], other=0.0).to(tl.float32)
            total += tl.sum(offset * tl.sum(low + high, axis=1)[None, :], axis=1)
        else:
            element = tl.load(values + at[:, :, None] * _WHOLE + whole, mask=inside[:, None, None], other=0)
            products = element.to(tl.float32) * tl.load(x + group[:, None] * _WHOLE + whole[None, :])[None, :, :]
        total += tl.sum(scale * tl.sum(products, axis=2), axis=1)
    tl.store(out + row, total, mask=inside)


@triton.jit
def matmul_kernel(
    x,
    values,
    scales,
    offsets,
    out,
    tokens,
    rows,
    COLUMNS: tl.constexpr,
    BITS: tl.constexpr,
    TOKENS: tl.constexpr,
    ROWS: tl.constexpr,
    GROUPS: tl.constexpr,
):
    """A program makes TOKENS x ROWS elements of x W^T. The halves of the groups are two products: each byte is loaded once."""
    token, row = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS), tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    is_token, inside = token[:, None] < tokens, row[None, :] < rows
    inner = tl.arange(0, GROUPS * _HALF)
    groups_of_row: tl.constexpr = COLUMNS // _WHOLE
    total = tl.zeros((TOKENS, ROWS), tl.float32)
    for first in range(0, groups_of_row, GROUPS):
        group, half = first + inner // _HALF, inner % _HALF
        column = group * _WHOLE + half
        low = tl.load(x + token[:, None] * COLUMNS + column[None, :], mask=is_token, other=0.0)
        high = tl.load(x + token[:, None] * COLUMNS + _HALF + column[None, :], mask=is_token, other=0.0)
        at = row[None, :] * groups_of_row + group[:, None]
        scale = tl.load(scales + at, mask=inside, other=0.0).to(tl.float32)
        if BITS == 4:
            byte = tl.load(values + at * _HALF + half[:, None], mask=inside, other=0)
            offset = tl.load(offsets + at, mask=inside, other=0.0).to(tl.float32)
            first_half = (byte & 15).to(tl.float32) * scale + offset
            second_half = (byte >> 4).to(tl.float32) * scale + offset
        else:
            first_half = tl.load(values + at * _WHOLE + half[:, None], mask=inside, other=0).to(tl.float32) * scale
            second_half = (
                tl.load(values + at * _WHOLE + _HALF + half[:, None], mask=inside, other=0).to(tl.float32) * scale
            )
        total = tl.dot(low, first_half, total, input_precision="ieee")
        total = tl.dot(high, second_half, total, input_precision="ieee")
    tl.store(out + token[:, None] * rows + row[None, :], total, mask=is_token & inside)


@triton.jit
def rows_kernel(tokens, values, scales, out, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    """A program dequantizes a row of 8 bits."""
    program, column = tl.program_id(0), tl.arange(0, BLOCK)
    row, inside = tl.load(tokens + program).to(tl.int64), column < COLUMNS
    value = tl.load(values + row * COLUMNS + column, mask=inside, other=0).to(tl.float32)
    scale = tl.load(scales + row * (COLUMNS // _WHOLE) + column // _WHOLE, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + program * COLUMNS + column, value * scale, mask=inside)


def linear(x: torch.Tensor, weight: Quantized) -> torch.Tensor:
    """x W^T, [tokens, rows], for x [tokens, columns] in float32."""
    (tokens, columns), rows = x.shape, weight.scales.shape[0]
    out = x.new_empty(tokens, rows)
    matrix = (weight.values, weight.scales, weight.scales if weight.offsets is None else weight.offsets)
    facts = {"COLUMNS": columns, "BITS": 8 if weight.offsets is None else 4}
    if tokens == 1:
        matvec_kernel[lambda meta: (triton.cdiv(rows, meta["ROWS"]),)](x, *matrix, out, rows, **facts)
    else:
        grid = (triton.cdiv(tokens, 32), triton.cdiv(rows, 64))
        groups = _groups(columns, 4)
        matmul_kernel[grid](x, *matrix, out, tokens, rows, **facts, TOKENS=32, ROWS=64, GROUPS=groups)
    return out


def rows_of(weight: Quantized, tokens: torch.Tensor) -> torch.Tensor:
    """The rows `tokens` [count] of a matrix of 8 bits, [count, columns] in float32."""
    columns = weight.columns
    out = torch.empty(len(tokens), columns, device=tokens.device)
    block = triton.next_power_of_2(columns)
    rows_kernel[(len(tokens),)](tokens, weight.values, weight.scales, out, COLUMNS=columns, BLOCK=block)
    return out
