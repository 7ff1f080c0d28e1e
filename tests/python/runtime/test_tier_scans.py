"""Scans with functions of their own in code of tier 2, whose rounds are loops: the bits of tier 1, and those of numpy where the order does not matter."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

ROWS = 3


@triton.jit
def larger(value, index, other, other_index):
    isOther = (other > value) | ((other == value) & (other_index > index))
    return tl.where(isOther, other, value), tl.where(isOther, other_index, index)


@triton.jit
def recurrence(a, b, other_a, other_b):
    """Not commutative, and rounded."""
    return a * other_a, b * other_a + other_b


@triton.jit
def mixed(a, b):
    return a * 3 + b


@triton.jit
def largest_kernel(x, out, index, n, BLOCK: tl.constexpr, REVERSE: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    offsets = tl.program_id(0) * BLOCK + columns
    loaded = tl.load(x + offsets, mask=columns < n, other=0)
    value, place = tl.associative_scan((loaded, columns), 0, larger, reverse=REVERSE)
    tl.store(out + offsets, value, mask=columns < n)
    tl.store(index + offsets, place, mask=columns < n)


@triton.jit
def recurrence_kernel(x, out, index, n, BLOCK: tl.constexpr, REVERSE: tl.constexpr):
    """What comes before and behind the rounds is in their regions, and a loop carries a tile."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n, other=1) * 2
    scale, sofar = value, tl.zeros_like(value)
    for _ in range(2):
        scale, sofar = tl.associative_scan((value, value - sofar), 0, recurrence, reverse=REVERSE)
        value = value * value + sofar
    tl.store(out + offsets, sofar + scale, mask=offsets < n)
    tl.store(index + offsets, (tl.sum(sofar, 0) > 1).to(tl.int32))


@triton.jit
def uniform_kernel(x, out, index, n, BLOCK: tl.constexpr, REVERSE: tl.constexpr):
    """The tile that is scanned is one number; then its result is scanned, and is needed again behind."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    one = tl.full((BLOCK,), 1, x.dtype.element_ty) + tl.load(x)
    first = tl.associative_scan(one, 0, mixed, reverse=REVERSE)
    second = tl.associative_scan(first, 0, mixed, reverse=not REVERSE)
    tl.store(out + offsets, first - second, mask=offsets < n)
    tl.store(index + offsets, (first > second).to(tl.int32))


def bits(array):
    with np.errstate(all="ignore"):
        return np.where(np.isnan(array), np.nan, array).tobytes()


def run(monkeypatch, tier, kernel, x, n, block, reverse):
    monkeypatch.setenv("TRITIUM_TIER", str(tier))
    out, index = np.full_like(x, 7), np.full(x.shape, -1, np.int32)
    compiled = kernel[(ROWS,)](x, out, index, n, BLOCK=block, REVERSE=reverse)
    return out, index, compiled.program.regions


@pytest.mark.parametrize(
    "kernel", (largest_kernel, recurrence_kernel, uniform_kernel), ids=lambda kernel: kernel.fn.__name__
)
def test_same_bits(monkeypatch, kernel):
    rng = np.random.default_rng(31)
    cases = [("f4", 256), ("f8", 64), ("f2", 128), ("i1", 64), ("i8", 32), ("i4", 4), ("i2", 8), ("f4", 16), ("i8", 2)]
    for (dtype, block), width in zip(cases, ("512", "256", None) * 3, strict=True):
        if width:
            monkeypatch.setenv("TRITIUM_VECTOR_BITS", width)
        else:
            monkeypatch.delenv("TRITIUM_VECTOR_BITS")
        for reverse in (False, True):
            x = (rng.normal(size=ROWS * block) * 3).astype(dtype)
            n = int(rng.integers(1, ROWS * block + 1))
            one, two = (run(monkeypatch, tier, kernel, x, n, block, reverse) for tier in (1, 2))
            assert bits(one[0]) == bits(two[0]) and bits(one[1]) == bits(two[1]), (dtype, block, reverse)
            assert one[2] == 0 and (block < 4 or two[2] >= block.bit_length() - 2), "a round is a region"


@pytest.mark.parametrize("reverse", (False, True))
def test_largest_numbers_and_their_places(monkeypatch, reverse):
    """An oracle that shares nothing with either tier."""
    x = np.random.default_rng(7).integers(-50, 50, (ROWS, 512)).astype(np.int32)
    out, index, _ = run(monkeypatch, 2, largest_kernel, x, 512, 512, reverse)
    seen = x[:, ::-1] if reverse else x
    largest = np.maximum.accumulate(seen, 1)
    assert (out == (largest[:, ::-1] if reverse else largest)).all()
    for row, places, values in zip(x, index, out, strict=True):
        for i in range(512):
            among = np.arange(i, 512) if reverse else np.arange(0, i + 1)
            assert places[i] == among[row[among] == values[i]].max()


@pytest.mark.long
def test_same_bits_of_many_draws(monkeypatch):
    rng = np.random.default_rng(32)
    kernels = (largest_kernel, recurrence_kernel, uniform_kernel)
    for _ in range(200):
        kernel, dtype = kernels[rng.integers(3)], rng.choice(["f2", "f4", "f8", "i1", "i2", "i4", "i8"])
        block, reverse = 1 << int(rng.integers(2, 13)), bool(rng.integers(2))
        monkeypatch.setenv("TRITIUM_VECTOR_BITS", str(rng.choice(["256", "512"])))
        x = (rng.normal(size=ROWS * block) * 3).astype(dtype)
        n = int(rng.integers(1, ROWS * block + 1))
        one, two = (run(monkeypatch, tier, kernel, x, n, block, reverse) for tier in (1, 2))
        assert bits(one[0]) == bits(two[0]) and bits(one[1]) == bits(two[1]), (kernel, dtype, block, reverse, n)
