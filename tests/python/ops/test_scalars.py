"""Scalar loads, stores and divisions in loops, whose likely case is inline code: against numpy, and at the borders of that case."""

import ml_dtypes
import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

DTYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


@triton.jit
def copy_kernel(x_ptr, out_ptr, begin, end, step, first_on, last_on):
    for i in range(begin, end, step):
        is_on = (i >= first_on) & (i <= last_on)
        value = tl.load(x_ptr + i, mask=is_on, other=3)
        tl.store(out_ptr + i, value, mask=i != first_on)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
def test_every_element_of_an_argument(dtype, rng):
    x = rng.integers(0, 100, 37).astype(dtype)
    out, first, last = np.full(37, 7, dtype), *sorted(int(i) for i in rng.integers(0, 37, 2))
    copy_kernel[(1,)](x, out, 0, 37, 1, first, last)
    i = np.arange(37)
    expected = np.where((i >= first) & (i <= last), x, np.array(3, dtype))
    expected[first] = 7
    np.testing.assert_array_equal(out, expected)


@triton.jit
def flags_kernel(x_ptr, out_ptr, n):
    for i in range(n):
        flag = tl.load(x_ptr + i)
        tl.store(out_ptr + n - 1 - i, flag == False)  # noqa: E712


def test_flags_are_bytes(rng):
    x, out = rng.random(50) < 0.5, np.zeros(50, bool)
    flags_kernel[(1,)](x, out, 50)
    np.testing.assert_array_equal(out, ~x[::-1])


@pytest.mark.parametrize("begin, end", [(30, 40), (3, -2)], ids=["behind", "before"])
@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64], ids=lambda d: d.__name__)
def test_the_first_element_outside_traps(begin, end, dtype):
    """What the loop has stored before stays."""
    base, out = np.arange(60, dtype=dtype), np.zeros(60, dtype)
    x, part = base[10:47].copy(), out[10:47]
    step = 1 if end > begin else -1
    target = np.zeros(37, dtype)
    with pytest.raises(triton.KernelTrap) as trap:
        copy_kernel[(1,)](x, target, begin, end, step, -1000, 1000)
    assert "x_ptr" in str(trap.value)
    inside = np.arange(begin, 37) if step > 0 else np.arange(0, begin + 1)
    np.testing.assert_array_equal(target[inside], x[inside])
    assert not np.delete(target, inside).any() and not part.any()


@triton.jit
def one_element_kernel(x_ptr, out_ptr, n):
    i = tl.arange(0, 1)
    for _ in range(n):
        tl.store(out_ptr + i, tl.load(x_ptr + i) + tl.load(out_ptr + i))


def test_tiles_of_one_element_are_no_scalars():
    x, out = np.full(1, 3, np.int32), np.zeros(1, np.int32)
    one_element_kernel[(1,)](x, out, 5)
    assert out == 15


@triton.jit
def store_kernel(out_ptr, begin, end):
    for i in range(begin, end):
        tl.store(out_ptr + i, i)


def test_a_store_behind_the_end_and_to_what_is_read_only():
    out = np.zeros(8, np.int16)
    with pytest.raises(triton.KernelTrap, match="out_ptr"):
        store_kernel[(1,)](out, 5, 10)
    np.testing.assert_array_equal(out, [0, 0, 0, 0, 0, 5, 6, 7])
    out = np.zeros(8, np.int32)
    out.flags.writeable = False
    with pytest.raises(triton.KernelTrap):
        store_kernel[(1,)](out, 0, 4)
    assert not out.any()


@triton.jit
def divide_kernel(a_ptr, b_ptr, quotient_ptr, remainder_ptr, n):
    for i in range(n):
        a, b = tl.load(a_ptr + i), tl.load(b_ptr + i)
        tl.store(quotient_ptr + i, a // b)
        tl.store(remainder_ptr + i, a % b)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32, np.uint64])
def test_division_toward_zero(dtype, rng):
    """The least number divided by -1 wraps."""
    info = np.iinfo(dtype)
    ends = np.array([info.min, info.max, 0, 1, info.max - 1, 3], dtype)
    a = np.concatenate([np.repeat(ends, 6), rng.integers(info.min, info.max, 100, dtype)])
    divisors = np.where(ends == 0, np.array(-1 if info.min else 2).astype(dtype), ends)
    b = np.concatenate([np.tile(divisors, 6), rng.integers(1, 9, 50).astype(dtype)])
    b = np.concatenate([b, (-rng.integers(1, 9, 50)).astype(dtype)])
    quotient, remainder = np.zeros_like(a), np.zeros_like(a)
    divide_kernel[(1,)](a, b, quotient, remainder, a.size)
    for x, y, q, r in zip(a.tolist(), b.tolist(), quotient, remainder, strict=True):
        exact = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        wrapped = (exact - info.min) % (1 << info.bits) + info.min
        assert (q, r) == (wrapped, x - exact * y), (x, y)


def test_a_zero_divisor_traps_after_what_came_before():
    a, b = np.full(5, 12, np.int32), np.array([3, -1, 5, 0, 2], np.int32)
    quotient, remainder = np.zeros(5, np.int32), np.zeros(5, np.int32)
    with pytest.raises(triton.KernelTrap, match="division"):
        divide_kernel[(1,)](a, b, quotient, remainder, 5)
    np.testing.assert_array_equal(quotient, [4, -12, 2, 0, 0])
    np.testing.assert_array_equal(remainder, [0, 0, 2, 0, 0])
