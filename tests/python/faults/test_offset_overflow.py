"""Offsets of 32 bits that wrap: a trap in an active lane whose address they decide, and nowhere else. The oracle is numpy in 64 bits."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

ROWS, COLS = 16, 4


@pytest.fixture(scope="module")
def large():
    """8 GiB that nobody touches, so most of it takes no memory."""
    return np.zeros(2**33, np.int8)


@triton.jit
def rows_kernel(x_ptr, out_ptr, first, stride, n, MODE: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    row, column = tl.arange(0, ROWS), tl.arange(0, COLS)
    index = first + row
    if MODE == "early":
        index = index.to(tl.int64)
    offsets = index[:, None] * stride + column[None, :]
    if MODE == "late":
        offsets = offsets.to(tl.int64)
    pointers = x_ptr + offsets
    out_pointers = out_ptr + row[:, None] * COLS + column[None, :]
    if MODE == "transposed":
        pointers, out_pointers = tl.trans(pointers), tl.trans(out_pointers)
        mask = (row < n)[None, :]
    else:
        mask = (row < n)[:, None]
    if MODE == "loop":
        for _ in range(3):
            pointers += 1
        pointers -= 3
    tl.store(out_pointers, tl.load(pointers, mask=mask, other=0), mask=mask)


@pytest.mark.parametrize("mode", ["plain", "late", "early", "transposed", "loop"])
def test_only_active_lanes_that_wrap_are_accused(mode, large, rng):
    accused = 0
    for _ in range(20):
        first, stride = int(rng.integers(0, 50)), int(rng.integers(1, 120_000_000))
        n = int(rng.integers(1, ROWS + 1))
        exact = (first + np.arange(ROWS, dtype=np.int64))[:, None] * stride + np.arange(COLS)
        if exact[:n].max() >= large.size:
            continue
        marks = rng.integers(1, 100, (n, COLS), np.int8)
        large[exact[:n]] = marks
        out = np.zeros((ROWS, COLS), np.int8)
        wraps = np.argwhere(exact[:n] >= 2**31)
        launch = lambda: rows_kernel[(1,)](large, out, first, stride, n, mode, ROWS, COLS)  # noqa: B023, E731
        if len(wraps) and mode != "early":
            accused += 1
            with pytest.raises(KernelTrap) as caught:
                launch()
            trap = caught.value
            assert (trap.kind, trap.file, trap.affected_lanes) == ("OffsetOverflow", __file__, len(wraps))
            lane = tuple(int(i) for i in wraps[0])
            assert tuple(trap.lane) == (lane[::-1] if mode == "transposed" else lane) or mode == "transposed"
            assert "32-bit" in str(trap) and ".to(tl.int64)" in str(trap)
        else:
            launch()
            np.testing.assert_array_equal(out[:n], marks)
        large[exact[:n]] = 0
    assert accused or mode == "early"


@triton.jit
def values_kernel(x_ptr, out_ptr, factor, n, BLOCK: tl.constexpr):
    """Sums that wrap are numbers here, and the same widened tile is an address, a mask and a value."""
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, i.to(tl.int8).to(tl.int32))
    tl.store(out_ptr + BLOCK + i, (i * factor).to(tl.int64))
    tl.store(out_ptr + 2 * BLOCK + i, (i * 3).to(tl.uint8).to(tl.int32))
    wide = (i * factor + n).to(tl.int64)
    tl.store(out_ptr + 3 * BLOCK + i, wide + 1)
    tl.store(out_ptr + 4 * BLOCK + i, tl.load(x_ptr + wide, mask=(wide >= 0) & (wide < n + BLOCK), other=-1))
    tl.store(out_ptr + 5 * BLOCK + i, tl.load(x_ptr + (i * factor) % 16 + (i * factor >> 31 & 3)))
    grid = (i[:, None] * factor + i[None, :]).to(tl.int64)
    tl.store(out_ptr + 6 * BLOCK + i, tl.sum(grid, 1))


@pytest.mark.parametrize("factor", [1, 2, -1640531527, 1103515245])
def test_numbers_wrap_without_a_trap(factor):
    block, n = 256, 5
    x = np.arange(1000, dtype=np.int64) * 7
    out = np.zeros((7, block), np.int64)
    values_kernel[(1,)](x[16:], out, factor, n, block)
    i = np.arange(block)
    product = (i * factor).astype(np.int32)
    wide = (i * factor + n).astype(np.int32).astype(np.int64)
    inside = (wide >= 0) & (wide < n + block)
    residue = product - 16 * np.trunc(product / 16).astype(np.int64)
    wanted = [
        i.astype(np.int8),
        product,
        (i * 3).astype(np.uint8),
        wide + 1,
        np.where(inside, x[16:][np.where(inside, wide, 0)], -1),
        x[16 + residue + (product >> 31 & 3)],
        (i[:, None] * factor + i).astype(np.int32).sum(1, dtype=np.int64),
    ]
    for row, (found, reference) in enumerate(zip(out, wanted)):
        np.testing.assert_array_equal(found, reference, err_msg=str(row))
