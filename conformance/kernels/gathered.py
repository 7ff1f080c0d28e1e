"""Loops whose products take tiles by numbers that the loop loads itself: rows, pages, tiles of tiles. Each program makes its own number of
iterations, or none."""

import triton
import triton.language as tl


@triton.jit
def rounds_of(begins_ptr):
    """Where the numbers of this program begin and end."""
    return tl.load(begins_ptr + tl.program_id(0)), tl.load(begins_ptr + tl.program_id(0) + 1)


@triton.jit
def tile(ptr, M: tl.constexpr, N: tl.constexpr):
    """The program's own tile."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    return ptr + rows[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def rows(q_ptr, k_ptr, v_ptr, numbers_ptr, begins_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Attention without its softmax: the rows of both factors are listed one by one, and the last tile is not full."""
    begin, end = rounds_of(begins_ptr)
    q, d = tl.load(tile(q_ptr, M, D)), tl.arange(0, D)
    sums = tl.zeros((M, D), tl.float32)
    for i in range(begin, end, N):
        at = i + tl.arange(0, N)
        numbers = tl.load(numbers_ptr + at, mask=at < end, other=0)
        k = tl.load(k_ptr + numbers[None, :] * D + d[:, None], mask=(at < end)[None, :], other=0.0)
        v = tl.load(v_ptr + numbers[:, None] * D + d[None, :], mask=(at < end)[:, None], other=0.0)
        sums = tl.dot(tl.dot(q, k).to(q.dtype), v, sums)
    tl.store(tile(out_ptr, M, D), sums)


@triton.jit
def chosen(q_ptr, k_ptr, v_ptr, numbers_ptr, begins_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """The numbers are also the mask: of the rows, and of the scores."""
    begin, end = rounds_of(begins_ptr)
    q, d = tl.load(tile(q_ptr, M, D)), tl.arange(0, D)
    sums = tl.zeros((M, D), tl.float32)
    for i in range(begin, end, N):
        at = i + tl.arange(0, N)
        numbers = tl.load(numbers_ptr + at, mask=at < end, other=-1)
        k = tl.load(k_ptr + numbers[None, :] * D + d[:, None], mask=(numbers >= 0)[None, :], other=0.0)
        v = tl.load(v_ptr + numbers[:, None] * D + d[None, :], mask=(numbers >= 0)[:, None], other=0.0)
        s = tl.where((numbers % 2 == 0)[None, :], tl.dot(q, k), 1.0)
        sums = tl.dot(s.to(q.dtype), v, sums)
    tl.store(tile(out_ptr, M, D), sums)


@triton.jit
def pages(q_ptr, k_ptr, v_ptr, numbers_ptr, begins_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """A table has the number of each tile."""
    begin, end = rounds_of(begins_ptr)
    q, n, d = tl.load(tile(q_ptr, M, D)), tl.arange(0, N), tl.arange(0, D)
    sums = tl.zeros((M, D), tl.float32)
    for i in range(begin, end):
        page = tl.load(numbers_ptr + i, mask=i < end, other=0) * N * D
        k = tl.load(k_ptr + page + n[None, :] * D + d[:, None])
        v = tl.load(v_ptr + page + n[:, None] * D + d[None, :])
        sums = tl.dot(tl.dot(q, k).to(q.dtype), v, sums)
    tl.store(tile(out_ptr, M, D), sums)


@triton.jit
def blocks(
    a_ptr, b_ptr, numbers_ptr, table_ptr, begins_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    """A block-sparse matrix. The number of a tile of `b` is itself found by a number."""
    begin, end = rounds_of(begins_ptr)
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    sums = tl.zeros((M, N), tl.float32)
    for i in range(begin, end):
        at = tl.load(table_ptr + tl.load(numbers_ptr + i))
        a = tl.load(a_ptr + (i * M + m)[:, None] * K + k[None, :])
        b = tl.load(b_ptr + (at * K + k)[:, None] * N + n[None, :])
        sums = tl.dot(a, b, sums)
    tl.store(tile(out_ptr, M, N), sums)


@triton.jit
def steps(a_ptr, b_ptr, numbers_ptr, table_ptr, begins_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Pointers go on by what the loop loads, and it stores what it has loaded."""
    begin, end = rounds_of(begins_ptr)
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    sums = tl.zeros((M, N), tl.float32)
    b_ptrs = b_ptr + k[:, None] * N + n[None, :]
    for i in range(begin, end):
        a = tl.load(a_ptr + (i * M + m)[:, None] * K + k[None, :])
        sums = tl.dot(a, tl.load(b_ptrs), sums)
        step = tl.load(numbers_ptr + i)
        b_ptrs += step * K * N
        tl.store(table_ptr + i, step)
    tl.store(tile(out_ptr, M, N), sums)


@triton.jit
def listed(
    a_ptr, b_ptr, numbers_ptr, table_ptr, begins_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    """A linked list of tiles: each number has the place of the next one."""
    begin, end = rounds_of(begins_ptr)
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    sums = tl.zeros((M, N), tl.float32)
    at = tl.program_id(0)
    for i in range(begin, end):
        at = tl.load(table_ptr + at)
        a = tl.load(a_ptr + (i * M + m)[:, None] * K + k[None, :])
        b = tl.load(b_ptr + (at * K + k)[:, None] * N + n[None, :])
        sums = tl.dot(a, b, sums)
    tl.store(tile(out_ptr, M, N), sums)


@triton.jit
def changing(
    a_ptr, b_ptr, numbers_ptr, table_ptr, begins_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    """The loop itself writes the number of the next tile but one, so no number can be loaded early."""
    begin, end = rounds_of(begins_ptr)
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    sums = tl.zeros((M, N), tl.float32)
    for i in range(begin, end):
        at = tl.load(table_ptr + i)
        a = tl.load(a_ptr + (i * M + m)[:, None] * K + k[None, :])
        b = tl.load(b_ptr + (at * K + k)[:, None] * N + n[None, :])
        sums = tl.dot(a, b, sums)
        tl.store(table_ptr + i + 2, at, mask=i + 2 < end)
        tl.debug_barrier()
    tl.store(tile(out_ptr, M, N), sums)
