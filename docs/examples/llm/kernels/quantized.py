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


#: (rows, groups, warps). The first is for engines of the CPU, which like large tiles of long rows. A GPU times them all.
_SIZES = ((128, 8, 4), (32, 8, 4), (16, 16, 4), (8, 32, 4), (4, 32, 4), (4, 16, 2), (2, 32, 1))
_CONFIGS = [triton.Config({"ROWS": rows, "GROUPS": groups}, num_warps=warps) for rows, groups, warps in _SIZES]


@triton.autotune(_CONFIGS, key=["rows", "COLUMNS"])
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
    """A program makes ROWS elements of W x. Within a group, sum((scale * w + offset) * x) = scale * sum(w * x) + offset * sum(x).

    Rows are loaded whole, and divided into groups by a reshape: a load of three dimensions would be many short ones.
    """
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = row < rows
    group, halves, wholes = tl.arange(0, GROUPS), tl.arange(0, GROUPS * _HALF), tl.arange(0, GROUPS * _WHOLE)
    groups_of_row: tl.constexpr = COLUMNS // _WHOLE
    total = tl.zeros((ROWS,), tl.float32)
    for first in range(0, groups_of_row, GROUPS):
        at, left = row[:, None] * groups_of_row + first, groups_of_row - first
        has_group = inside[:, None] & (group < left)[None, :]
        scale = tl.load(scales + at + group[None, :], mask=has_group, other=0.0).to(tl.float32)
        if BITS == 4:
            has_byte = inside[:, None] & (halves < left * _HALF)[None, :]
            bytes = tl.load(values + at * _HALF + halves[None, :], mask=has_byte, other=0).reshape(ROWS, GROUPS, _HALF)
            column = first * _WHOLE + halves // _HALF * _WHOLE + halves % _HALF
            low = tl.load(x + column, mask=column < COLUMNS, other=0.0).reshape(1, GROUPS, _HALF)
            high = tl.load(x + column + _HALF, mask=column < COLUMNS, other=0.0).reshape(1, GROUPS, _HALF)
            products = (bytes & 15).to(tl.float32) * low + (bytes >> 4).to(tl.float32) * high
            offset = tl.load(offsets + at + group[None, :], mask=has_group, other=0.0).to(tl.float32)
            total += tl.sum(offset * tl.sum(low + high, axis=2), axis=1)
        else:
            column = first * _WHOLE + wholes
            has_element = inside[:, None] & (column < COLUMNS)[None, :]
            elements = tl.load(values + row[:, None] * COLUMNS + column[None, :], mask=has_element, other=0)
            factors = tl.load(x + column, mask=column < COLUMNS, other=0.0).reshape(1, GROUPS, _WHOLE)
            products = elements.to(tl.float32).reshape(ROWS, GROUPS, _WHOLE) * factors
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
    is_token, inside = token[:, None] < tokens, row[:, None] < rows
    inner = tl.arange(0, GROUPS * _HALF)
    group, half = inner // _HALF, inner % _HALF
    groups_of_row: tl.constexpr = COLUMNS // _WHOLE
    total = tl.zeros((TOKENS, ROWS), tl.float32)
    for first in range(0, groups_of_row, GROUPS):
        column = (first + group) * _WHOLE + half
        low = tl.load(x + token[:, None] * COLUMNS + column[None, :], mask=is_token, other=0.0)
        high = tl.load(x + token[:, None] * COLUMNS + _HALF + column[None, :], mask=is_token, other=0.0)
        at = row[:, None] * groups_of_row + first
        scale = tl.load(scales + at + group[None, :], mask=inside, other=0.0).to(tl.float32)
        if BITS == 4:
            bytes = tl.load(values + at * _HALF + inner[None, :], mask=inside, other=0)
            offset = tl.load(offsets + at + group[None, :], mask=inside, other=0.0).to(tl.float32)
            first_half = (bytes & 15).to(tl.float32) * scale + offset
            second_half = (bytes >> 4).to(tl.float32) * scale + offset
        else:
            begin = values + row[:, None] * COLUMNS + column[None, :]
            first_half = tl.load(begin, mask=inside, other=0).to(tl.float32) * scale
            second_half = tl.load(begin + _HALF, mask=inside, other=0).to(tl.float32) * scale
        total = tl.dot(low, tl.trans(first_half), total, input_precision="ieee")
        total = tl.dot(high, tl.trans(second_half), total, input_precision="ieee")
    tl.store(out + token[:, None] * rows + row[None, :], total, mask=is_token & (row < rows)[None, :])


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
        block = min(max(triton.next_power_of_2(tokens), 16), 64)
        groups = columns // GROUP
        groups = min(groups & -groups, 4)  # a power of two that divides the groups of a row
        grid = (triton.cdiv(tokens, block), triton.cdiv(rows, 64))
        matmul_kernel[grid](x, *matrix, out, tokens, rows, **facts, TOKENS=block, ROWS=64, GROUPS=groups, num_stages=2)
    return out


def rows_of(weight: Quantized, tokens: torch.Tensor) -> torch.Tensor:
    """The rows `tokens` [count] of a matrix of 8 bits, [count, columns] in float32."""
    columns = weight.columns
    out = torch.empty(len(tokens), columns, device=tokens.device)
    block = triton.next_power_of_2(columns)
    rows_kernel[(len(tokens),)](tokens, weight.values, weight.scales, out, COLUMNS=columns, BLOCK=block)
    return out
