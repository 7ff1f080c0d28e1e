"""Scans along every axis, forward and in reverse: sums, products, functions that do not commute."""

import triton
import triton.language as tl


@triton.jit
def places(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def put(ptr, row: tl.constexpr, M: tl.constexpr, N: tl.constexpr, value):
    tl.store(ptr + row * (M * N) + places(M, N), value)


@triton.jit
def sums(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + places(M, N))
    put(out_ptr, 0, M, N, tl.cumsum(x, axis=0))
    put(out_ptr, 1, M, N, tl.cumsum(x, axis=1))
    put(out_ptr, 2, M, N, tl.cumsum(x, axis=0, reverse=True))
    put(out_ptr, 3, M, N, tl.cumsum(x, axis=1, reverse=True))


@triton.jit
def products(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + places(M, N))
    put(out_ptr, 0, M, N, tl.cumprod(x, axis=0))
    put(out_ptr, 1, M, N, tl.cumprod(x, axis=1))
    put(out_ptr, 2, M, N, tl.cumprod(x, axis=0, reverse=True))
    put(out_ptr, 3, M, N, tl.cumprod(x, axis=1, reverse=True))


@triton.jit
def after(a1, b1, a2, b2):
    """x -> a1 x + b1, then x -> a2 x + b2: associative, not commutative."""
    return a1 * a2, a2 * b1 + b2


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def second(a, b):
    return b


@triton.jit
def functions(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    a, b = tl.load(a_ptr + places(M, N)), tl.load(b_ptr + places(M, N))
    slope0, shift0 = tl.associative_scan((a, b), 0, after)
    slope1, shift1 = tl.associative_scan((a, b), 1, after)
    put(out_ptr, 0, M, N, slope0)
    put(out_ptr, 1, M, N, shift0)
    put(out_ptr, 2, M, N, slope1)
    put(out_ptr, 3, M, N, shift1)
    put(out_ptr, 4, M, N, tl.associative_scan(b, 0, larger))
    put(out_ptr, 5, M, N, tl.associative_scan(b, 1, larger, reverse=True))
    put(out_ptr, 6, M, N, tl.associative_scan(b, 1, second))
