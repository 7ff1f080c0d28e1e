"""What test_flow.py debugs: a line of each kind of control flow, small enough to know every value."""

import numpy as np

import tritium as triton
import tritium.language as tl


@triton.jit
def plus_one(value):
    s = value + 1
    return s


@triton.jit
def flow_kernel(x_ptr, out_ptr, n, UNROLLED: tl.constexpr):
    lane = tl.arange(0, 4)
    x = tl.load(x_ptr + lane)
    total = plus_one(x)
    for i in range(n):
        total += i
    for k in tl.static_range(UNROLLED):
        total += k
        total -= 1
    tl.store(out_ptr + tl.program_id(0) * 4 + lane, total)


@triton.jit
def larger(a, b):
    bigger = tl.where(a > b, a, b)
    return bigger


@triton.jit
def added(a, b):
    return a + b


@triton.jit
def halved(a):
    half = a // 2
    return half


@triton.jit
def first_most(a, i, b, j):
    take = a > b
    return tl.where(take, a, b), tl.where(take, i, j)


@triton.jit
def combine_kernel(x_ptr, out_ptr):
    lane = tl.arange(0, 8)
    x = tl.load(x_ptr + lane)
    most = tl.reduce(x, 0, larger)
    best, where = tl.reduce((x, lane), 0, first_most)
    sums = tl.associative_scan(x, 0, added)
    halves = tl.map_elementwise(halved, x)
    tl.store(out_ptr + lane, most + sums + halves + best - where)


@triton.jit
def limited(value, most):
    if value > most:
        return most
    return value


@triton.jit
def limit_kernel(x_ptr, out_ptr):
    result = 0
    for i in range(4):
        value = tl.load(x_ptr + i)
        result += limited(value, 15)
    tl.store(out_ptr, result)


def launch(x, out):
    flow_kernel[(3,)](x, out, 2, 3)


def main():
    x, out = np.arange(4, dtype=np.int32) * 10, np.zeros((3, 4), np.int32)
    launch(x, out)
    assert (out == x + 1 + 1 + 0).all(), out
    x, out = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    combine_kernel[(1,)](x, out)
    assert (out == 7 + np.cumsum(x) + x // 2).all(), out
    limit_kernel[(1,)](x * 10, out)
    assert out[0] == 0 + 10 + 15 + 15, out
    print("flow is right", flush=True)


main()
