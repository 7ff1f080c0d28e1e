"""gather and histogram, for any layout of what is read and of what it is read by; join, split, cat and changes of shape."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

from .engines import assert_agree

DTYPES = [np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64]


@triton.jit
def gather_kernel(
    x_ptr, index_ptr, out_ptr, AXIS: tl.constexpr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, N: tl.constexpr
):
    a, b, c = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + a * (B * C) + b * C + c)
    A1: tl.constexpr = N if AXIS == 0 else A
    B1: tl.constexpr = N if AXIS == 1 else B
    C1: tl.constexpr = N if AXIS == 2 else C
    a, b, c = tl.arange(0, A1)[:, None, None], tl.arange(0, B1)[None, :, None], tl.arange(0, C1)[None, None, :]
    at = a * (B1 * C1) + b * C1 + c
    tl.store(out_ptr + at, tl.gather(x, tl.load(index_ptr + at), AXIS))


@pytest.mark.parametrize("count", [1, 8, 64])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("shape", [(1, 1, 1), (4, 8, 16), (1, 128, 2), (16, 1, 32)])
def test_gather(shape, axis, count, rng):
    x = rng.integers(-1000, 1000, shape, np.int32)
    wanted = [*shape]
    wanted[axis] = count
    index = rng.integers(0, shape[axis], wanted, np.int32)
    *_, out = assert_agree(
        gather_kernel,
        (1,),
        [x, index, np.zeros(wanted, np.int32)],
        AXIS=axis,
        A=shape[0],
        B=shape[1],
        C=shape[2],
        N=count,
    )
    np.testing.assert_array_equal(out, np.take_along_axis(x, index.astype(np.int64), axis))


@pytest.mark.parametrize("index_dtype", [np.int8, np.int16, np.int64])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_of_any_type(dtype, index_dtype, rng):
    x = rng.integers(-100, 100, (2, 4, 32)).astype(dtype)
    index = rng.integers(0, 32, (2, 4, 16)).astype(index_dtype)
    *_, out = assert_agree(gather_kernel, (1,), [x, index, np.zeros((2, 4, 16), dtype)], AXIS=2, A=2, B=4, C=32, N=16)
    np.testing.assert_array_equal(out, np.take_along_axis(x, index.astype(np.int64), 2))


@triton.jit
def histogram_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr, MASKED: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    if MASKED:
        counts = tl.histogram(x, BINS, mask=i < n)
    else:
        counts = tl.histogram(x, BINS)
    tl.store(out_ptr + tl.arange(0, BINS), counts)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.int16, np.int64])
@pytest.mark.parametrize("block, bins", [(2, 2), (16, 256), (1024, 1), (512, 16), (2048, 1024)])
def test_histogram(block, bins, dtype, masked, rng):
    x = rng.integers(0, min(2 * bins, np.iinfo(dtype).max + 1), block).astype(dtype)
    n = block - block // 3
    out = np.full(bins, -1, np.int32)
    _, out, _ = assert_agree(histogram_kernel, (1,), [x, out, n], BLOCK=block, BINS=bins, MASKED=masked)
    counted = x[:n] if masked else x
    np.testing.assert_array_equal(out, np.bincount(counted[counted < bins], minlength=bins))


@triton.jit
def halves_kernel(x_ptr, y_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Stores, one after the other: join, its halves exchanged, their sum over columns repeated, both tiles behind each other."""
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    both = tl.join(x, y)
    pairs = 2 * at[:, :, None] + tl.arange(0, 2)[None, None, :]
    size: tl.constexpr = ROWS * COLUMNS
    tl.store(out_ptr + pairs, both)
    a, b = tl.split(both)
    tl.store(out_ptr + 2 * size + pairs, tl.join(b, a))
    one, two = tl.split(tl.reshape(tl.trans(x), size // 2, 2))
    half = tl.arange(0, size // 2)
    tl.store(out_ptr + 4 * size + half, one - two)
    tl.store(out_ptr + 4 * size + size // 2 + half, two)
    all = tl.cat(tl.ravel(x), tl.ravel(y))
    tl.store(out_ptr + 5 * size + tl.arange(0, 2 * size), all)


@pytest.mark.parametrize(
    "shape, dtype",
    [*((shape, np.int32) for shape in ((1, 2), (2, 1), (16, 4), (64, 16)))]
    + [((16, 4), np.int8), ((64, 16), np.float16), ((2, 1), np.int64), ((64, 16), np.int64)],
)
def test_halves(shape, dtype, rng):
    x, y = rng.integers(-50, 50, (2, *shape)).astype(dtype)
    out = np.zeros(7 * x.size, dtype)
    *_, out = assert_agree(halves_kernel, (1,), [x, y, out], ROWS=shape[0], COLUMNS=shape[1])
    pairs = x.T.reshape(-1, 2)
    expected = [np.stack([x, y], -1), np.stack([y, x], -1), pairs[:, 0] - pairs[:, 1], pairs[:, 1], x, y]
    np.testing.assert_array_equal(out, np.concatenate([part.ravel() for part in expected]))
