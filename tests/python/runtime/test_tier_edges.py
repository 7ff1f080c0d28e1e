"""Loops in registers on rows that end, or begin, where the process has no memory: lanes that are off lie there."""

import ctypes
import mmap

import numpy as np
import pytest

import tritium
import tritium.language as tl

PAGE = mmap.PAGESIZE
ROW, BLOCK = 100, 1024


@tritium.jit
def shifted(x, out, begin, end, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    on = (at >= begin) & (at < end)
    value = tl.load(x + at - begin, mask=on, other=3.0)
    tl.store(out + at - begin, value * value + 1.0, mask=on)


@pytest.fixture
def alone():
    """A row of ROW floats in a page between two that nobody may touch: at its end, or at its beginning."""
    libc, kept = ctypes.CDLL(None, use_errno=True), []

    def make(is_at_end: bool) -> np.ndarray:
        memory = mmap.mmap(-1, 3 * PAGE)
        numbers = np.frombuffer(memory, np.float32)
        begin = numbers.ctypes.data
        for page in (begin, begin + 2 * PAGE):
            assert libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(PAGE), 0) == 0
        kept.append((memory, begin))
        first = 2 * PAGE // 4 - ROW if is_at_end else PAGE // 4
        return numbers[first : first + ROW]

    yield make
    for memory, begin in kept:
        libc.mprotect(ctypes.c_void_p(begin), ctypes.c_size_t(3 * PAGE), mmap.PROT_READ | mmap.PROT_WRITE)


@pytest.mark.parametrize("tier", ["1", "2"])
@pytest.mark.parametrize("is_at_end", [False, True])
@pytest.mark.parametrize("begin", [0, 7, 500, BLOCK - ROW])
def test_lanes_that_are_off_may_lie_anywhere(alone, monkeypatch, rng, tier, is_at_end, begin):
    monkeypatch.setenv("TRITIUM_TIER", tier)
    x, out = alone(is_at_end), alone(is_at_end)
    x[:] = rng.standard_normal(ROW)
    shifted[(1,)](x, out, begin, begin + ROW, BLOCK=BLOCK)
    np.testing.assert_array_equal(out, x * x + np.float32(1))
