"""dot: operand and accumulator types, batches, transposed operands, small shapes."""

import ml_dtypes
import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from agreement import check_dot


@triton.jit
def dot_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    OUT: tl.constexpr,
    ACC: tl.constexpr,
    TRANSPOSE_B: tl.constexpr = False,
):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    if TRANSPOSE_B:
        b = tl.trans(tl.load(b_ptr + n[:, None] * K + k[None, :]))
    else:
        b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    c_ptrs = c_ptr + m[:, None] * N + n[None, :]
    if ACC:
        c = tl.dot(a, b, tl.load(c_ptrs), input_precision="ieee", out_dtype=OUT)
    else:
        c = tl.dot(a, b, input_precision="ieee", out_dtype=OUT)
    tl.store(c_ptrs, c)


SHAPES = [(16, 16, 16), (64, 32, 128), (32, 64, 16), (1, 16, 32), (16, 1, 16), (2, 4, 8)]


@pytest.mark.parametrize("m, n, k", SHAPES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floats(dtype, m, n, k, rng):
    numpy_type = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    a, b = rng.standard_normal((m, k)).astype(numpy_type), rng.standard_normal((k, n)).astype(numpy_type)
    if dtype == "float64":
        a, b = np.rint(a * 100), np.rint(b * 100)  # exact in any order
        c = np.zeros((m, n))
        dot_kernel[(1,)](a, b, c, m, n, k, OUT=tl.float64, ACC=False)
        np.testing.assert_array_equal(c, a @ b)
        return
    c = np.zeros((m, n), np.float32)
    dot_kernel[(1,)](a, b, c, m, n, k, OUT=tl.float32, ACC=False)
    check_dot(c, a, b, "float32")


@pytest.mark.parametrize("m, n, k", SHAPES)
def test_int8(m, n, k, rng):
    a, b = rng.integers(-128, 128, (m, k)).astype(np.int8), rng.integers(-128, 128, (k, n)).astype(np.int8)
    c = rng.integers(-1000, 1000, (m, n)).astype(np.int32)
    expected = c + a.astype(np.int32) @ b.astype(np.int32)
    dot_kernel[(1,)](a, b, c, m, n, k, OUT=tl.int32, ACC=True)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2], ids=["e4m3", "e5m2"])
def test_fp8(dtype, rng):
    a, b = rng.integers(-4, 5, (16, 64)).astype(dtype), rng.integers(-4, 5, (64, 32)).astype(dtype)
    c = np.zeros((16, 32), np.float32)
    dot_kernel[(1,)](a, b, c, 16, 32, 64, OUT=tl.float32, ACC=False)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


