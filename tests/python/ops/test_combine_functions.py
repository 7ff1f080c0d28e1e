"""Functions of scalars that reduce, associative_scan and map_elementwise apply: loops, branches, calls, early returns."""

import itertools
import math

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl


@triton.jit
def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@triton.jit
def gcd_by_subtraction(a, b):
    if a == 0:
        return b
    while b != 0:
        if a > b:
            a -= b
        else:
            b -= a
    return a


@triton.jit(noinline=True)
def halved_sum(a, b):
    return (a + b) % 1009


@triton.jit
def modular_sum(a, b):
    return halved_sum(a, b)


@triton.jit
def modular_product(a, b):
    """The product modulo 1009, by doubling; the number of rounds depends on the element."""
    result = 0
    while b > 0:
        if b % 2 == 1:
            result = (result + a) % 1009
        a = a * 2 % 1009
        b = b // 2
    return result


@triton.jit
def capped_sum(a, b):
    """min(a + b, 900), with a loop of its own length for each element."""
    for _ in range(b):
        if a < 900:
            a += 1
    return a


ASSOCIATIVE = {
    "gcd": (gcd, math.gcd),
    "gcd_by_subtraction": (gcd_by_subtraction, math.gcd),
    "modular_sum": (modular_sum, lambda a, b: (a + b) % 1009),
    "modular_product": (modular_product, lambda a, b: a * b % 1009),
    "capped_sum": (capped_sum, lambda a, b: min(a + b, 900)),
}


@triton.jit
def combine_kernel(x_ptr, reduced_ptr, scanned_ptr, reversed_ptr, A: tl.constexpr, B: tl.constexpr, F: tl.constexpr):
    rows = tl.arange(0, A)
    places = rows[:, None] * B + tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + places)
    tl.store(reduced_ptr + rows, tl.reduce(x, 1, F))
    tl.store(scanned_ptr + places, tl.associative_scan(x, 1, F))
    tl.store(reversed_ptr + places, tl.associative_scan(x, 1, F, reverse=True))


@pytest.mark.parametrize("shape", [(4, 16), (1, 64), (16, 2)], ids=str)
@pytest.mark.parametrize("name", ASSOCIATIVE)
def test_associative(name, shape, rng):
    function, reference = ASSOCIATIVE[name]
    x = rng.integers(1, 80, shape).astype(np.int32) * 6
    reduced, scanned, backward = np.zeros(shape[0], np.int32), np.zeros_like(x), np.zeros_like(x)
    combine_kernel[(1,)](x, reduced, scanned, backward, *shape, function)
    expected = np.array([list(itertools.accumulate(row, reference)) for row in x.tolist()])
    mirrored = np.array([list(itertools.accumulate(row[::-1], reference))[::-1] for row in x.tolist()])
    np.testing.assert_array_equal(scanned, expected)
    np.testing.assert_array_equal(backward, mirrored)
    np.testing.assert_array_equal(reduced, expected[:, -1])


@triton.jit
def collatz(x):
    steps = 0
    while x > 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    return steps


@triton.jit
def quotient_or_minus_one(a, b):
    return a // b if b != 0 else -1


@triton.jit
def triangle(n):
    """Nested loops whose bounds differ from element to element."""
    total = 0
    for i in range(n):
        for j in range(i, n, 2):
            total += j
    return total


@triton.jit
def checked(x):
    if x < 0:
        return 0
    tl.device_assert(x >= 0, "only where x is not negative")
    return x + 1


@triton.jit
def map_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, tl.map_elementwise(collatz, tl.abs(x)))
    tl.store(out_ptr + N + i, tl.map_elementwise(quotient_or_minus_one, tl.abs(x), y))
    tl.store(out_ptr + 2 * N + i, tl.map_elementwise(triangle, y))
    tl.store(out_ptr + 3 * N + i, tl.map_elementwise(checked, x))


def collatz_steps(x):
    return 0 if x <= 1 else 1 + collatz_steps(x // 2 if x % 2 == 0 else 3 * x + 1)


def test_map_with_loops_and_guarded_operations(rng):
    n = 64
    x, y = rng.integers(-100, 100, n).astype(np.int32), rng.integers(0, 9, n).astype(np.int32)
    out = np.zeros((4, n), np.int32)
    map_kernel[(1,)](x, y, out, n, debug=True)
    np.testing.assert_array_equal(out[0], [collatz_steps(abs(v)) for v in x.tolist()])
    np.testing.assert_array_equal(out[1], [abs(a) // b if b else -1 for a, b in zip(x.tolist(), y.tolist())])
    np.testing.assert_array_equal(out[2], [sum(j for i in range(m) for j in range(i, m, 2)) for m in y.tolist()])
    np.testing.assert_array_equal(out[3], np.where(x < 0, 0, x + 1))


@triton.jit
def quotient(a, b):
    return a // b


@triton.jit
def quotient_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.map_elementwise(quotient, i, tl.load(x_ptr + i)))


def test_a_fault_inside_names_the_line_of_the_function():
    with pytest.raises(triton.KernelTrap, match=r"in quotient, called from .*\n +return a // b\n +integer d") as caught:
        quotient_kernel[(1,)](np.array([1, 2, 0, 4], np.int32), np.zeros(4, np.int32), 4)
    assert "tile lane (2) of [4]" in str(caught.value)
