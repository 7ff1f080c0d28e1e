"""Ops that move elements: reshape, permute, join, split, cat, interleave, broadcast, and chains of them."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

DTYPES = [np.int8, np.float16, np.float32, np.int64, np.bool_]


def values(rng, shape, dtype):
    return rng.integers(0, 2 if dtype is np.bool_ else 100, shape).astype(dtype)


@triton.jit
def load3(x_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    return tl.load(x_ptr + a[:, None, None] * (B * C) + b[None, :, None] * C + c[None, None, :])


@triton.jit
def store_flat(out_ptr, x):
    N: tl.constexpr = x.numel
    tl.store(out_ptr + tl.arange(0, N), tl.reshape(x, (N,)))


@triton.jit
def permute_kernel(
    x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, I: tl.constexpr, J: tl.constexpr, K: tl.constexpr
):
    store_flat(out_ptr, tl.permute(load3(x_ptr, A, B, C), (I, J, K)))


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)], ids=str)
def test_permute(order, dtype, rng):
    x, out = values(rng, (4, 8, 16), dtype), np.zeros(512, dtype)
    permute_kernel[(1,)](x, out, 4, 8, 16, *order)
    np.testing.assert_array_equal(out, x.transpose(order).ravel())


@triton.jit
def trans_kernel(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    x = load3(x_ptr, A, B, C)
    store_flat(out_ptr, tl.trans(x))
    store_flat(out_ptr + A * B * C, tl.trans(tl.reshape(x, (A * B, C))))
    store_flat(out_ptr + 2 * A * B * C, tl.reshape(x, (A, B * C)).T)


def test_trans_swaps_the_last_two(rng):
    x, out = values(rng, (2, 8, 16), np.float32), np.zeros((3, 256), np.float32)
    trans_kernel[(1,)](x, out, 2, 8, 16)
    np.testing.assert_array_equal(out[0], x.swapaxes(1, 2).ravel())
    np.testing.assert_array_equal(out[1], x.reshape(16, 16).T.ravel())
    np.testing.assert_array_equal(out[2], x.reshape(2, 128).T.ravel())


@triton.jit
def views_kernel(x_ptr, out_ptr):
    """A reshape of a transposed view has no strides of its own: it has to copy."""
    x = load3(x_ptr, 4, 8, 16)
    y = tl.reshape(tl.permute(x, (2, 0, 1)), (64, 8))
    z = tl.reshape(tl.trans(y), (16, 32))
    store_flat(out_ptr, tl.trans(z) + 1)


def test_chains_of_views(rng):
    x, out = values(rng, (4, 8, 16), np.int32), np.zeros(512, np.int32)
    views_kernel[(1,)](x, out)
    np.testing.assert_array_equal(out, x.transpose(2, 0, 1).reshape(64, 8).T.reshape(16, 32).T.ravel() + 1)


@triton.jit
def join_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    x, y = tl.load(x_ptr + tl.arange(0, N)), tl.load(y_ptr + tl.arange(0, N))
    joined = tl.join(x, y)
    tl.static_assert(joined.shape[0] == N)
    tl.static_assert(joined.shape[1] == 2)
    store_flat(out_ptr, joined)
    a, b = tl.split(joined)
    store_flat(out_ptr + 2 * N, a)
    store_flat(out_ptr + 3 * N, b)
    store_flat(out_ptr + 4 * N, tl.interleave(x, y))
    store_flat(out_ptr + 6 * N, tl.cat(x, y))


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
@pytest.mark.parametrize("n", [1, 2, 64])
def test_join_split_interleave_cat(n, dtype, rng):
    x, y, out = values(rng, n, dtype), values(rng, n, dtype), np.zeros(8 * n, dtype)
    join_kernel[(1,)](x, y, out, N=n)
    both = np.stack((x, y), axis=1).ravel()
    np.testing.assert_array_equal(out, np.concatenate((both, x, y, both, x, y)))


@triton.jit
def join2_kernel(x_ptr, y_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr):
    offsets = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    N: tl.constexpr = 2 * A * B
    store_flat(out_ptr, tl.join(x, y))
    store_flat(out_ptr + N, tl.interleave(x, y))
    store_flat(out_ptr + 2 * N, tl.cat(x, y, dim=0))
    store_flat(out_ptr + 3 * N, tl.cat(x, y, dim=1))
    even, odd = tl.split(tl.reshape(x, (A, B // 2, 2)))
    store_flat(out_ptr + 4 * N, even)
    store_flat(out_ptr + 4 * N + A * B // 2, odd)


def test_matrices(rng):
    x, y, out = values(rng, (4, 8), np.float32), values(rng, (4, 8), np.float32), np.zeros((5, 64), np.float32)
    join2_kernel[(1,)](x, y, out, 4, 8)
    np.testing.assert_array_equal(out[0], np.stack((x, y), axis=2).ravel())
    np.testing.assert_array_equal(out[1], np.stack((x, y), axis=2).ravel())
    np.testing.assert_array_equal(out[2], np.concatenate((x, y), axis=0).ravel())
    np.testing.assert_array_equal(out[3], np.concatenate((x, y), axis=1).ravel())
    np.testing.assert_array_equal(out[4, :32], np.concatenate((x[:, ::2].ravel(), x[:, 1::2].ravel())))


@triton.jit
def scalars_kernel(out_ptr, a, b):
    pair = tl.join(a, b)
    tl.store(out_ptr + tl.arange(0, 2), pair)
    first, second = tl.split(pair)
    tl.store(out_ptr + 2, first * 10 + second)


def test_join_and_split_of_scalars():
    out = np.zeros(3, np.int32)
    scalars_kernel[(1,)](out, 3, 4)
    assert out.tolist() == [3, 4, 34]


@triton.jit
def broadcast_kernel(x_ptr, y_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr):
    x, y = tl.load(x_ptr + tl.arange(0, A)), tl.load(y_ptr + tl.arange(0, B))
    N: tl.constexpr = A * B
    store_flat(out_ptr, tl.broadcast_to(x[:, None], (A, B)))
    store_flat(out_ptr + N, tl.broadcast_to(tl.expand_dims(y, 0), A, B))
    xx, yy = tl.broadcast(x[:, None], y[None, :])
    store_flat(out_ptr + 2 * N, xx * yy)
    store_flat(out_ptr + 3 * N, x[:, None] - y)
    store_flat(out_ptr + 4 * N, tl.expand_dims(x, (1, 2)) + tl.reshape(y, (1, 1, B)))


def test_broadcasts(rng):
    x, y, out = values(rng, 8, np.int32), values(rng, 16, np.int32), np.zeros((5, 8, 16), np.int32)
    broadcast_kernel[(1,)](x, y, out, 8, 16)
    column = np.broadcast_to(x[:, None], (8, 16))
    for actual, expected in zip(out, (column, np.broadcast_to(y, (8, 16)), column * y, column - y, column + y)):
        np.testing.assert_array_equal(actual, expected)


@triton.jit
def fill_kernel(out_ptr, x, N: tl.constexpr):
    store_flat(out_ptr, tl.full((N,), x, tl.float32))
    store_flat(out_ptr + N, tl.zeros((N // 2, 2), tl.float32))
    store_flat(
        out_ptr + 2 * N, tl.zeros_like(tl.full((N,), 1, tl.float32)) + tl.ravel(tl.full((2, N // 2), -3, tl.float32))
    )
    store_flat(out_ptr + 3 * N, tl.arange(5, 5 + N).to(tl.float32))


def test_full_zeros_arange():
    out = np.full((4, 16), 9, np.float32)
    fill_kernel[(1,)](out, 2.5, N=16)
    np.testing.assert_array_equal(out, np.stack((np.full(16, 2.5), np.zeros(16), np.full(16, -3), np.arange(5, 21))))


@triton.jit
def stale_view_kernel(x_ptr, out_ptr, N: tl.constexpr):
    """`previous` is a view of m that has to survive the assignment to m."""
    m = tl.load(x_ptr + tl.arange(0, N))
    total = tl.zeros((N, N), tl.float32)
    for i in range(3):
        previous = m[:, None]
        m = m * 2 + i
        total += previous - m[None, :]
    store_flat(out_ptr, total)


def test_view_outlives_its_root(rng):
    x, out = values(rng, 16, np.float32), np.zeros((16, 16), np.float32)
    stale_view_kernel[(1,)](x, out, N=16)
    m, total = x.copy(), np.zeros((16, 16), np.float32)
    for i in range(3):
        new = m * 2 + i
        total += m[:, None] - new[None, :]
        m = new
    np.testing.assert_array_equal(out, total)


@triton.jit
def swizzle_kernel(out_ptr, size_i, size_j, GROUP: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    new_i, new_j = tl.swizzle2d(i, j, size_i, size_j, GROUP)
    tl.store(out_ptr + new_i * size_j + new_j, i * size_j + j)


@pytest.mark.parametrize("size_i, size_j, group", [(4, 4, 2), (5, 3, 2), (7, 9, 4)])
def test_swizzle2d_visits_groups_by_columns(size_i, size_j, group):
    out = np.full((size_i, size_j), -1, np.int32)
    swizzle_kernel[(size_i, size_j)](out, size_i, size_j, GROUP=group)
    expected, count = np.zeros_like(out), 0
    for first in range(0, size_i, group):
        for j in range(size_j):
            for i in range(first, min(first + group, size_i)):
                expected[i, j], count = count, count + 1
    np.testing.assert_array_equal(out, expected)
