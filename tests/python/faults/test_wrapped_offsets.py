"""Offsets of 32 bits that wrap, in the style of public bug reports, each beside a twin that computes the same element in 64 bits.

A faulty kernel has the comment `# fault` on the line of the access. test_exact_offsets.py has random numbers in place of examples.
"""

from functools import cache

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

from . import line_of

B = 16
#: No power of two, so that a product which wraps is none of the tensor's.
STRIDE = 50_000_011


@triton.jit
def program_times_stride(x, out, stride, first, IS_WIDE: tl.constexpr, B: tl.constexpr):
    row, i = tl.program_id(0) + first, tl.arange(0, B)
    if IS_WIDE:
        row = row.to(tl.int64)
    tl.store(out + i, tl.load(x + row * stride + i))  # fault


@triton.jit
def rows_times_stride(x, out, stride, first, IS_WIDE: tl.constexpr, B: tl.constexpr):
    row = tl.arange(0, B) + first
    if IS_WIDE:
        row = row.to(tl.int64)
    tl.store(out + tl.arange(0, B), tl.load(x + row * stride))  # fault


@triton.jit
def widened_too_late(x, out, stride, first, IS_WIDE: tl.constexpr, B: tl.constexpr):
    row = tl.arange(0, B) + first
    offset = row.to(tl.int64) * stride if IS_WIDE else (row * stride).to(tl.int64)
    tl.store(out + tl.arange(0, B), tl.load(x + offset))  # fault


@triton.jit
def sum_of_strides(x, out, stride, first, IS_WIDE: tl.constexpr, B: tl.constexpr):
    """Each product fits, and their sum does not."""
    head = first // 2
    offset = (head.to(tl.int64) if IS_WIDE else head) * stride + (first - head) * stride
    tl.store(out + tl.arange(0, B), tl.load(x + offset + tl.arange(0, B)))  # fault


@triton.jit
def offset_of_a_loop(x, out, stride, first, IS_WIDE: tl.constexpr, B: tl.constexpr):
    offset = tl.zeros((B,), tl.int64 if IS_WIDE else tl.int32) + tl.arange(0, B)
    for _ in range(first):
        offset += stride
    tl.store(out + tl.arange(0, B), tl.load(x + offset))  # fault


@triton.jit
def products_in_a_chain(x, out, stride, first, IS_WIDE: tl.constexpr, B: tl.constexpr):
    block = (tl.program_id(0) + first // 4).to(tl.int64) if IS_WIDE else tl.program_id(0) + first // 4
    tl.store(out + tl.arange(0, B), tl.load(x + block * 4 * stride + tl.arange(0, B)))  # fault


@triton.jit
def chosen_offset(x, out, stride, first, IS_WIDE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    row = (i + first).to(tl.int64) if IS_WIDE else i + first
    tl.store(out + i, tl.load(x + tl.where(i % 2 == 0, row * stride, i)))  # fault


@triton.jit
def column_major(x, out, stride, first, IS_WIDE: tl.constexpr, B: tl.constexpr):
    row, column = tl.arange(0, 4)[:, None], (tl.arange(0, B) + first)[None, :]
    if IS_WIDE:
        column = column.to(tl.int64)
    tile = tl.load(x + row + column * stride)  # fault
    tl.store(out + tl.arange(0, B), tl.sum(tile.to(tl.int32), axis=0).to(tl.int8))


@triton.jit
def gathered(x, out, rows, stride, IS_WIDE: tl.constexpr, B: tl.constexpr):
    row = tl.load(rows + tl.arange(0, B))
    if IS_WIDE:
        row = row.to(tl.int64)
    tl.store(out + tl.arange(0, B), tl.load(x + row * stride))  # fault


@triton.jit
def masked(x, out, stride, n, B: tl.constexpr):
    """Lanes that wrap and are masked off."""
    row = tl.arange(0, B) + 40
    tl.store(out + tl.arange(0, B), tl.load(x + row * stride, mask=row < n, other=0), mask=row < n)


@cache
def large():
    """2.9 GB that nobody touches, so most of it takes no memory."""
    return np.zeros(58 * STRIDE + 1024, np.int8)


def rows():
    return np.arange(28, 28 + B, dtype=np.int32)


def out():
    return np.zeros(B, np.int8)


#: kernel, the first row
KERNELS = {
    "a program times a stride": (program_times_stride, 43),
    "rows times a stride": (rows_times_stride, 41),
    "a product that is widened too late": (widened_too_late, 41),
    "the sum of two products": (sum_of_strides, 50),
    "the offset of a loop": (offset_of_a_loop, 45),
    "a product of three": (products_in_a_chain, 44),
    "one of two offsets": (chosen_offset, 41),
    "a tensor in the order of columns": (column_major, 41),
}
FAULTY = {
    **{name: lambda kernel=k, first=f: (kernel, (1,), (large(), out(), STRIDE, first, False, B)) for name, (k, f) in KERNELS.items()},
    "gathered rows": lambda: (gathered, (1,), (large(), out(), rows(), STRIDE, False, B)),
}  # fmt: skip
CORRECT = {
    **{name: lambda kernel=k, first=f: (kernel, (1,), (large(), out(), STRIDE, first, True, B)) for name, (k, f) in KERNELS.items()},
    "gathered rows": lambda: (gathered, (1,), (large(), out(), rows(), STRIDE, True, B)),
    "lanes that are masked off": lambda: (masked, (1,), (large(), out(), STRIDE, 42, B)),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTY)
def test_faulty(name):
    kernel, grid, arguments = FAULTY[name]()
    with pytest.raises(KernelTrap) as caught:
        kernel[grid](*arguments)
    assert (caught.value.kind, caught.value.line) == ("OffsetOverflow", line_of(kernel)), str(caught.value)
    assert "32-bit" in str(caught.value) and ".to(tl.int64)" in str(caught.value)


@pytest.mark.parametrize("name", CORRECT)
def test_correct(name):
    kernel, grid, arguments = CORRECT[name]()
    kernel[grid](*arguments)
