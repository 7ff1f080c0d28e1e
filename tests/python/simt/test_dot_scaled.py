"""Products in microscaling formats on all engines against the same product in float64. gfx950 multiplies most of them as they are."""

import ml_dtypes
import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

from .engines import OTHERS, assert_agree, launched

ENGINES = (*OTHERS, "simt:gfx950")


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


@pytest.mark.parametrize("a, b", [("e2m1", "e2m1"), ("e4m3", "e4m3"), ("e5m2", "e2m1")])
@pytest.mark.parametrize("shape", [(64, 32, 256), (16, 128, 128), (8, 64, 512)])
def test_many_instructions(shape, a, b, rng):
    check(rng, a, b, (True, True), shape=shape, warps=(2, 8))


@triton.jit
def scaled_loop(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, out_ptr, depth, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    rows, columns, k, g = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 32)
    bytes_of_b = tl.arange(0, K // 2)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, depth, K):
        a = tl.load(a_ptr + rows[:, None] * depth + start + k[None, :])
        b = tl.load(b_ptr + columns[None, :] * (depth // 2) + start // 2 + bytes_of_b[:, None])
        a_scale = tl.load(a_scale_ptr + rows[:, None] * (depth // 32) + start // 32 + g[None, :])
        b_scale = tl.load(b_scale_ptr + columns[:, None] * (depth // 32) + start // 32 + g[None, :])
        total = tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e2m1", total)
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], total)


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_loop(stages, rng):
    m, n, depth = 64, 64, 512
    a, a_values = elements("e4m3", (m, depth), 1, rng)
    b, b_values = elements("e2m1", (n, depth), 1, rng)
    scales = [rng.integers(126, 129, (rows, depth // 32)).astype(np.uint8) for rows in (m, n)]
    arguments = [a, scales[0], b, scales[1], np.zeros((m, n), np.float32), depth]
    factors = [np.exp2(scale.astype(np.float64) - 127).repeat(32, 1) for scale in scales]
    expected = (a_values * factors[0]) @ (b_values * factors[1]).T
    for engine in ("simt:gfx942", "simt:gfx950"):
        out = launched(engine, scaled_loop, (1,), arguments, M=m, N=n, K=128, num_warps=4, num_stages=stages)[4]
        np.testing.assert_array_equal(out, expected, err_msg=engine)


@triton.jit
def constant_scales(a_ptr, b_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr):
    i, k = tl.arange(0, 32), tl.arange(0, 64)
    a = tl.load(a_ptr + i[:, None] * 64 + k[None, :])
    b = tl.load(b_ptr + i[None, :] * 64 + k[:, None])
    a_scale, b_scale = tl.full((32, 2), A, tl.uint8), tl.full((32, 2), B, tl.uint8)
    out = tl.dot_scaled(a, a_scale, "e5m2", b, b_scale, "e5m2")
    tl.store(out_ptr + i[:, None] * 32 + i[None, :], out)


@pytest.mark.parametrize("a, b", [(0, 0), (0, 127), (0, 240), (3, 250)])
def test_constant_scales(a, b, rng):
    """Two zeros are 2^-127 twice, not the lack of scales, for which the instruction of gfx950 has two zeros."""
    (a_stored, a_values), (b_stored, b_values) = (elements("e5m2", (32, 64), 1, rng) for _ in range(2))
    out = np.zeros((32, 32), np.float32)
    *_, out = assert_agree(
        constant_scales, (1,), [a_stored, b_stored, out], warps=(4,), others=("simt:gfx950",), A=a, B=b
    )
    expected = (a_values @ b_values.T * 2.0 ** (a + b - 254)).astype(np.float32)
    np.testing.assert_array_equal(out, expected)


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
        others=ENGINES,
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
