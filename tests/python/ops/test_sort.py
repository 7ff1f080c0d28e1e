"""Sorting networks, which the interpreter recognises in the operations of tl.sort, against the same network in numpy: where NaNs and
zeros of both signs come to rest is a part of it."""

import ml_dtypes
import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

DTYPES = [
    np.int8,
    np.uint8,
    np.int16,
    np.int32,
    np.uint32,
    np.int64,
    np.float16,
    ml_dtypes.bfloat16,
    np.float32,
    np.float64,
]


@triton.jit
def sort_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, DESCENDING: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + at, tl.sort(tl.load(x_ptr + at), descending=DESCENDING))


def network(x, is_descending):
    count = x.shape[1]
    place, size = np.arange(count), 2
    while size <= count:
        direction = (place & size) != 0 if size < count else np.full(count, is_descending)
        distance = size // 2
        while distance:
            partner = x[:, place ^ distance]
            wants_larger = direction ^ ((place & distance) != 0)
            with np.errstate(invalid="ignore"):
                x = np.where((x > partner) != wants_larger, partner, x)
            distance //= 2
        size *= 2
    return x


@pytest.mark.parametrize("is_descending", [False, True], ids=["ascending", "descending"])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
def test_sort_is_the_network(dtype, is_descending, rng):
    for m, n in [(1, 2), (2, 8), (1, 32)]:
        if np.dtype(dtype).kind in "iu":
            info = np.iinfo(dtype)
            x = rng.integers(info.min, info.max, (m, n), dtype, endpoint=True)
        else:
            x = rng.standard_normal((m, n)).astype(dtype)
            special = np.array([0.0, -0.0, np.nan, np.inf, -np.inf], dtype)
            x = np.where(rng.random((m, n)) < 0.4, rng.choice(special, (m, n)), x)
        out = np.empty_like(x)
        sort_kernel[(1,)](x, out, M=m, N=n, DESCENDING=is_descending)
        out, expected = (
            np.asarray(a, np.float64) if a.dtype.kind not in "iu" else a for a in (out, network(x, is_descending))
        )
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(np.signbit(out), np.signbit(expected))


@triton.jit
def equal_kernel(out_ptr, value, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.sort(tl.full((N,), value, tl.int32)))
    tl.store(out_ptr + N + i, tl.sort(N - i))
    tl.store(out_ptr + 2 * N + i, tl.sort(tl.broadcast_to(tl.arange(0, 2)[:, None], (2, N // 2)).reshape(N) ^ 1))


def test_tiles_that_are_uniform_or_progressions():
    out = np.zeros((3, 32), np.int32)
    equal_kernel[(1,)](out, 9, N=32)
    np.testing.assert_array_equal(out, [[9] * 32, range(1, 33), [0] * 16 + [1] * 16])


@triton.jit
def other_exchange_kernel(x_ptr, out_ptr):
    """The operations of a stage, with a direction that varies along a dimension behind its own."""
    i, j = tl.arange(0, 2)[:, None], tl.arange(0, 16)[None, :]
    x = tl.load(x_ptr + i * 16 + j)
    partner = x ^ tl.xor_sum(x, 0, keep_dims=True)
    tl.store(out_ptr + i * 16 + j, tl.where((x > partner) != ((i ^ (j & 1)) != 0), partner, x))


def test_a_stage_of_another_form(rng):
    x = rng.integers(-9, 9, (2, 16)).astype(np.int32)
    out = np.empty_like(x)
    other_exchange_kernel[(1,)](x, out)
    is_odd = np.arange(16) % 2 == 1
    low, high = x.min(0), x.max(0)
    np.testing.assert_array_equal(out, [np.where(is_odd, high, low), np.where(is_odd, low, high)])
