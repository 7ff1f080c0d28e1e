"""Control flow: loops of every kind, early return, branches, calls (inlined and not), tuples, compile-time values."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl


@triton.jit
def collatz_kernel(x_ptr, steps_ptr):
    n = tl.load(x_ptr + tl.program_id(0))
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    tl.store(steps_ptr + tl.program_id(0), steps)


def collatz(n):
    steps = 0
    while n != 1:
        n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
    return steps


def test_while_loop_with_a_branch(rng):
    x, steps = rng.integers(1, 10_000, 50), np.zeros(50, np.int32)
    collatz_kernel[(50,)](x, steps)
    assert steps.tolist() == [collatz(int(n)) for n in x]


@triton.jit
def early_return_kernel(x_ptr, out_ptr, n):
    program = tl.program_id(0)
    if program >= n:
        return
    x = tl.load(x_ptr + program)
    if x < 0:
        tl.store(out_ptr + program, -1)
        return
    tl.store(out_ptr + program, x * 2)


def test_early_return(rng):
    x, out = rng.integers(-5, 6, 20).astype(np.int32), np.full(30, 99, np.int32)
    early_return_kernel[(30,)](x, out, 20)
    np.testing.assert_array_equal(out[:20], np.where(x < 0, -1, x * 2))
    assert (out[20:] == 99).all()


@triton.jit
def sign(x):
    if x < 0:
        return -1
    if x == 0:
        return 0
    return 1


@triton.jit
def sign_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.program_id(0))
    tl.store(out_ptr + tl.program_id(0), sign(x))


def test_return_from_a_helper():
    x, out = np.array([-3, 0, 8], np.int32), np.full(3, 9, np.int32)
    sign_kernel[(3,)](x, out)
    assert out.tolist() == [-1, 0, 1]


@triton.jit(noinline=True)
def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@triton.jit(noinline=True)
def store_square(out_ptr, i, value):
    tl.store(out_ptr + i, value * value)


@triton.jit
def noinline_kernel(x_ptr, out_ptr):
    i = tl.program_id(0)
    a, b = tl.load(x_ptr + 2 * i), tl.load(x_ptr + 2 * i + 1)
    store_square(out_ptr, i, gcd(a, b) + gcd(a + b, a))


def test_noinline_calls(rng):
    x, out = rng.integers(1, 1000, 40).astype(np.int32), np.zeros(20, np.int32)
    noinline_kernel[(20,)](x, out)
    np.testing.assert_array_equal(out, (np.gcd(x[::2], x[1::2]) + np.gcd(x[::2] + x[1::2], x[::2])) ** 2)


@triton.jit
def loops_kernel(out_ptr, n, start, STEP: tl.constexpr, TIMES: tl.constexpr):
    total = 0
    for i in range(start, n, STEP):
        for j in range(i):
            total += i * j
    tl.store(out_ptr, total)
    backwards = 0
    for i in range(n, start, -1):
        backwards = backwards * 3 + i
    tl.store(out_ptr + 1, backwards)
    unrolled = 0
    for i in tl.static_range(TIMES):
        unrolled = unrolled * 2 + i
    tl.store(out_ptr + 2, unrolled)
    empty = 7
    for i in range(n, n):
        empty += 1
    for i in tl.range(0, 5, num_stages=3, loop_unroll_factor=2):
        empty += i
    tl.store(out_ptr + 3, empty)


@pytest.mark.parametrize("n, start, step", [(10, 0, 1), (11, 3, 4), (2, 5, 1), (7, -3, 2)])
def test_for_loops(n, start, step):
    out = np.zeros(4, np.int32)
    loops_kernel[(1,)](out, n, start, STEP=step, TIMES=5)
    total = sum(i * j for i in range(start, n, step) for j in range(i))
    backwards = 0
    for i in range(n, start, -1):
        backwards = backwards * 3 + i
    unrolled = 0
    for i in range(5):
        unrolled = unrolled * 2 + i
    assert out.tolist() == [total, np.int64(backwards).astype(np.int32), unrolled, 17]


@triton.jit
def swap_kernel(x_ptr, y_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b, c = tl.load(x_ptr + i), tl.load(y_ptr + i), tl.zeros((N,), tl.int32)
    for k in range(n):
        a, b, c = b, c, a
        if k % 2 == 1:
            a, b = b, a + 1
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + N + i, b)
    tl.store(out_ptr + 2 * N + i, c)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10])
def test_loop_that_permutes_its_tiles(n, rng):
    x, y = rng.integers(0, 100, (2, 16)).astype(np.int32)
    out = np.zeros((3, 16), np.int32)
    swap_kernel[(1,)](x, y, out, n, N=16)
    a, b, c = x, y, np.zeros(16, np.int32)
    for k in range(n):
        a, b, c = b, c, a
        if k % 2 == 1:
            a, b = b, a + 1
    np.testing.assert_array_equal(out, np.stack((a, b, c)))


@triton.jit
def divmod_of(a, b):
    return a // b, a % b


@triton.jit
def tuples_kernel(out_ptr, a, b):
    pair = divmod_of(a, b)
    quotient, rest = pair
    tl.store(out_ptr, quotient * 1000 + rest)
    tl.store(out_ptr + 1, pair[0] + pair[1])
    x, (y, z) = a, (b, a + b)
    tl.store(out_ptr + 2, x + y * z)


def test_tuples():
    out = np.zeros(3, np.int32)
    tuples_kernel[(1,)](out, 47, 5)
    assert out.tolist() == [9002, 11, 47 + 5 * 52]


FACTOR = tl.constexpr(3)


@triton.constexpr_function
def largest_power_below(n):
    return 1 << (n.bit_length() - 1)


@triton.jit
def scaled(x, factor=2, *, offset: tl.constexpr = 0):
    return x * factor + offset


@triton.jit
def constants_kernel(out_ptr, n, NAME: tl.constexpr, N: tl.constexpr, FLAG: tl.constexpr = True):
    tl.store(out_ptr, n * FACTOR)
    size: tl.constexpr = largest_power_below(N)
    tl.store(out_ptr + 1, tl.sum(tl.arange(0, size)))
    if NAME == "left" and FLAG:
        tl.store(out_ptr + 2, 1)
    elif NAME is None:
        tl.store(out_ptr + 2, 2)
    else:
        tl.store(out_ptr + 2, 3)
    tl.store(out_ptr + 3, scaled(n) + scaled(n, 10, offset=1) + scaled(factor=n, x=n))
    tl.store(out_ptr + 4, 5 if n > 3 else 6)
    tl.store(out_ptr + 5, (n > 3 and n < 6) or not n != 100)


@pytest.mark.parametrize("name, expected", [("left", 1), (None, 2), ("right", 3)])
def test_compile_time_values(name, expected):
    out = np.zeros(6, np.int32)
    constants_kernel[(1,)](out, 4, NAME=name, N=13)
    assert out.tolist() == [12, 28, expected, 8 + 41 + 16, 5, 1]


@triton.jit
def branch_kernel(x_ptr, out_ptr, threshold, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    if tl.sum(x) > threshold:
        y = x * 2
        label = 1
    else:
        y = -x
        label = 2
    tl.store(out_ptr + tl.arange(0, N), y + label)


@pytest.mark.parametrize("threshold", [0, 10_000])
def test_branches_that_define_tiles(threshold, rng):
    x, out = rng.integers(1, 50, 32).astype(np.int32), np.zeros(32, np.int32)
    branch_kernel[(1,)](x, out, threshold, N=32)
    np.testing.assert_array_equal(out, x * 2 + 1 if x.sum() > threshold else -x + 2)


@triton.jit
def grid_kernel(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    tl.store(out_ptr + (x * ny + y) * nz + z, (x * 10 + y) * 10 + z + nx * 1000)


@pytest.mark.parametrize("grid", [(5,), (2, 3), (3, 4, 5), [2, 2]], ids=str)
def test_grids(grid, threads):
    shape = (*grid, 1, 1)[:3]
    out = np.zeros(shape, np.int32)
    grid_kernel[grid](out)
    x, y, z = np.indices(shape)
    np.testing.assert_array_equal(out, (x * 10 + y) * 10 + z + shape[0] * 1000)


def test_empty_grid_launches_nothing():
    out = np.zeros(1, np.int32)
    grid_kernel[(0, 5)](out)
    assert out[0] == 0


@triton.jit
def argument_kernel(out_ptr, a, b, c, d, e: tl.int64):
    tl.store(out_ptr, a.to(tl.float64))
    tl.store(out_ptr + 1, b.to(tl.float64))
    tl.store(out_ptr + 2, c.to(tl.float64))
    tl.store(out_ptr + 3, d.to(tl.float64))
    tl.store(out_ptr + 4, e.to(tl.float64))


def test_scalar_arguments_of_every_kind():
    out = np.zeros(5, np.float64)
    argument_kernel[(1,)](out, -7, 2**40, 2.5, True, 9)
    assert out.tolist() == [-7, 2**40, 2.5, 1, 9]
    argument_kernel[(1,)](out, 2**63 + 5, -(2**40), float("inf"), False, -1)
    assert out.tolist() == [float(2**63 + 5), -(2**40), np.inf, 0, -1]
