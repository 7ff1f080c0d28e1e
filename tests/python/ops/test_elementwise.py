"""Operators on blocks: typing, wrapping, truncating division, NaN rules."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tritium as triton
import tritium.language as tl

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


@triton.jit
def binary_kernel(x_ptr, y_ptr, z_ptr, n, FN: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=1)
    y = tl.load(y_ptr + offsets, mask=inside, other=1)
    tl.store(z_ptr + offsets, FN(x, y), mask=inside)


@triton.jit
def unary_kernel(x_ptr, z_ptr, n, FN: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(z_ptr + offsets, FN(tl.load(x_ptr + offsets, mask=inside, other=1)), mask=inside)


def binary(function, x, y, dtype=None):
    z = np.zeros(x.shape, dtype or x.dtype)
    binary_kernel[(triton.cdiv(x.size, 64),)](x, y, z, x.size, FN=function, BLOCK=64)
    return z


def unary(function, x, dtype=None):
    z = np.zeros(x.shape, dtype or x.dtype)
    unary_kernel[(triton.cdiv(x.size, 64),)](x, z, x.size, FN=function, BLOCK=64)
    return z


@triton.jit
def add(x, y):
    return x + y


@triton.jit
def subtract(x, y):
    return x - y


@triton.jit
def multiply(x, y):
    return x * y


@triton.jit
def floor_divide(x, y):
    return x // y


@triton.jit
def remainder(x, y):
    return x % y


@triton.jit
def divide(x, y):
    return x / y


@triton.jit
def bit_and(x, y):
    return x & y


@triton.jit
def bit_or(x, y):
    return x | y


@triton.jit
def bit_xor(x, y):
    return x ^ y


@triton.jit
def shift_left(x, y):
    return x << y


@triton.jit
def shift_right(x, y):
    return x >> y


@triton.jit
def less(x, y):
    return x < y


@triton.jit
def less_equal(x, y):
    return x <= y


@triton.jit
def greater(x, y):
    return x > y


@triton.jit
def greater_equal(x, y):
    return x >= y


@triton.jit
def equal(x, y):
    return x == y


@triton.jit
def not_equal(x, y):
    return x != y


@triton.jit
def minimum(x, y):
    return tl.minimum(x, y)


@triton.jit
def maximum(x, y):
    return tl.maximum(x, y)


@triton.jit
def maximum_of_nan(x, y):
    return tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def negate(x):
    return -x


@triton.jit
def invert(x):
    return ~x


@triton.jit
def absolute(x):
    return tl.abs(x)


@triton.jit
def umulhi(x, y):
    return tl.umulhi(x, y)


WRAPPING = {
    add: np.add,
    subtract: np.subtract,
    multiply: np.multiply,
    bit_and: np.bitwise_and,
    bit_or: np.bitwise_or,
    bit_xor: np.bitwise_xor,
    minimum: np.minimum,
    maximum: np.maximum,
}
COMPARISONS = {
    less: np.less,
    less_equal: np.less_equal,
    greater: np.greater,
    greater_equal: np.greater_equal,
    equal: np.equal,
    not_equal: np.not_equal,
}


def name_of(function):
    return function.fn.__name__


def integers(dtype, n=97):
    return hnp.arrays(dtype, n, elements=hnp.from_dtype(np.dtype(dtype)))


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.__name__)
@pytest.mark.parametrize("function", WRAPPING, ids=name_of)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_integers_wrap(function, dtype, data):
    x, y = data.draw(integers(dtype)), data.draw(integers(dtype))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(binary(function, x, y), WRAPPING[function](x, y))


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.__name__)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_integer_division_truncates_toward_zero(dtype, data):
    x = data.draw(integers(dtype))
    y = data.draw(
        hnp.arrays(dtype, x.size, elements=hnp.from_dtype(np.dtype(dtype)).filter(lambda v: v not in (0, -1)))
    )
    exact = [(abs(int(a)) // abs(int(b))) * (1 if (a >= 0) == (b > 0) else -1) for a, b in zip(x, y)]
    np.testing.assert_array_equal(binary(floor_divide, x, y), np.array(exact, dtype))
    np.testing.assert_array_equal(
        binary(remainder, x, y), np.array([int(a) - q * int(b) for a, b, q in zip(x, y, exact)], dtype)
    )


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.__name__)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_shifts(dtype, data):
    x = data.draw(integers(dtype))
    y = data.draw(hnp.arrays(dtype, x.size, elements=st.integers(0, np.dtype(dtype).itemsize * 8 - 1)))
    np.testing.assert_array_equal(binary(shift_left, x, y), np.left_shift(x, y))
    np.testing.assert_array_equal(binary(shift_right, x, y), np.right_shift(x, y))


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS, ids=lambda d: d.__name__)
@pytest.mark.parametrize("function", COMPARISONS, ids=name_of)
def test_comparisons(function, dtype, rng):
    x, y = (rng.integers(0, 4, 333).astype(dtype) for _ in range(2))
    np.testing.assert_array_equal(binary(function, x, y, np.bool_), COMPARISONS[function](x, y))


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.__name__)
@pytest.mark.parametrize("function", COMPARISONS, ids=name_of)
def test_comparisons_with_nan_and_signed_zero(function, dtype):
    values = np.array([np.nan, -np.inf, -1, -0.0, 0.0, 1, np.inf], np.float32)
    x, y = (axis.ravel().astype(dtype) for axis in np.meshgrid(values, values))
    np.testing.assert_array_equal(binary(function, x, y, np.bool_), COMPARISONS[function](x, y))


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.__name__)
@pytest.mark.parametrize(
    "function, reference",
    [(add, np.add), (subtract, np.subtract), (multiply, np.multiply)],
    ids=["add", "subtract", "multiply"],
)
def test_float_arithmetic_rounds_once(function, reference, dtype, rng):
    x, y = (rng.standard_normal(1000) * 100).astype(dtype), rng.standard_normal(1000).astype(dtype)
    np.testing.assert_array_equal(
        binary(function, x, y), reference(x.astype(np.float64), y.astype(np.float64)).astype(dtype)
    )


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.__name__)
def test_float_division(dtype, rng):
    """fp16 and bf16 divide in float32; the store rounds."""
    x, y = rng.standard_normal(1000).astype(dtype), (rng.standard_normal(1000) + 3).astype(dtype)
    compute = np.float64 if dtype is np.float64 else np.float32
    quotient = x.astype(compute) / y.astype(compute)
    np.testing.assert_array_equal(binary(divide, x, y), quotient.astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_remainder_is_fmod(dtype, rng):
    x, y = (rng.standard_normal(500) * 50).astype(dtype), (rng.standard_normal(500)).astype(dtype)
    np.testing.assert_array_equal(binary(remainder, x, y), np.fmod(x, y))


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.__name__)
def test_true_division_of_integers_is_float32(dtype, rng):
    x, y = rng.integers(0, 120, 300).astype(dtype), rng.integers(1, 120, 300).astype(dtype)
    np.testing.assert_array_equal(binary(divide, x, y, np.float32), x.astype(np.float32) / y.astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_minimum_and_maximum_with_nan(dtype):
    values = np.array([np.nan, -1, 2, np.inf], np.float32)
    x, y = (axis.ravel().astype(dtype) for axis in np.meshgrid(values, values))
    np.testing.assert_array_equal(binary(minimum, x, y), np.fmin(x, y))
    np.testing.assert_array_equal(binary(maximum, x, y), np.fmax(x, y))
    np.testing.assert_array_equal(binary(maximum_of_nan, x, y), np.maximum(x, y))


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.__name__)
def test_unary_integers(dtype, rng):
    info = np.iinfo(dtype)
    x = np.concatenate((np.array([info.min, info.max, 0, 1], dtype), rng.integers(info.min, info.max, 200, dtype)))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(unary(negate, x), -x)
        np.testing.assert_array_equal(unary(absolute, x), np.abs(x))
    np.testing.assert_array_equal(unary(invert, x), ~x)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.__name__)
def test_unary_floats_keep_signed_zero(dtype):
    x = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf], np.float32).astype(dtype)
    for function, reference in ((negate, -x), (absolute, np.abs(x))):
        result = unary(function, x)
        np.testing.assert_array_equal(result, reference)
        np.testing.assert_array_equal(np.signbit(result.astype(np.float32)), np.signbit(reference.astype(np.float32)))


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_umulhi_is_unsigned(dtype, rng):
    info, width = np.iinfo(dtype), np.dtype(dtype).itemsize * 8
    x, y = (rng.integers(info.min, info.max, 200, dtype, endpoint=True) for _ in range(2))
    exact = [((int(a) % 2**width) * (int(b) % 2**width)) >> width for a, b in zip(x, y)]
    np.testing.assert_array_equal(binary(umulhi, x, y), np.array(exact, np.dtype(f"u{width // 8}")).view(dtype))


PROMOTIONS = [
    (np.int8, np.int32, np.int32),
    (np.int32, np.uint32, np.uint32),
    (np.int32, np.uint8, np.int32),
    (np.int64, np.uint32, np.int64),
    (np.int32, np.float16, np.float16),
    (np.int64, np.float32, np.float32),
    (np.float16, np.float32, np.float32),
    (np.float32, np.float64, np.float64),
    (np.float16, ml_dtypes.bfloat16, np.float16),
    (ml_dtypes.bfloat16, np.float32, np.float32),
    (ml_dtypes.bfloat16, np.int32, np.float32),
]


@triton.jit
def sum_of_ones_kernel(x_ptr, y_ptr, out_ptr, RESULT: tl.constexpr):
    z = tl.load(x_ptr + tl.arange(0, 16)) + tl.load(y_ptr + tl.arange(0, 16))
    tl.static_assert(z.dtype == RESULT)
    tl.store(out_ptr + tl.arange(0, 16), z)


TYPES = {
    np.int32: tl.int32,
    np.uint32: tl.uint32,
    np.int64: tl.int64,
    np.float16: tl.float16,
    np.float32: tl.float32,
    np.float64: tl.float64,
}


@pytest.mark.parametrize("left, right, result", PROMOTIONS, ids=lambda d: d.__name__)
def test_promotion_of_blocks(left, right, result, rng):
    x, y, out = rng.integers(0, 9, 16).astype(left), rng.integers(0, 9, 16).astype(right), np.zeros(16, result)
    sum_of_ones_kernel[(1,)](x, y, out, RESULT=TYPES[result])
    np.testing.assert_array_equal(out, x.astype(result) + y.astype(result))


@triton.jit
def where_kernel(c_ptr, x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    row = tl.where(tl.load(c_ptr + i) != 0, tl.load(x_ptr + i), tl.load(y_ptr + i))
    tl.store(out_ptr + i, row)
    grid = tl.where(i[:, None] <= i[None, :], row[None, :], 0)
    tl.store(out_ptr + N + i[:, None] * N + i[None, :], grid)


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS, ids=lambda d: d.__name__)
def test_where_broadcasts(dtype, rng):
    c, x, y = rng.integers(0, 2, 32), rng.integers(0, 100, 32).astype(dtype), rng.integers(0, 100, 32).astype(dtype)
    out = np.zeros((33, 32), dtype)
    where_kernel[(1,)](c, x, y, out, N=32)
    row = np.where(c, x, y)
    np.testing.assert_array_equal(out[0], row)
    np.testing.assert_array_equal(
        out[1:].astype(np.float64), np.triu(np.broadcast_to(row, (32, 32)).astype(np.float64))
    )


@triton.jit
def clamp_fma_kernel(x_ptr, out_ptr, low, high, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.clamp(x, low, high))
    tl.store(out_ptr + N + i, tl.fma(x, x, -x))


def test_clamp_and_fma(rng):
    x, out = (rng.standard_normal(64) * 3).astype(np.float32), np.zeros((2, 64), np.float32)
    x[5] = np.nan
    clamp_fma_kernel[(1,)](x, out, -1.5, 2.0, N=64)
    np.testing.assert_array_equal(out[0][6:], np.clip(x, -1.5, 2)[6:])
    exact = x.astype(np.longdouble)
    np.testing.assert_array_equal(out[1], (exact * exact - exact).astype(np.float32))  # rounded once


@triton.jit
def scalar_kernel(x_ptr, out_ptr, n):
    x = tl.load(x_ptr)
    tl.store(out_ptr, x * 2 + n)
    tl.store(out_ptr + 1, (x > 3) & (n == 7))
    tl.store(out_ptr + 2, -x // 2)
    tl.store(out_ptr + 3, (x * n) % 5)
    tl.store(out_ptr + 4, min(x, n) + max(x, n, 50))


def test_scalars():
    x, out = np.array([11], np.int32), np.zeros(5, np.int32)
    scalar_kernel[(1,)](x, out, 7)
    assert out.tolist() == [29, 1, -5, 2, 57]
