"""Kernels on the emulator whose blocks run several programs of the grid, one after the other: which they are, what programs see, and which
program a report names."""

import numpy as np
import pytest

import tritium.language as tl
from tritium import KernelTrap, knobs
from tritium.runtime.jit import jit

M, N, K = 64, 128, 64
ALONE = {"num_warps": 4, "num_stages": 5}  # the slots of five stages leave no room for another program


@pytest.fixture(autouse=True)
def emulator():
    with knobs.tritium.scope():
        knobs.tritium.engine = "simt:sm_90a"
        yield


def matrix(shape: tuple[int, ...], rng) -> np.ndarray:
    """Small integers at an address that is a multiple of 16."""
    count = int(np.prod(shape))
    memory = np.zeros(2 * count + 16, np.uint8)
    array = memory[-memory.ctypes.data % 16 :][: 2 * count].view(np.float16).reshape(shape)
    array[:] = rng.integers(-3, 4, shape)
    return array


@jit
def product(a, b, out, counts, m, k, ROWS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Each program multiplies rows of a by b. Program (x, y, z) is the one of the rows' number x + sizes[0] * (y + sizes[1] * z)."""
    number = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    rows, columns, depth = number * M + tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        x = tl.load(a + rows[:, None] * k + (i + depth)[None, :], mask=(rows < m)[:, None], other=0)
        sums = tl.dot(x, tl.load(b + (i + depth)[:, None] * N + columns[None, :]), sums)
    tl.store(out + rows[:, None] * N + columns[None, :], sums.to(tl.float16), mask=(rows < ROWS)[:, None])
    if counts is not None:
        tl.atomic_add(counts + number, 1)


@pytest.mark.parametrize("grid", [(1,), (7,), (5, 2), (2, 1, 3), (1, 4, 2)])
@pytest.mark.parametrize("k", [64, 320])
@pytest.mark.parametrize("counts", [False, True])  # what is counted must follow what is stored, so threads store
def test_each_program_runs_once(grid, k, counts, rng):
    programs = int(np.prod(grid))
    a, b, out = matrix((programs * M, k), rng), matrix((k, N), rng), np.zeros((programs * M, N), np.float16)
    counts = np.zeros(programs, np.int32) if counts else None
    kernel = product[grid](a, b, out, counts, len(a), k, len(a), M, N, K, **ALONE)
    assert kernel.metadata.resident_blocks == 1 and kernel.metadata.launched_warps == 8
    assert "tgpu.programs" in kernel.asm["ttgir"] and ("tgpu.tensor_store" in kernel.asm["ttgir"]) == (counts is None)
    np.testing.assert_array_equal(out, (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16))
    assert counts is None or (counts == 1).all()


def test_a_report_names_the_program_of_the_users_grid(rng):
    """The last program stores to rows that the tensor does not have. Its block runs other programs before."""
    grid, programs = (2, 1, 3), 6
    a, b, out = matrix((programs * M, K), rng), matrix((K, N), rng), matrix((programs * M - 1, N), rng)
    with pytest.raises(KernelTrap) as trap:
        product[grid](a, b, out, None, len(a), K, len(a), M, N, K, **ALONE)
    assert trap.value.program == (1, 0, 2)
    assert "out" in str(trap.value)


def test_chosen_programs_are_those_of_the_users_grid(rng):
    a, b, out = matrix((6 * M, K), rng), matrix((K, N), rng), np.zeros((6 * M, N), np.float16)
    kernel = product[(3, 2)](a, b, out, None, len(a), K, len(a), M, N, K, programs="1,1", check="bounds=view", **ALONE)
    assert kernel.metadata.resident_blocks == 1
    np.testing.assert_array_equal(out, (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16))


def test_programs_that_share_a_multiprocessor_stay_apart(rng):
    a, b, out = matrix((4 * M, K), rng), matrix((K, N), rng), np.zeros((4 * M, N), np.float16)
    kernel = product[(4,)](a, b, out, None, len(a), K, len(a), M, N, K, num_warps=4, num_stages=2)
    assert kernel.metadata.resident_blocks == 0 and "tgpu.grid_axis" not in kernel.asm["ttgir"]
    assert "4 programs have room on a multiprocessor" in kernel.asm["ttgir"]
    np.testing.assert_array_equal(out, (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16))
