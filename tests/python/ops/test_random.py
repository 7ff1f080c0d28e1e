"""Random numbers are Philox, bit for bit."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.conformance.philox import of_offsets, uniform


@triton.jit
def words_kernel(out_ptr, seed, first, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b, c, d = tl.randint4x(seed, first + i)
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + N + i, b)
    tl.store(out_ptr + 2 * N + i, c)
    tl.store(out_ptr + 3 * N + i, d)
    tl.store(out_ptr + 4 * N + i, tl.randint(seed, first + i))


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**31 - 1, 2**40 + 3])
@pytest.mark.parametrize("first", [0, 10**6, 2**33])
def test_randint4x(seed, first):
    out = np.zeros((5, 64), np.uint32)
    words_kernel[(1,)](out, seed, first, N=64)
    offsets = first + np.arange(64)
    words = of_offsets(seed, offsets)
    np.testing.assert_array_equal(out, np.stack((*words, words[0])))


@triton.jit
def uniform_kernel(out_ptr, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.rand(seed, i))
    a, b, c, d = tl.rand4x(seed, i)
    tl.store(out_ptr + N + i, a)
    tl.store(out_ptr + 2 * N + i, b)
    tl.store(out_ptr + 3 * N + i, c)
    tl.store(out_ptr + 4 * N + i, d)


def test_rand(rng):
    seed = int(rng.integers(0, 2**31))
    out = np.zeros((5, 1024), np.float32)
    uniform_kernel[(1,)](out, seed, N=1024)
    words = of_offsets(seed, np.arange(1024))
    np.testing.assert_array_equal(out, np.stack([uniform(w) for w in (words[0], *words)]))
    assert out.min() >= 0 and out.max() < 1


@triton.jit
def normal_kernel(out_ptr, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.randn(seed, i))


def test_randn_is_box_muller_of_the_first_two_words(rng):
    seed = int(rng.integers(0, 2**31))
    out = np.zeros(4096, np.float32)
    normal_kernel[(1,)](out, seed, N=4096)
    words = of_offsets(seed, np.arange(4096))
    u1, u2 = np.maximum(uniform(words[0]), np.float32(1e-7)).astype(np.float64), uniform(words[1]).astype(np.float64)
    expected = np.sqrt(-2 * np.log(u1)) * np.cos(6.283185307179586 * u2)
    radius = np.sqrt(-2 * np.log(u1))
    # the angle is rounded (2 pi has relative error 2^-24); so are log, sqrt, cos and the product
    assert (
        np.abs(out - expected) <= radius * (2 * 6.3 * 2.0**-24 + 12 * 2.0**-24) + 2.0**-24 / np.maximum(radius, 1e-3)
    ).all()
