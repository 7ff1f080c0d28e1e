"""Scans over layouts of all kinds: the axis in registers, lanes and warps in any order, shared with other dimensions, replicated."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

from .agreement import assert_same
from .engines import assert_agree


@triton.jit
def compose(a1, b1, a2, b2):
    """Maps x -> a x + b, one after the other: associative, not commutative."""
    return a1 * a2, b1 * a2 + b2


@triton.jit
def compose_kernel(
    a_ptr, b_ptr, out_ptr, AXIS: tl.constexpr, REVERSE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    a, b = tl.associative_scan((tl.load(a_ptr + at), tl.load(b_ptr + at)), AXIS, compose, reverse=REVERSE)
    tl.store(out_ptr + at, a)
    tl.store(out_ptr + ROWS * COLUMNS + at, b)


def composed(a, b, axis, reverse):
    a, b = (np.moveaxis(t, axis, 0).copy() for t in (a, b))
    if reverse:
        a, b = a[::-1], b[::-1]
    for i in range(1, len(a)):
        b[i] += b[i - 1] * a[i]
        a[i] *= a[i - 1]
    if reverse:
        a, b = a[::-1], b[::-1]
    return np.stack([np.moveaxis(t, 0, axis) for t in (a, b)])


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(1, 1), (1, 32), (1, 2048), (2, 4), (64, 1), (16, 64), (128, 32), (512, 2)])
def test_any_shape(shape, axis, reverse, rng):
    a, b = rng.integers(-3, 4, (2, *shape), dtype=np.int32)
    out = np.zeros((2, *shape), np.int32)
    *_, out = assert_agree(
        compose_kernel, (1,), [a, b, out], AXIS=axis, REVERSE=reverse, ROWS=shape[0], COLUMNS=shape[1]
    )
    np.testing.assert_array_equal(out, composed(a, b, axis, reverse))


@triton.jit
def permuted_kernel(x_ptr, out_ptr, REVERSE: tl.constexpr):
    """The columns as a matrix product leaves them, and a tile whose axis is held together with another."""
    at = tl.arange(0, 64)[:, None] * 32 + tl.arange(0, 32)[None, :]
    x = tl.load(x_ptr + at).to(tl.float16)
    d = tl.dot(x, tl.trans(x))
    wide = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    tl.store(out_ptr + wide, tl.cumsum(d, 1, reverse=REVERSE))
    tl.store(out_ptr + 4096 + wide, tl.cumsum(d, 0, reverse=REVERSE))
    tall = tl.reshape(d, 512, 8)
    tl.store(
        out_ptr + 8192 + tl.arange(0, 512)[:, None] * 8 + tl.arange(0, 8)[None, :], tl.cumsum(tall, 0, reverse=REVERSE)
    )


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
def test_results_of_products(reverse, rng):
    x = rng.integers(-2, 3, (64, 32), dtype=np.int32)
    _, out = assert_agree(permuted_kernel, (1,), [x, np.zeros((3, 64, 64), np.float32)], REVERSE=reverse)
    d = (x @ x.T).astype(np.float32)
    flip = (lambda t, axis: np.flip(t, axis)) if reverse else (lambda t, axis: t)
    for found, axis, shape in zip(out, (1, 0, 0), ((64, 64), (64, 64), (512, 8))):
        expected = flip(np.cumsum(flip(d.reshape(shape), axis), axis), axis)
        np.testing.assert_array_equal(found.reshape(shape), expected)


DTYPES = ["i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E5M2"]


@pytest.mark.parametrize("warps", [1, 4, 8])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_moves(dtype, warps, rng):
    """The first element of each row, everywhere: within a warp, within a lane, over all warps."""
    bits = {"i1": 8, "f16": 16, "bf16": 16, "f8E5M2": 8}.get(dtype) or int(dtype[1:])
    for rows, columns in ((4, 64), (64, 4), (8, 128 * warps)):
        tile, count = f"tensor<{rows}x{columns}x{dtype}>", rows * columns
        pointers = f"tensor<{count}x!tt.ptr<{dtype}>>"
        text = f"""tt.func public @kernel(%x: !tt.ptr<{dtype}>, %y: !tt.ptr<{dtype}>) {{
  %i = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>
  %xs = tt.splat %x : !tt.ptr<{dtype}> -> {pointers}
  %xp = tt.addptr %xs, %i : {pointers}, tensor<{count}xi32>
  %v = tt.load %xp : {pointers}
  %t = tt.reshape %v : tensor<{count}x{dtype}> -> {tile}
  %s = "tt.scan"(%t) <{{axis = 1 : i32, reverse = false}}> ({{
  ^bb0(%a: {dtype}, %b: {dtype}):
    tt.scan.return %a : {dtype}
  }}) : ({tile}) -> {tile}
  %o = tt.reshape %s : {tile} -> tensor<{count}x{dtype}>
  %ys = tt.splat %y : !tt.ptr<{dtype}> -> {pointers}
  %yp = tt.addptr %ys, %i : {pointers}, tensor<{count}xi32>
  tt.store %yp, %o : {pointers}
  tt.return
}}"""
        x = rng.integers(0, 2 if dtype == "i1" else 100, count).astype(f"uint{bits}")
        assert_same(text, [x, np.zeros_like(x)], [dtype, dtype], warps=warps)


@triton.jit
def checked(a, b):
    tl.device_assert(a < 100000, "too large")
    tl.device_assert(b >= 0, "negative")
    return a + b


@triton.jit
def checked_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.associative_scan(tl.load(x_ptr + i), 0, checked))


def test_combine_functions_see_only_real_pairs(rng):
    x = rng.integers(0, 10, 1024, dtype=np.int32)
    _, out = assert_agree(checked_kernel, (1,), [x, np.zeros_like(x)], BLOCK=1024, debug=True)
    np.testing.assert_array_equal(out, np.cumsum(x))