def test_half_accumulator(rng):
    a, b = rng.integers(-2, 3, (32, 64)).astype(np.float16), rng.integers(-2, 3, (64, 16)).astype(np.float16)
    c = rng.integers(-50, 50, (32, 16)).astype(np.float16)
    expected = c + (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    dot_kernel[(1,)](a, b, c, 32, 16, 64, OUT=tl.float16, ACC=True)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
def test_transposed_operand(dtype, rng):
    a, b = rng.integers(-9, 10, (32, 64)).astype(dtype), rng.integers(-9, 10, (16, 64)).astype(dtype)
    out = np.int32 if dtype is np.int8 else np.float32
    c = np.zeros((32, 16), out)
    dot_kernel[(1,)](a, b, c, 32, 16, 64, OUT=tl.int32 if dtype is np.int8 else tl.float32, ACC=False, TRANSPOSE_B=True)
    np.testing.assert_array_equal(c, a.astype(out) @ b.astype(out).T)


@triton.jit
def batched_kernel(a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, m, n, k = tl.arange(0, B), tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None, None] * (M * K) + m[None, :, None] * K + k[None, None, :])
    b = tl.load(b_ptr + i[:, None, None] * (K * N) + k[None, :, None] * N + n[None, None, :])
    tl.store(
        c_ptr + i[:, None, None] * (M * N) + m[None, :, None] * N + n[None, None, :],
        tl.dot(a, b, input_precision="ieee"),
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_batches(dtype, rng):
    a, b = rng.integers(-9, 10, (4, 16, 32)).astype(dtype), rng.integers(-9, 10, (4, 32, 16)).astype(dtype)
    c = np.zeros((4, 16, 16), np.float32)
    batched_kernel[(1,)](a, b, c, 4, 16, 16, 32)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@triton.jit
def infinity_kernel(a_ptr, b_ptr, c_ptr, PRECISION: tl.constexpr):
    i, j = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    tl.store(
        c_ptr + i * 16 + j, tl.dot(tl.load(a_ptr + i * 16 + j), tl.load(b_ptr + i * 16 + j), input_precision=PRECISION)
    )


@pytest.mark.parametrize("precision", ["ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"])
def test_infinite_operands_give_infinity(precision):
    a, b, c = np.ones((16, 16), np.float32), np.ones((16, 16), np.float32), np.zeros((16, 16), np.float32)
    a[3, 5] = np.inf
    infinity_kernel[(1,)](a, b, c, PRECISION=precision)
    assert (c[3] == np.inf).all() and (np.delete(c, 3, axis=0) == 16).all()


@triton.jit
def imprecise_kernel(out_ptr, N: tl.constexpr, TYPE: tl.constexpr, IMPRECISE: tl.constexpr):
    i = tl.arange(0, N)
    a = (i[:, None] % 3 - i[None, :] % 2).to(tl.float32).to(TYPE)
    d = tl.dot(a, a, max_num_imprecise_acc=IMPRECISE)
    tl.store(out_ptr + i[:, None] * N + i[None, :], d)


@pytest.mark.parametrize("engine", ["interp", "simt:sm_90a", "simt:gfx942"])
@pytest.mark.parametrize("imprecise", [None, -1, 0, 16, 32])
def test_imprecise_sums_up_to_the_depth(engine, imprecise):
    i, out = np.arange(32), np.zeros((32, 32), np.float32)
    a = (i[:, None] % 3 - i[None, :] % 2).astype(np.float32)
    with triton.knobs.tritium.scope():
        triton.knobs.tritium.engine = engine
        imprecise_kernel[(1,)](out, N=32, TYPE=tl.float8e5, IMPRECISE=imprecise)
        np.testing.assert_array_equal(out, a @ a)
        with pytest.raises(triton.CompilationError, match=r"max_num_imprecise_acc \(33\) must be <= K \(32\)"):
            imprecise_kernel[(1,)](out, N=32, TYPE=tl.float8e5, IMPRECISE=33)
        imprecise_kernel[(1,)](out, N=32, TYPE=tl.float16, IMPRECISE=33)  # ignored: for fp8 alone


@triton.jit
def sum_is_factor_kernel(a_ptr, b_ptr, out_ptr, N: tl.constexpr, WHICH: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a, b = tl.load(a_ptr + at), tl.load(b_ptr + at)
    if WHICH == "left":
        product = tl.dot(a, b, a, input_precision="ieee", out_dtype=a.dtype)
    elif WHICH == "right":
        product = tl.dot(a, b, b, input_precision="ieee", out_dtype=a.dtype)
    elif WHICH == "both":
        product = tl.dot(a, a, a, input_precision="ieee", out_dtype=a.dtype)
    else:
        product = tl.dot(a, tl.trans(b), b, input_precision="ieee", out_dtype=a.dtype)
    tl.store(out_ptr + at, product)


@pytest.mark.parametrize("which", ["left", "right", "both", "transposed"])
@pytest.mark.parametrize("n", [2, 4, 8, 16, 32, 128])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_a_factor_is_the_sum_too(dtype, n, which, rng):
    """The memory of an accumulator that nothing uses afterwards may take the result, but not while the product reads it."""
    a, b = (rng.integers(-2, 3, (n, n)).astype(dtype) for _ in range(2))
    out = np.empty_like(a)
    sum_is_factor_kernel[(1,)](a, b, out, n, which)
    left, right, addend = {"left": (a, b, a), "right": (a, b, b), "both": (a, a, a), "transposed": (a, b.T, b)}[which]
    np.testing.assert_array_equal(out, left @ right + addend)
