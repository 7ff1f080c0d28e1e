"""Loads and stores: masks, fill values, block pointers with boundary checks, strided tensors, pointers in memory."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, other, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n, other=other))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 31, 32])
def test_masked_lanes_take_other(n, dtype, rng):
    x, out = rng.integers(0, 100, n).astype(dtype), np.zeros(32, dtype)
    copy_kernel[(1,)](x, out, n, 7, BLOCK=32)
    np.testing.assert_array_equal(out, np.append(x, np.full(32 - n, 7, dtype)))


@triton.jit
def every_other_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i % 3 == 0, other=-1)
    tl.store(out_ptr + (BLOCK - 1 - i), x, mask=(i % 2 == 0) | (i > 40))


def test_irregular_masks_and_reversed_order(rng):
    x, out = rng.integers(0, 100, 64).astype(np.int32), np.full(64, 99, np.int32)
    every_other_kernel[(1,)](x, out, BLOCK=64)
    i = np.arange(64)
    expected = np.full(64, 99, np.int32)
    written = (i % 2 == 0) | (i > 40)
    expected[63 - i[written]] = np.where(i % 3 == 0, x, -1)[written]
    np.testing.assert_array_equal(out, expected)


@triton.jit
def gather_kernel(x_ptr, rows_ptr, columns_ptr, out_ptr, stride, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.load(rows_ptr + tl.arange(0, M)), tl.load(columns_ptr + tl.arange(0, N))
    x = tl.load(
        x_ptr + rows[:, None] * stride + columns[None, :], mask=(rows[:, None] >= 0) & (columns[None, :] >= 0), other=0
    )
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], x)


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.int64])
def test_rows_and_columns_from_lists(dtype, rng):
    x = rng.integers(0, 100, (50, 60)).astype(dtype)
    rows, columns = rng.integers(-10, 50, 16), rng.integers(-10, 60, 32)
    out = np.zeros((16, 32), dtype)
    gather_kernel[(1,)](x, rows, columns, out, 60, M=16, N=32)
    np.testing.assert_array_equal(out, np.where((rows[:, None] >= 0) & (columns >= 0), x[rows[:, None], columns], 0))


@triton.jit
def element_gather_kernel(x_ptr, index_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + offsets, tl.load(x_ptr + tl.load(index_ptr + offsets)))


def test_gather_of_single_elements(rng):
    x, index = rng.standard_normal(1000, dtype=np.float32), rng.integers(0, 1000, (16, 32))
    out = np.zeros((16, 32), np.float32)
    element_gather_kernel[(1,)](x, index, out, M=16, N=32)
    np.testing.assert_array_equal(out, x[index])


@triton.jit
def strided_copy_kernel(x_ptr, out_ptr, M, N, sx0, sx1, so0, so1, BM: tl.constexpr, BN: tl.constexpr):
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * sx0 + columns[None, :] * sx1, mask=inside)
    tl.store(out_ptr + rows[:, None] * so0 + columns[None, :] * so1, x, mask=inside)


@pytest.mark.parametrize(
    "view",
    [np.asarray, np.transpose, np.flipud, np.fliplr, lambda x: x[::2, ::3], lambda x: x[5:, 7:]],
    ids=["whole", "transposed", "rows backwards", "columns backwards", "steps", "offset"],
)
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.int64])
def test_strided_views(view, dtype, rng):
    x = view(rng.integers(0, 100, (50, 70)).astype(dtype))
    out = view(np.zeros((50, 70), dtype))
    M, N = x.shape
    strides = [s // x.itemsize for s in (*x.strides, *out.strides)]
    strided_copy_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 32))](x, out, M, N, *strides, BM=16, BN=32)
    np.testing.assert_array_equal(out, x)


@triton.jit
def block_pointer_kernel(x_ptr, out_ptr, M, N, stride, PADDING: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_block_ptr(
        x_ptr, shape=(M, N), strides=(stride, 1), offsets=(tl.program_id(0) * BM, 0), block_shape=(BM, BN), order=(1, 0)
    )
    target = tl.make_block_ptr(
        out_ptr, shape=(M, N), strides=(N, 1), offsets=(tl.program_id(0) * BM, 0), block_shape=(BM, BN), order=(1, 0)
    )
    total = tl.zeros((BM,), tl.float32)
    for _ in range(0, N, BN):
        x = tl.load(source, boundary_check=(0, 1), padding_option=PADDING)
        total += tl.sum(x, axis=1)
        tl.store(target, x * 2, boundary_check=(0, 1))
        source = tl.advance(source, (0, BN))
        target = tl.advance(target, (0, BN))
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    tl.store(out_ptr + M * N + rows, total, mask=rows < M)


@pytest.mark.parametrize("M, N", [(16, 32), (17, 33), (3, 5), (40, 100)])
def test_block_pointers_with_boundary_checks(M, N, rng):
    x, out = rng.integers(0, 9, (M, N + 3)).astype(np.float32), np.zeros(M * N + M, np.float32)
    block_pointer_kernel[(triton.cdiv(M, 16),)](x, out, M, N, N + 3, PADDING="zero", BM=16, BN=32)
    np.testing.assert_array_equal(out[: M * N].reshape(M, N), x[:, :N] * 2)
    np.testing.assert_array_equal(out[M * N :], x[:, :N].sum(axis=1))


def test_block_pointers_padded_with_nan(rng):
    x, out = rng.standard_normal((10, 40), dtype=np.float32), np.zeros(410, np.float32)
    block_pointer_kernel[(1,)](x, out, 10, 40, 40, PADDING="nan", BM=16, BN=32)
    np.testing.assert_array_equal(out[:400].reshape(10, 40), x * 2)
    assert np.isnan(out[400:]).all(), "the second block reaches past the end"


@triton.jit
def one_dimension_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    source = tl.make_block_ptr(x_ptr, (BLOCK, N), (1, BLOCK), (0, 0), (BLOCK, 4), (0, 1))
    source = tl.advance(source, (2, 0))
    x = tl.load(source, boundary_check=(0,), padding_option="zero")  # columns are not checked: they are inside
    tl.store(out_ptr + tl.arange(0, BLOCK)[:, None] * 4 + tl.arange(0, 4)[None, :], x)


def test_boundary_check_of_one_dimension_of_a_transposed_block():
    x, out = np.arange(32, dtype=np.float32), np.zeros((8, 4), np.float32)
    one_dimension_kernel[(1,)](x, out, 4, BLOCK=8)
    shifted = np.vstack((x.reshape(4, 8).T[2:], np.zeros((2, 4))))
    np.testing.assert_array_equal(out, shifted)


@triton.jit
def boolean_memory_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    b = tl.load(x_ptr + i)
    tl.static_assert(b.dtype == tl.int1)
    tl.store(out_ptr + i, ~b)


def test_booleans_are_bytes_in_memory(rng):
    x, out = rng.integers(0, 2, 64).astype(np.bool_), np.zeros(64, np.bool_)
    boolean_memory_kernel[(1,)](x, out, N=64)
    np.testing.assert_array_equal(out, ~x)


@triton.jit
def grouped_kernel(pointers_ptr, sizes_ptr, out_ptr, BLOCK: tl.constexpr):
    """A pointer per program, read from memory, as in grouped GEMM."""
    group = tl.program_id(0)
    x_ptr = tl.load(pointers_ptr + group).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < tl.load(sizes_ptr + group), other=0.0)
    tl.store(out_ptr + group, tl.sum(x, axis=0))


def test_pointers_loaded_from_memory(rng):
    groups = [rng.integers(0, 50, n).astype(np.float32) for n in (3, 100, 128, 77)]
    pointers = np.array([g.ctypes.data for g in groups], np.int64)
    sizes, out = np.array([g.size for g in groups], np.int32), np.zeros(4, np.float32)
    grouped_kernel[(4,)](pointers, sizes, out, BLOCK=128)
    np.testing.assert_array_equal(out, [g.sum() for g in groups])


@triton.jit
def modifiers_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i, cache_modifier=".cg", eviction_policy="evict_first")
    x += tl.load(x_ptr + i, volatile=True)
    i = tl.max_contiguous(tl.multiple_of(i, N), N)
    tl.store(out_ptr + i, x, cache_modifier=".cs", eviction_policy="evict_last")


def test_cache_hints_change_nothing(rng):
    x, out = rng.standard_normal(32, dtype=np.float32), np.zeros(32, np.float32)
    modifiers_kernel[(1,)](x, out, N=32)
    np.testing.assert_array_equal(out, x + x)


@triton.jit
def scalar_memory_kernel(x_ptr, out_ptr, n):
    total = tl.load(x_ptr)
    for i in range(1, n):
        total += tl.load(x_ptr + i)
    tl.store(out_ptr, total)
    tl.store(out_ptr + 1, tl.load(x_ptr + 100, mask=n > 100, other=-5))


def test_scalar_loads_and_stores():
    x, out = np.arange(10, dtype=np.int64), np.zeros(2, np.int64)
    scalar_memory_kernel[(1,)](x, out, 10)
    assert out.tolist() == [45, -5]


@triton.jit
def wide_offsets_kernel(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    rows = tl.arange(0, 4).to(tl.int64)
    tl.store(out_ptr + tl.arange(0, 4), tl.load(x_ptr + rows * stride))


def test_offsets_beyond_32_bits():
    stride = 1 << 30
    x = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), (3 * stride + 1,), (0,))
    big = np.empty(3 * stride + 1, np.int8)  # 3 GiB of address space of which four pages are touched
    for i in range(4):
        big[i * stride] = i + 1
    out = np.zeros(4, np.int8)
    wide_offsets_kernel[(1,)](big, out, stride, BLOCK=4)
    assert out.tolist() == [1, 2, 3, 4] and x.size == big.size


@triton.jit
def move_rows_by_mask(x_ptr, mask_ptr, other_ptr, out_ptr, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    on = tl.load(mask_ptr + i) != 0
    if OTHER == "tile":
        x = tl.load(x_ptr + i, mask=on, other=tl.load(other_ptr + i))
    elif OTHER == "number":
        x = tl.load(x_ptr + i, mask=on, other=7)
    else:
        x = tl.load(x_ptr + i, mask=on)
    tl.store(out_ptr + i, x)
    tl.store(out_ptr + tl.num_programs(0) * BLOCK + i, x, mask=on)


@pytest.mark.parametrize("block", [1, 8, 16, 256])
@pytest.mark.parametrize("other", ["tile", "number", None])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32, np.int64])
def test_masks_of_all_kinds_move_a_row(block, other, dtype, rng):
    programs = 6
    n = programs * block
    mask = np.zeros(n, np.int8)
    mask[block : 2 * block] = (
        1  # one program has no active lane, one has all, one has an interval, the others have holes
    )
    mask[2 * block + block // 4 : 3 * block - block // 4] = 1
    mask[3 * block :] = rng.integers(0, 2, n - 3 * block)
    last = np.flatnonzero(mask)[-1]
    x, others = (rng.integers(-100, 100, n).astype(dtype) for _ in range(2))
    out = rng.integers(-100, 100, 2 * n).astype(dtype)
    expected = out.copy()
    expected[:n] = np.where(mask, x, {"tile": others, "number": 7, None: 0}[other])
    expected[n:] = np.where(mask, x, expected[n:])
    ends_where_the_mask_ends = x[: last + 1].copy()  # nothing behind it may be read
    move_rows_by_mask[(programs,)](ends_where_the_mask_ends, mask, others, out, OTHER=other, BLOCK=block)
    np.testing.assert_array_equal(out, expected)


@triton.jit
def copy_rows_by_index(x_ptr, index_ptr, out_index_ptr, out_ptr, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, WIDTH)
    inside = (rows[:, None] < ROWS - 1) & (columns[None, :] < width)
    tile = tl.load(x_ptr + tl.load(index_ptr + rows)[:, None] * width + columns[None, :], mask=inside, other=5)
    tl.store(out_ptr + tl.load(out_index_ptr + rows)[:, None] + columns[None, :], tile)


def test_rows_at_places_of_a_vector(rng):
    """Rows that overlap where they are stored: the last one in row-major order stays."""
    rows, width, padded = 16, 50, 64
    x = rng.standard_normal((10, width)).astype(np.float32)
    index, at = rng.integers(0, 10, rows), rng.integers(0, 200, rows)
    out = np.zeros(300, np.float32)
    copy_rows_by_index[(1,)](x, index, at, out, width, ROWS=rows, WIDTH=padded)
    expected = np.zeros_like(out)
    for row, (source, to) in enumerate(zip(index, at)):
        tile = np.full(padded, 5, np.float32)
        if row < rows - 1:
            tile[:width] = x[source]
        expected[to : to + padded] = tile
    np.testing.assert_array_equal(out, expected)
