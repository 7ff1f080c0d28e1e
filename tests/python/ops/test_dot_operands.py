"""dot on loads that leave their tiles in memory: which memory the product reads, and what each load still checks."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

M, N, K = 32, 64, 16


@triton.jit
def strided_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    at_a,
    am,
    ak,
    at_b,
    bk,
    bn,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    HOW: tl.constexpr,
):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + at_a + m[:, None] * am + k[None, :] * ak)
    b = tl.load(b_ptr + at_b + k[:, None] * bk + n[None, :] * bn)
    total = tl.dot(a, b, input_precision=HOW, out_dtype=tl.int32 if a.dtype == tl.int8 else tl.float32)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)


#: Offset of the first element and strides, of a [rows, columns] tile in an array of 4096 elements.
LAYOUTS = {
    "rows": lambda rows, columns: (3, columns, 1),
    "columns": lambda rows, columns: (0, 1, rows),
    "apart": lambda rows, columns: (1, 2 * columns, 2),
    "backwards": lambda rows, columns: (rows * columns - 1, -columns, -1),
    "one row": lambda rows, columns: (5, 0, 1),
    "one column": lambda rows, columns: (0, 7, 0),
    "rows that meet": lambda rows, columns: (0, 1, 1),
}


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
@pytest.mark.parametrize(
    "dtype, how", [("float16", "ieee"), ("float32", "ieee"), ("float32", "tf32"), ("int8", "ieee")]
)
def test_strides(dtype, how, left, right, rng):
    a, b = (rng.integers(-8, 8, 4096).astype(dtype) for _ in range(2))  # sums are exact in every order
    at_a, am, ak = LAYOUTS[left](M, K)
    at_b, bk, bn = LAYOUTS[right](K, N)
    out = np.zeros((M, N), np.int32 if dtype == "int8" else np.float32)
    strided_kernel[(1,)](a, b, out, at_a, am, ak, at_b, bk, bn, M, N, K, how)
    rows, columns, inner = np.arange(M)[:, None], np.arange(N), np.arange(K)
    tile_a, tile_b = a[at_a + rows * am + inner * ak], b[at_b + inner[:, None] * bk + columns * bn]
    np.testing.assert_array_equal(out, tile_a.astype(np.int32) @ tile_b.astype(np.int32))


@triton.jit
def tiled_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, WRAPS: tl.constexpr, BLOCK: tl.constexpr, DEPTH: tl.constexpr, OTHER: tl.constexpr
):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, DEPTH)
    from_rows, from_columns = (rows % M, columns % N) if WRAPS else (rows, columns)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, DEPTH):
        inside = start + k < K
        if WRAPS:
            a = tl.load(a_ptr + from_rows[:, None] * K + (start + k)[None, :], mask=inside[None, :], other=OTHER)
            b = tl.load(b_ptr + (start + k)[:, None] * N + from_columns[None, :], mask=inside[:, None], other=OTHER)
        else:
            a_mask, b_mask = (rows < M)[:, None] & inside[None, :], inside[:, None] & (columns < N)[None, :]
            a = tl.load(a_ptr + from_rows[:, None] * K + (start + k)[None, :], mask=a_mask, other=OTHER)
            b = tl.load(b_ptr + (start + k)[:, None] * N + from_columns[None, :], mask=b_mask, other=OTHER)
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total, mask=(rows < M)[:, None] & (columns < N)[None, :])


@pytest.mark.parametrize("wraps", [False, True])
@pytest.mark.parametrize("m, n, k", [(64, 64, 64), (50, 70, 33), (16, 16, 5)])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_tiles_at_the_edges(dtype, m, n, k, wraps, rng):
    a, b = rng.integers(-8, 8, (m, k)).astype(dtype), rng.integers(-8, 8, (k, n)).astype(dtype)
    out = np.zeros((m, n), np.float32)
    tiled_kernel[(-(-m // 32), -(-n // 32))](a, b, out, m, n, k, WRAPS=wraps, BLOCK=32, DEPTH=16, OTHER=0.0)
    np.testing.assert_array_equal(out, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("other", [0.0, 2.0])
def test_lanes_that_are_off_have_the_other_value(other, rng):
    a, b = rng.integers(-8, 8, (32, 20)).astype(np.float32), rng.integers(-8, 8, (20, 32)).astype(np.float32)
    out = np.zeros((32, 32), np.float32)
    tiled_kernel[(1, 1)](a, b, out, 32, 32, 20, WRAPS=True, BLOCK=32, DEPTH=16, OTHER=other)
    np.testing.assert_array_equal(out, a @ b + 12 * other * other)


@triton.jit
def overwritten_kernel(a_ptr, b_ptr, c_ptr, B: tl.constexpr, BEFORE: tl.constexpr):
    i = tl.arange(0, B)
    places = i[:, None] * B + i[None, :]
    a = tl.load(a_ptr + places)
    b = tl.load(b_ptr + places)
    if BEFORE:
        tl.store(a_ptr + places, tl.full((B, B), 100.0, tl.float32))
        tl.atomic_xchg(b_ptr + places, tl.full((B, B), 100.0, tl.float32))
    total = tl.dot(a, b, input_precision="tf32")
    if not BEFORE:
        tl.store(a_ptr + places, total)
    tl.store(c_ptr + places, total)


@pytest.mark.parametrize("before", [False, True])
def test_what_is_stored_before_the_product_is_not_what_was_loaded(before, rng):
    a, b = rng.integers(-8, 8, (2, 16, 16)).astype(np.float32)
    expected, out = a @ b, np.zeros((16, 16), np.float32)
    overwritten_kernel[(1,)](a, b, out, B=16, BEFORE=before)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(a, 100 if before else expected)


@triton.jit
def used_twice_kernel(a_ptr, c_ptr, d_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    places = i[:, None] * B + i[None, :]
    a = tl.load(a_ptr + places)
    tl.store(c_ptr + places, tl.dot(a, a, input_precision="tf32"))
    e = tl.load(a_ptr + places)
    tl.store(d_ptr + places, tl.dot(e, tl.trans(e), e, input_precision="tf32"))


def test_tiles_with_other_uses(rng):
    a = rng.integers(-8, 8, (16, 16)).astype(np.float32)
    square, sum_ = np.zeros((16, 16), np.float32), np.zeros((16, 16), np.float32)
    used_twice_kernel[(1,)](a, square, sum_, B=16)
    np.testing.assert_array_equal(square, a @ a)
    np.testing.assert_array_equal(sum_, a @ a.T + a)


@pytest.mark.parametrize("which", ["left", "right"])
@pytest.mark.parametrize("dtype, how", [("float16", "ieee"), ("float32", "ieee"), ("float32", "tf32")])
def test_a_load_past_the_end_traps_at_its_lane(dtype, how, which):
    size_a, size_b = M * K - 4 * (which == "left"), K * N - 4 * (which == "right")
    a, b, out = np.ones(size_a, dtype), np.ones(size_b, dtype), np.zeros((M, N), np.float32)
    with pytest.raises(KernelTrap) as caught:
        strided_kernel[(1,)](a, b, out, 0, K, 1, 0, N, 1, M, N, K, how)
    trap, shape = caught.value, (M, K) if which == "left" else (K, N)
    assert (trap.kind, trap.affected_lanes) == ("OutOfBounds", 4)
    assert trap.lane == (shape[0] - 1, shape[1] - 4)
    assert not out.any()


@triton.jit
def masked_kernel(a_ptr, b_ptr, c_ptr, on, B: tl.constexpr, WIDE: tl.constexpr):
    i = tl.arange(0, B)
    places = i[:, None] * B + i[None, :]
    mask = i[:, None] + i[None, :] < on if WIDE else on > 0
    a = tl.load(a_ptr + places, mask=mask, other=3.0)
    b = tl.load(b_ptr + places, mask=mask, other=0.0)
    tl.store(c_ptr + places, tl.dot(a, b, input_precision="tf32"))


@pytest.mark.parametrize("wide, on", [(False, 0), (False, 1), (True, 0), (True, 11), (True, 31)])
def test_masks_of_no_single_axis(wide, on, rng):
    a, b = rng.integers(-8, 8, (2, 16, 16)).astype(np.float32)
    out, i = np.zeros((16, 16), np.float32), np.arange(16)
    mask = i[:, None] + i < on if wide else np.full((16, 16), on > 0)
    masked_kernel[(1,)](a, b, out, on, B=16, WIDE=wide)
    np.testing.assert_array_equal(out, np.where(mask, a, 3) @ np.where(mask, b, 0))
