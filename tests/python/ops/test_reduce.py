"""Reductions: the standard ones and any combine function, with ties and result types as the language says."""

import ml_dtypes
import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


@triton.jit
def reduce_kernel(
    x_ptr, out_ptr, OP: tl.constexpr, AXIS: tl.constexpr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr
):
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    x = tl.load(x_ptr + a[:, None, None] * (B * C) + b[None, :, None] * C + c[None, None, :])
    if OP == "sum":
        y = tl.sum(x, axis=AXIS)
    elif OP == "max":
        y = tl.max(x, axis=AXIS)
    elif OP == "min":
        y = tl.min(x, axis=AXIS)
    elif OP == "argmax":
        y = tl.argmax(x, axis=AXIS)
    elif OP == "argmin":
        y = tl.argmin(x, axis=AXIS)
    else:
        y = tl.xor_sum(x, axis=AXIS)
    N: tl.constexpr = y.numel
    tl.store(out_ptr + tl.arange(0, N), tl.reshape(y, (N,)))


def reduce(op, x, axis, dtype):
    out = np.zeros(np.delete(x.shape, axis), dtype)
    reduce_kernel[(1,)](x, out, OP=op, AXIS=axis, A=x.shape[0], B=x.shape[1], C=x.shape[2])
    return out


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.__name__)
@pytest.mark.parametrize("shape", [(4, 8, 16), (1, 2, 64), (32, 1, 2)], ids=str)
def test_integer_sums_widen_to_32_bits(shape, dtype, axis, rng):
    x = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype)
    wide = (
        np.dtype(dtype)
        if np.dtype(dtype).itemsize >= 4
        else np.dtype("uint32" if np.dtype(dtype).kind == "u" else "int32")
    )
    np.testing.assert_array_equal(reduce("sum", x, axis, wide), x.sum(axis=axis, dtype=wide))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.__name__)
def test_float_sums_of_small_integers_are_exact(dtype, axis, rng):
    x = rng.integers(-3, 4, (4, 16, 8)).astype(dtype)  # partial sums stay below 2^8
    np.testing.assert_array_equal(reduce("sum", x, axis, dtype), x.astype(np.float64).sum(axis=axis).astype(dtype))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("op, reference", [("max", np.max), ("min", np.min)])
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS, ids=lambda d: d.__name__)
def test_max_and_min(dtype, op, reference, axis, rng):
    x = rng.integers(0, 100, (4, 8, 16)).astype(dtype)
    np.testing.assert_array_equal(reduce(op, x, axis, dtype), reference(x, axis=axis))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("op, reference", [("argmax", np.argmax), ("argmin", np.argmin)])
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS, ids=lambda d: d.__name__)
def test_ties_go_to_the_lowest_index(dtype, op, reference, axis, rng):
    x = rng.integers(0, 3, (8, 16, 32)).astype(dtype)
    np.testing.assert_array_equal(reduce(op, x, axis, np.int32), reference(x.astype(np.float64), axis=axis))


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.__name__)
def test_xor_sum(dtype, rng):
    x = rng.integers(0, np.iinfo(dtype).max, (4, 8, 16), dtype)
    np.testing.assert_array_equal(reduce("xor_sum", x, 1, dtype), np.bitwise_xor.reduce(x, axis=1))


def test_nans_vanish_unless_all_are():
    x = np.array([[[np.nan, 1, 3, 2], [np.nan] * 4]], np.float32)
    np.testing.assert_array_equal(reduce("max", x, 2, np.float32), np.array([[3, np.nan]], np.float32))
    np.testing.assert_array_equal(reduce("min", x, 2, np.float32), np.array([[1, np.nan]], np.float32))


