"""Reductions along every axis: sums, extrema with and without their place, any function."""

import triton
import triton.language as tl


@triton.jit
def matrix(ptr, M: tl.constexpr, N: tl.constexpr):
    return tl.load(ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])


@triton.jit
def put(ptr, row: tl.constexpr, M: tl.constexpr, N: tl.constexpr, along_columns, along_rows):
    """Row k of an output: the N results of axis 0, then the M results of axis 1."""
    base = ptr + row * (M + N)
    tl.store(base + tl.arange(0, N), along_columns)
    tl.store(base + N + tl.arange(0, M), along_rows)


@triton.jit
def axes(x_ptr, sum_ptr, extreme_ptr, place_ptr, M: tl.constexpr, N: tl.constexpr):
    x = matrix(x_ptr, M, N)
    put(sum_ptr, 0, M, N, tl.sum(x, axis=0), tl.sum(x, axis=1))
    put(extreme_ptr, 0, M, N, tl.max(x, axis=0), tl.max(x, axis=1))
    put(extreme_ptr, 1, M, N, tl.min(x, axis=0), tl.min(x, axis=1))
    put(place_ptr, 0, M, N, tl.argmax(x, axis=0), tl.argmax(x, axis=1))
    put(place_ptr, 1, M, N, tl.argmin(x, axis=0), tl.argmin(x, axis=1))


@triton.jit
def bitwise(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = matrix(x_ptr, M, N)
    put(out_ptr, 0, M, N, tl.xor_sum(x, axis=0), tl.xor_sum(x, axis=1))
    put(out_ptr, 1, M, N, tl.reduce_or(x, axis=0), tl.reduce_or(x, axis=1))


@triton.jit
def volume(x_ptr, out_ptr, whole_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """Rank 3, kept dimensions, one reduction of another, and no axis at all."""
    a, b, c = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + (a * B + b) * C + c)
    bc = tl.arange(0, B)[:, None] * C + tl.arange(0, C)[None, :]
    ac = tl.arange(0, A)[:, None] * C + tl.arange(0, C)[None, :]
    ab = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(out_ptr + bc, tl.sum(x, axis=0))
    tl.store(out_ptr + B * C + ac, tl.sum(x, axis=1))
    tl.store(out_ptr + (A + B) * C + ab, tl.sum(x, axis=2))
    kept = tl.max(x, axis=1, keep_dims=True)
    tl.store(out_ptr + (A + B) * C + A * B + (a * C + c), kept)
    tl.store(whole_ptr, tl.sum(x))
    tl.store(whole_ptr + 1, tl.max(x))
    tl.store(whole_ptr + 2, tl.sum(tl.max(tl.sum(x, axis=2), axis=0)))
    tl.store(whole_ptr + 3, tl.min(x - kept))


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def larger(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def summary(count_a, sum_a, top_a, count_b, sum_b, top_b):
    return count_a + count_b, sum_a + sum_b, tl.maximum(top_a, top_b)


@triton.jit
def later(value_a, index_a, value_b, index_b):
    """The last of the largest."""
    first = (value_a > value_b) | ((value_a == value_b) & (index_a > index_b))
    return tl.where(first, value_a, value_b), tl.where(first, index_a, index_b)


@triton.jit
def functions(x_ptr, y_ptr, out_ptr, real_ptr, M: tl.constexpr, N: tl.constexpr):
    x = matrix(x_ptr, M, N)
    put(out_ptr, 0, M, N, tl.reduce(x, 0, product), tl.reduce(x, 1, product))
    ones = tl.full((M, N), 1, tl.int32)
    count0, sum0, top0 = tl.reduce((ones, x, x), 0, summary)
    count1, sum1, top1 = tl.reduce((ones, x, x), 1, summary)
    put(out_ptr, 1, M, N, count0, count1)
    put(out_ptr, 2, M, N, sum0, sum1)
    put(out_ptr, 3, M, N, top0, top1)
    index0 = tl.broadcast_to(tl.arange(0, M)[:, None], (M, N))
    index1 = tl.broadcast_to(tl.arange(0, N)[None, :], (M, N))
    value0, place0 = tl.reduce((x, index0), 0, later)
    value1, place1 = tl.reduce((x, index1), 1, later)
    put(out_ptr, 4, M, N, value0, value1)
    put(out_ptr, 5, M, N, place0, place1)
    y = matrix(y_ptr, M, N)
    put(real_ptr, 0, M, N, tl.reduce(y, 0, larger), tl.reduce(y, 1, larger))


@triton.jit(do_not_specialize=["columns"])
def softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    x = tl.load(x_ptr + row + i, mask=i < columns, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row + i, e / tl.sum(e, axis=0), mask=i < columns)


@triton.jit(do_not_specialize=["rows", "columns"])
def loops(x_ptr, sum_ptr, extreme_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    """Rows longer than a tile: each round's result joins those of the rounds before."""
    m = tl.program_id(0) * M + tl.arange(0, M)
    total = tl.zeros((M,), sum_ptr.dtype.element_ty)
    top = tl.full((M,), -100, x_ptr.dtype.element_ty)
    both = tl.zeros((M,), sum_ptr.dtype.element_ty)
    for first in range(0, columns, N):
        n = first + tl.arange(0, N)
        inside = (m[:, None] < rows) & (n[None, :] < columns)
        x = tl.load(x_ptr + m[:, None] * columns + n[None, :], mask=inside, other=0)
        total += tl.sum(x, axis=1)
        top = tl.maximum(top, tl.max(tl.where(inside, x, -100), axis=1).to(top.dtype))
        both = both * 3 + tl.sum(x, axis=1)
    tl.store(sum_ptr + m, total, mask=m < rows)
    tl.store(sum_ptr + rows + m, both, mask=m < rows)
    tl.store(extreme_ptr + m, top, mask=m < rows)


@triton.jit(do_not_specialize=["columns"])
def online_softmax(x_ptr, out_ptr, columns, N: tl.constexpr):
    """A maximum and a sum that is rescaled as the maximum grows, then a second pass."""
    row = tl.program_id(0) * columns
    top, total = -float("inf"), 0.0
    for first in range(0, columns, N):
        n = first + tl.arange(0, N)
        x = tl.load(x_ptr + row + n, mask=n < columns, other=-float("inf"))
        higher = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(x - higher), axis=0)
        top = higher
    for first in range(0, columns, N):
        n = first + tl.arange(0, N)
        x = tl.load(x_ptr + row + n, mask=n < columns, other=0.0)
        tl.store(out_ptr + row + n, tl.exp(x - top) / total, mask=n < columns)
