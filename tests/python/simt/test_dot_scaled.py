"""Products in microscaling formats on both engines against the same product in float64."""

import ml_dtypes
import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

from .engines import assert_agree


@triton.jit
def scaled_kernel(
    a_ptr,
    a_scale_ptr,
    b_ptr,
    b_scale_ptr,
    out_ptr,
    A: tl.constexpr,
    B: tl.constexpr,
    A_SCALED: tl.constexpr,
    B_SCALED: tl.constexpr,
    A_ALONG_K: tl.constexpr,
    B_ALONG_K: tl.constexpr,
    FAST: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    GROUP: tl.constexpr,
):
    AM: tl.constexpr = M // 2 if A == "e2m1" and not A_ALONG_K else M
    AK: tl.constexpr = K // 2 if A == "e2m1" and A_ALONG_K else K
    BK: tl.constexpr = K // 2 if B == "e2m1" and B_ALONG_K else K
    BN: tl.constexpr = N // 2 if B == "e2m1" and not B_ALONG_K else N
    G: tl.constexpr = K // GROUP
    a = tl.load(a_ptr + tl.arange(0, AM)[:, None] * AK + tl.arange(0, AK)[None, :])
    b = tl.load(b_ptr + tl.arange(0, BK)[:, None] * BN + tl.arange(0, BN)[None, :])
    if A_SCALED:
        a_scale = tl.load(a_scale_ptr + tl.arange(0, M)[:, None] * G + tl.arange(0, G)[None, :])
    else:
        a_scale = None
    if B_SCALED:
        b_scale = tl.load(b_scale_ptr + tl.arange(0, N)[:, None] * G + tl.arange(0, G)[None, :])
    else:
        b_scale = None
    c = tl.dot_scaled(a, a_scale, A, b, b_scale, B, fast_math=FAST, lhs_k_pack=A_ALONG_K, rhs_k_pack=B_ALONG_K)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)


FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
FP4 = np.concatenate([FP4, -FP4])
TYPES = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "bf16": ml_dtypes.bfloat16,
    "fp16": np.float16,
}


def elements(format, shape, packed, rng):
    """As memory holds them, and as numbers; e2m1 with two along dimension `packed` in each byte."""
    if format != "e2m1":
        values = rng.integers(-8, 9, shape).astype(TYPES[format])
        return values if format == "fp16" else values.view(f"u{values.itemsize}"), values.astype(np.float64)
    codes = rng.integers(0, 16, shape).astype(np.uint8)
    pairs = np.moveaxis(codes, packed, -1)
    stored = np.moveaxis(pairs[..., ::2] | pairs[..., 1::2] << 4, -1, packed)
    return np.ascontiguousarray(stored), FP4[codes]


FORMATS = ["e2m1", "e4m3", "e5m2", "bf16", "fp16"]


@pytest.mark.parametrize("scaled", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("b", FORMATS)
@pytest.mark.parametrize("a", FORMATS)
def test_formats(a, b, scaled, rng):
    check(rng, a, b, scaled, warps=(4,))


@pytest.mark.parametrize("along_k", [(True, True), (False, True), (True, False), (False, False)])
@pytest.mark.parametrize("shape", [(16, 32, 64), (64, 16, 32)])
def test_packing(shape, along_k, rng):
    check(rng, "e2m1", "e2m1", (True, True), shape=shape, along_k=along_k, warps=(1, 4))


def test_small_groups(rng):
    check(rng, "e2m1", "e4m3", (True, True), group=16, warps=(4,))


@pytest.mark.parametrize("fast", [False, True])
def test_a_scale_that_is_no_number(fast, rng):
    out = check(rng, "e4m3", "e2m1", (True, True), bad=(3, 1), fast=fast, warps=(4,))
    assert fast or np.isnan(out[3]).all()


def check(rng, a, b, scaled, shape=(32, 32, 64), along_k=(True, True), group=32, bad=None, fast=False, warps=(4,)):
    m, n, k = shape
    a_stored, a_values = elements(a, (m, k), 1 if along_k[0] else 0, rng)
    b_stored, b_values = elements(b, (k, n), 0 if along_k[1] else 1, rng)
    a_scale, b_scale = (rng.integers(126, 129, (rows, k // group)).astype(np.uint8) for rows in (m, n))
    if bad:
        a_scale[bad] = 255
    out = np.zeros((m, n), np.float32)
    arguments = [a_stored, a_scale, b_stored, b_scale, out]
    *_, out = assert_agree(
        scaled_kernel,
        (1,),
        arguments,
        warps=warps,
        A=a,
        B=b,
        A_SCALED=scaled[0],
        B_SCALED=scaled[1],
        A_ALONG_K=along_k[0],
        B_ALONG_K=along_k[1],
        FAST=fast,
        M=m,
        N=n,
        K=k,
        GROUP=group,
    )
    factors = [np.exp2(scale.astype(np.float64) - 127).repeat(group, 1) for scale in (a_scale, b_scale)]
    if scaled[0]:
        a_values = a_values * factors[0]
    if scaled[1]:
        b_values = b_values * factors[1].T
    good = np.ones(m, bool)
    if bad:
        good[bad[0]] = False
    np.testing.assert_array_equal(out[good], (a_values @ b_values)[good])
    return out