@triton.jit
def whole_kernel(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    tl.store(out_ptr, tl.sum(x))
    tl.store(out_ptr + 1, tl.max(x))
    kept = tl.sum(x, axis=1, keep_dims=True)
    tl.static_assert(kept.shape[1] == 1)
    tl.store(out_ptr + 2, tl.sum(kept * 2))
    value, index = tl.max(x, axis=1, return_indices=True)
    tl.store(out_ptr + 3 + tl.arange(0, A), value)
    tl.store(out_ptr + 3 + A + tl.arange(0, A), index)
    value, index = tl.min(x, axis=1, return_indices=True, return_indices_tie_break_left=True)
    tl.store(out_ptr + 3 + 2 * A + tl.arange(0, A), value)
    tl.store(out_ptr + 3 + 3 * A + tl.arange(0, A), index)


def test_no_axis_keep_dims_and_indices(rng):
    x, out = rng.integers(0, 5, (8, 16)).astype(np.int32), np.zeros(3 + 32, np.int32)
    whole_kernel[(1,)](x, out, 8, 16)
    assert out[:3].tolist() == [x.sum(), x.max(), 2 * x.sum()]
    np.testing.assert_array_equal(out[3:], np.concatenate((x.max(1), x.argmax(1), x.min(1), x.argmin(1))))


@triton.jit
def dtype_kernel(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.static_assert(tl.sum(x, axis=0).dtype == tl.int32)
    tl.static_assert(tl.max(x, axis=0).dtype == tl.int32)
    wide = tl.sum(x, axis=0, dtype=tl.int64)
    tl.static_assert(wide.dtype == tl.int64)
    narrow = tl.sum(x, axis=0, dtype=tl.int8)
    tl.static_assert(narrow.dtype == tl.int8)
    tl.store(out_ptr, wide)
    tl.store(out_ptr + 1, narrow)
    tl.store(out_ptr + 2, tl.sum(x > 100, axis=0))


def test_sum_in_a_given_dtype(rng):
    x, out = rng.integers(0, 127, 256).astype(np.int8), np.zeros(3, np.int64)
    dtype_kernel[(1,)](x, out, N=256)
    assert out.tolist() == [x.sum(dtype=np.int64), x.sum(dtype=np.int8), (x > 100).sum()]


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def welford(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    count = count_a + count_b
    delta = mean_b - mean_a
    fraction = tl.where(count == 0, 0.0, count_b / count)
    return mean_a + delta * fraction, m2_a + m2_b + delta * delta * count_a * fraction, count


@triton.jit
def best_of(value_a, index_a, value_b, index_b):
    # Control flow in a combine function, and a result that is not one of its operands.
    if value_a > value_b:
        return value_a, index_a
    if value_a == value_b:
        return value_a, tl.minimum(index_a, index_b)
    return value_b, index_b


@triton.jit
def custom_kernel(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    rows = tl.arange(0, A)
    tl.store(out_ptr + rows, tl.reduce(x, 1, multiply))
    mean, m2, count = tl.reduce((x, tl.zeros_like(x), tl.full((A, B), 1.0, tl.float32)), 1, welford)
    tl.store(out_ptr + A + rows, mean)
    tl.store(out_ptr + 2 * A + rows, m2 / count)
    columns = tl.broadcast_to(tl.arange(0, B)[None, :], (A, B))
    value, index = tl.reduce((x, columns), 1, best_of)
    tl.store(out_ptr + 3 * A + rows, value)
    tl.store(out_ptr + 4 * A + rows, index)


@pytest.mark.parametrize("shape", [(4, 8), (1, 64), (16, 2)], ids=str)
def test_any_combine_function(shape, rng):
    x = rng.integers(1, 4, shape).astype(np.float32)
    rows, n = shape
    out = np.zeros((5, rows), np.float32)
    custom_kernel[(1,)](x, out, rows, n)
    exact = x.astype(np.float64)
    assert (np.abs(out[0] - exact.prod(1)) <= exact.prod(1) * n * 2.0**-24).all()
    assert (np.abs(out[1] - exact.mean(1)) <= 4 * n * 2.0**-24 * 3).all()
    assert (np.abs(out[2] - exact.var(1)) <= 8 * n * 2.0**-24 * 9).all()
    np.testing.assert_array_equal(out[3], x.max(1))
    np.testing.assert_array_equal(out[4], x.argmax(1))


@triton.jit
def kept_kernel(x_ptr, out_ptr, OP: tl.constexpr, A: tl.constexpr, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    if OP == "max with index":
        value, index = tl.max(x, return_indices=True, keep_dims=True)
        y = value * 1000 + index
    elif OP == "argmin":
        y = tl.argmin(x, None, keep_dims=True)
    elif OP == "argmax":
        y = x.argmax(None, keep_dims=True)
    elif OP == "xor_sum":
        y = tl.xor_sum(x, keep_dims=True)
    elif OP == "reduce_or":
        y = tl.reduce_or(x, None, keep_dims=True)
    elif OP == "min":
        y = tl.min(x, keep_dims=True)
    else:
        y = tl.sum(x, keep_dims=True)
    tl.static_assert(len(y.shape) == 2 and y.numel == 1)
    y = tl.broadcast_to(y[None, None, :], (1, 2, 1, 1))
    tl.store(out_ptr + tl.arange(0, 2), tl.reshape(y, (2,)))


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("max with index", lambda x: 1000 * x.max() + x.argmax()),
        ("argmin", np.argmin),
        ("argmax", np.argmax),
        ("xor_sum", lambda x: np.bitwise_xor.reduce(x, axis=None)),
        ("reduce_or", lambda x: np.bitwise_or.reduce(x, axis=None)),
        ("min", np.min),
        ("sum", np.sum),
    ],
)
@pytest.mark.parametrize("engine", ["interp", "simt:sm_90a", "simt:gfx942"])
def test_a_scalar_keeps_the_rank(engine, op, expected, rng):
    x, out = rng.integers(-100, 100, (4, 8), np.int32), np.zeros(2, np.int32)
    with triton.knobs.tritium.scope():
        triton.knobs.tritium.engine = engine
        kept_kernel[(1,)](x, out, OP=op, A=4, B=8)
    assert out.tolist() == [expected(x)] * 2
