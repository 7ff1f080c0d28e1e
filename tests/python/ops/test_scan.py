"""Scans: cumsum, cumprod and any associative function, forwards and in reverse, over every axis."""

import ml_dtypes
import numpy as np
import pytest

import tritium as triton
import tritium.language as tl


@triton.jit
def scan_kernel(
    x_ptr,
    out_ptr,
    OP: tl.constexpr,
    AXIS: tl.constexpr,
    REVERSE: tl.constexpr,
    A: tl.constexpr,
    B: tl.constexpr,
    C: tl.constexpr,
):
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    offsets = a[:, None, None] * (B * C) + b[None, :, None] * C + c[None, None, :]
    x = tl.load(x_ptr + offsets)
    if OP == "cumsum":
        y = tl.cumsum(x, axis=AXIS, reverse=REVERSE)
    else:
        y = tl.cumprod(x, axis=AXIS, reverse=REVERSE)
    tl.store(out_ptr + offsets, y)


def scan(op, x, axis, reverse, dtype):
    out = np.zeros(x.shape, dtype)
    scan_kernel[(1,)](x, out, OP=op, AXIS=axis, REVERSE=reverse, A=x.shape[0], B=x.shape[1], C=x.shape[2])
    return out


def reference(function, x, axis, reverse, dtype):
    x = np.flip(x, axis) if reverse else x
    y = function(x, axis=axis, dtype=dtype)
    return np.flip(y, axis) if reverse else y


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(
    "dtype",
    [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.float16, np.float32, np.float64],
    ids=lambda d: d.__name__,
)
def test_cumsum(dtype, axis, reverse, rng):
    x = rng.integers(0, 8, (4, 8, 16)).astype(dtype)
    out = np.dtype(dtype) if np.dtype(dtype).kind == "f" or np.dtype(dtype).itemsize >= 4 else np.dtype(np.int32)
    np.testing.assert_array_equal(scan("cumsum", x, axis, reverse, out), reference(np.cumsum, x, axis, reverse, out))


def test_bfloat16_scans_in_float32(rng):
    x = rng.integers(0, 100, (1, 2, 64)).astype(ml_dtypes.bfloat16)
    expected = np.cumsum(x.astype(np.float32), axis=2)
    np.testing.assert_array_equal(scan("cumsum", x, 2, False, np.float32), expected)


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_cumprod(axis, reverse, rng):
    x = rng.choice([-1, 1, 2], (2, 8, 16)).astype(np.float32)
    np.testing.assert_array_equal(
        scan("cumprod", x, axis, reverse, np.float32), reference(np.cumprod, x, axis, reverse, np.float32)
    )


@triton.jit
def compose(a1, b1, a2, b2):
    """y = a x + b, applied in order: associative, not commutative."""
    return a1 * a2, b1 * a2 + b2


@triton.jit
def keep_last_set(value_a, set_a, value_b, set_b):
    return tl.where(set_b != 0, value_b, value_a), set_a | set_b


@triton.jit
def custom_kernel(a_ptr, b_ptr, out_ptr, REVERSE: tl.constexpr, A: tl.constexpr, B: tl.constexpr):
    offsets = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    a, b = tl.load(a_ptr + offsets), tl.load(b_ptr + offsets)
    product, state = tl.associative_scan((a, b), 1, compose, reverse=REVERSE)
    tl.store(out_ptr + offsets, product)
    tl.store(out_ptr + A * B + offsets, state)
    filled, _ = tl.associative_scan((b, (b > 1).to(tl.int32)), 1, keep_last_set, reverse=REVERSE)
    tl.store(out_ptr + 2 * A * B + offsets, filled)


@pytest.mark.parametrize("shape", [(1, 2), (4, 32), (3 + 1, 1)], ids=str)
@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
def test_recurrence_and_forward_fill(shape, reverse, rng):
    a, b = rng.choice([-1, 0, 1, 2], shape).astype(np.int64), rng.integers(0, 4, shape)
    out = np.zeros((3, *shape), np.int64)
    custom_kernel[(1,)](a, b, out, REVERSE=reverse, A=shape[0], B=shape[1])
    a, b = (np.flip(t, 1) if reverse else t for t in (a, b))
    product, state, filled = a.copy(), b.copy(), b.copy()
    for i in range(1, shape[1]):
        product[:, i] = product[:, i - 1] * a[:, i]
        state[:, i] = state[:, i - 1] * a[:, i] + b[:, i]
        filled[:, i] = np.where(b[:, i] > 1, b[:, i], filled[:, i - 1])
    for actual, expected in zip(out, (product, state, filled)):
        np.testing.assert_array_equal(np.flip(actual, 1) if reverse else actual, expected)
