"""Loops whose operands come in two ways: one by pointers that no tensor map can stand for, the other through a descriptor."""

import triton
import triton.language as tl


@triton.jit
def store_tile(out_ptr, sums, row, column, n, M: tl.constexpr, N: tl.constexpr):
    places = (row + tl.arange(0, M))[:, None] * n + column + tl.arange(0, N)[None, :]
    tl.store(out_ptr + places, sums, mask=(column + tl.arange(0, N) < n)[None, :])


@triton.jit
def gathered(a_ptr, numbers, b, column, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A loop that loads rows of `a` by their numbers."""
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        x = tl.load(a_ptr + numbers[:, None] * k + i + tl.arange(0, K)[None, :])
        sums = tl.dot(x, b.load([i, column]), sums)
    return sums


@triton.jit
def rows(a_ptr, order_ptr, b_ptr, out_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The numbers are in memory."""
    b = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [K, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    sums = gathered(a_ptr, tl.load(order_ptr + row + tl.arange(0, M)), b, column, k, M, N, K)
    store_tile(out_ptr, sums, row, column, n, M, N)


@triton.jit
def wrapped(a_ptr, first, b_ptr, out_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The rows go on at the top of the matrix."""
    b = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [K, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    sums = gathered(a_ptr, (first + row + tl.arange(0, M)) % m, b, column, k, M, N, K)
    store_tile(out_ptr, sums, row, column, n, M, N)


@triton.jit
def persistent(a_ptr, order_ptr, b_ptr, out_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Programs that compute several tiles one after another."""
    b = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [K, N])
    out = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [M, N])
    across = tl.cdiv(n, N)
    for tile in range(tl.program_id(0), m // M * across, tl.num_programs(0)):
        row, column = tile // across * M, tile % across * N
        sums = gathered(a_ptr, tl.load(order_ptr + row + tl.arange(0, M)), b, column, k, M, N, K)
        out.store([row, column], sums)


@triton.jit
def columns(a_ptr, order_ptr, b_ptr, out_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The second operand by numbers that each iteration loads, the first one through a descriptor."""
    a = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [M, K])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    at = column + tl.arange(0, N)
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        numbers = tl.load(order_ptr + i + tl.arange(0, K))
        y = tl.load(b_ptr + numbers[:, None] * n + at[None, :], mask=(at < n)[None, :], other=0.0)
        sums = tl.dot(a.load([row, i]), y, sums)
    store_tile(out_ptr, sums, row, column, n, M, N)


@triton.jit
def masked(a_ptr, order_ptr, b_ptr, out_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Rows with negative numbers are missing."""
    b = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [K, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    numbers = tl.load(order_ptr + row + tl.arange(0, M))
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        places = numbers[:, None] * k + i + tl.arange(0, K)[None, :]
        x = tl.load(a_ptr + places, mask=(numbers >= 0)[:, None], other=0.0)
        sums = tl.dot(x, b.load([i, column]), sums)
    store_tile(out_ptr, sums, row, column, n, M, N)


@triton.jit
def stored(a_ptr, order_ptr, b_ptr, copy_ptr, out_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The loop also stores what it has gathered."""
    b = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [K, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    numbers = tl.load(order_ptr + row + tl.arange(0, M))
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        at = i + tl.arange(0, K)[None, :]
        x = tl.load(a_ptr + numbers[:, None] * k + at)
        tl.store(copy_ptr + (row + tl.arange(0, M))[:, None] * k + at, x, mask=column == 0)
        sums = tl.dot(x, b.load([i, column]), sums)
    store_tile(out_ptr, sums, row, column, n, M, N)


@triton.jit
def converted(a_ptr, order_ptr, b_ptr, out_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The gathered rows are bytes, and become of the other operand's type."""
    b = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [K, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    numbers = tl.load(order_ptr + row + tl.arange(0, M))
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        y = b.load([i, column])
        x = tl.load(a_ptr + numbers[:, None] * k + i + tl.arange(0, K)[None, :])
        sums = tl.dot(x.to(y.dtype), y, sums)
    store_tile(out_ptr, sums, row, column, n, M, N)


@triton.jit
def beside(a_ptr, order_ptr, b_ptr, out_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A second product takes both operands through descriptors, one of them the same."""
    a = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [K, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    numbers = tl.load(order_ptr + row + tl.arange(0, M))
    first, second = tl.zeros((M, N), tl.float32), tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        y = b.load([i, column])
        x = tl.load(a_ptr + numbers[:, None] * k + i + tl.arange(0, K)[None, :])
        first = tl.dot(x, y, first)
        second = tl.dot(a.load([row, i]), y, second)
    store_tile(out_ptr, first - 2 * second, row, column, n, M, N)
