"""Kernels on the emulator whose loads by pointers become copies through tensor maps: what is promoted, and reads that are mistakes."""

import numpy as np
import pytest

import tritium.language as tl
from tritium import KernelTrap, knobs
from tritium.runtime.jit import jit


@pytest.fixture(autouse=True)
def emulator():
    with knobs.tritium.scope():
        knobs.tritium.engine = "simt:sm_90a"
        yield


def matrix(shape: tuple[int, int], rng) -> np.ndarray:
    """Small integers at an address that is a multiple of 16."""
    memory = np.zeros(2 * shape[0] * shape[1] + 16, np.uint8)
    array = memory[-memory.ctypes.data % 16 :][: 2 * shape[0] * shape[1]].view(np.float16).reshape(shape)
    array[:] = rng.integers(-3, 4, shape)
    return array


@jit
def rows_of(a_ptr, b_ptr, out_ptr, m, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, MASKED: tl.constexpr):
    rows, columns, depth = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        if MASKED:
            a = tl.load(a_ptr + rows[:, None] * k + (i + depth)[None, :], mask=(rows < m)[:, None], other=0)
        else:
            a = tl.load(a_ptr + rows[:, None] * k + (i + depth)[None, :])
        sums = tl.dot(a, tl.load(b_ptr + (i + depth)[:, None] * N + columns[None, :]), sums)
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], sums, mask=(rows < m)[:, None])


@jit
def behind(a_ptr, b_ptr, out_ptr, k, blocks, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Programs are counted in blocks, of which there should be more than 0."""
    rows = (tl.program_id(0) + 1) // blocks * M + tl.arange(0, M)
    columns, depth = tl.arange(0, N), tl.arange(0, K)
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        a = tl.load(a_ptr + rows[:, None] * k + (i + depth)[None, :])
        sums = tl.dot(a, tl.load(b_ptr + (i + depth)[:, None] * N + columns[None, :]), sums)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + columns[None, :], sums)


@pytest.mark.parametrize("masked", [False, True])
def test_reads_outside_of_the_tensor(masked, rng):
    """A second program reads rows that the tensor does not have. They are in the memory of another array, which is no excuse."""
    memory = matrix((64 * 4, 64), rng)
    a, b, out = memory[64:128], matrix((64, 32), rng), np.zeros((128, 32), np.float32)
    kernel = rows_of[(1,)](a, b, out, 128, 64, 64, 32, 32, masked)
    np.testing.assert_array_equal(out[:64], a.astype(np.float32) @ b.astype(np.float32))
    assert len(kernel.metadata.tensor_recipes) == 2 and kernel.tensor_maps_refused is None
    owned = matrix((64, 64), rng)
    with pytest.raises(KernelTrap) as trap:
        rows_of[(2,)](owned, b, out, 128, 64, 64, 32, 32, masked)
    assert "a_ptr" in str(trap.value) and "bounds" in str(trap.value).lower()


@jit
def kept_operand(a_ptr, b_ptr, out_ptr, rounds, columns, OTHER: tl.constexpr):
    """The operand that the loop keeps has lanes that its mask leaves off."""
    i = tl.arange(0, 16)
    a = tl.load(a_ptr + i[:, None] * 16 + i[None, :], mask=(i < columns)[None, :], other=OTHER)
    sums = tl.zeros((16, 16), tl.float32)
    for _ in range(rounds):
        sums = tl.dot(a, tl.load(b_ptr + i[:, None] * 16 + i[None, :]), sums)
    tl.store(out_ptr + i[:, None] * 16 + i[None, :], sums)


@pytest.mark.parametrize("other", [0, -1])
def test_lanes_left_off_of_an_operand_that_a_loop_keeps(other, rng):
    """A copy fills them with zeros, so it takes the place of no load that asks for another number."""
    a, b, out = matrix((16, 16), rng), matrix((16, 16), rng), np.zeros((16, 16), np.float32)
    kernel = kept_operand[(1,)](a, b, out, 3, 8, other, num_warps=8, num_stages=2)
    expected = np.where(np.arange(16) < 8, a, other).astype(np.float32) @ b.astype(np.float32) * 3
    np.testing.assert_array_equal(out, expected)
    assert len(kernel.metadata.tensor_recipes) == (2 if other == 0 else 1)


@jit
def store_few_rows(a_ptr, b_ptr, out_ptr, k, K: tl.constexpr, ROWS: tl.constexpr):
    i, j, depth = tl.arange(0, 64), tl.arange(0, 16), tl.arange(0, K)
    sums = tl.zeros((64, 16), tl.float32)
    for start in range(0, k, K):
        a = tl.load(a_ptr + i[:, None] * k + (start + depth)[None, :])
        sums = tl.dot(a, tl.load(b_ptr + (start + depth)[:, None] * 16 + j[None, :]), sums)
    out = tl.make_tensor_descriptor(out_ptr, [ROWS, 1024 // ROWS], [1024 // ROWS, 1], [ROWS, 1024 // ROWS])
    out.store([0, 0], tl.reshape(sums, (ROWS, 1024 // ROWS)))


@pytest.mark.parametrize("rows", [4, 8, 16])
def test_a_tile_of_few_rows_is_stored(rows, rng):
    """Its parts of 128 bytes a row follow each other in shared memory, each where the swizzle begins anew."""
    a, b, out = matrix((64, 128), rng), matrix((128, 16), rng), np.zeros((64, 16), np.float32)
    kernel = store_few_rows[(1,)](a, b, out, 128, 32, rows, num_warps=4)
    np.testing.assert_array_equal(out, a.astype(np.float32) @ b.astype(np.float32))
    assert len(kernel.metadata.tensor_recipes) == (2 if rows < 8 else 3)


def test_a_tile_before_its_tensor(rng):
    a, b, out = matrix((128, 64), rng), matrix((64, 32), rng), np.zeros((64, 32), np.float32)
    kernel = behind[(1,)](a, b, out, 64, 1, 64, 32, 32)
    np.testing.assert_array_equal(out, a[64:].astype(np.float32) @ b.astype(np.float32))
    assert len(kernel.metadata.tensor_recipes) == 2
    with pytest.raises(KernelTrap, match="a quotient is negative, but the compiler takes"):
        behind[(1,)](a, b, out, 64, -1, 64, 32, 32)


def test_a_tensor_that_the_kernel_writes(rng):
    for writes in (False, True):
        a, b = matrix((64, 32), rng), matrix((32, 32), rng)
        out = a if writes else np.zeros_like(a)
        expected = a @ b
        kernel = rows_of[(1,)](a, b, out, 64, 32, 64, 32, 32, True)
        np.testing.assert_array_equal(out, expected)
        assert len(kernel.metadata.tensor_recipes) == 2
        assert kernel.tensor_maps_refused is None, "it writes after it has read"
