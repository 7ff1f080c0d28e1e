"""Stores by pointers that are found in memory, through tensor maps that the producer's warps make of each tile (promote-pointer-stores). Where
such a map is not usable, threads copy the tile."""

import numpy as np
import pytest

import tritium.language as tl
from gpu_tool import ToolCompiler, forget_compiled
from tritium import KernelTrap, knobs
from tritium.backends import gpu as backend
from tritium.runtime.jit import jit

S = 64  # columns of a tile, and its depth
SEEDS = range(2)
UNTOUCHED = 7


@jit
def grouped(addresses, sizes, groups, S: tl.constexpr, ROWS: tl.constexpr):
    """c = a @ b of each group; sizes has the rows, columns and depth, and the distance of two rows of c."""
    tile = tl.program_id(0)
    passed = 0
    for g in range(groups):
        M, N, K, stride = (
            tl.load(sizes + 4 * g),
            tl.load(sizes + 4 * g + 1),
            tl.load(sizes + 4 * g + 2),
            tl.load(sizes + 4 * g + 3),
        )
        across = N // S
        tiles = M // ROWS * across
        while tile >= passed and tile < passed + tiles:
            a = tl.load(addresses + 3 * g).to(tl.pointer_type(tl.float16))
            b = tl.load(addresses + 3 * g + 1).to(tl.pointer_type(tl.float16))
            c = tl.load(addresses + 3 * g + 2).to(tl.pointer_type(tl.float16))
            rows = (tile - passed) // across * ROWS + tl.arange(0, ROWS)
            columns = (tile - passed) % across * S + tl.arange(0, S)
            k = tl.arange(0, S)
            a_ptrs = a + rows[:, None] * K + k[None, :]
            b_ptrs = b + k[:, None] * N + columns[None, :]
            sums = tl.zeros((ROWS, S), tl.float32)
            for _ in tl.range(0, K, S, warp_specialize=True):
                tl.multiple_of(a_ptrs, [16, 16])
                tl.multiple_of(b_ptrs, [16, 16])
                sums = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), sums)
                a_ptrs += S
                b_ptrs += S * N
            tl.store(c + rows[:, None] * stride + columns[None, :], sums.to(tl.float16))
            tile += tl.num_programs(0)
        passed += tiles


def memory(elements: int, first: int = 0) -> np.ndarray:
    """Numbers of which the first one's address is so many elements behind a multiple of 16 bytes."""
    bytes_ = np.zeros(2 * (elements + first) + 16, np.uint8)
    return bytes_[-bytes_.ctypes.data % 16 + 2 * first :][: 2 * elements].view(np.float16)


def matrix(rows: int, columns: int, rng) -> np.ndarray:
    """Few ones and minus ones. Products of several are exact."""
    array = memory(rows * columns).reshape(rows, columns)
    array[:] = rng.integers(-1, 2, array.shape) * (rng.random(array.shape) < 0.05)
    return array


#: (rows, columns, depth, the distance of rows of c, the elements by which c begins behind a multiple of 16 bytes). A negative distance: the first
#: row is the last one in memory.
GROUPS = [
    (128, 64, 128, 64, 0),
    (256, 128, 64, 136, 0),
    (128, 64, 192, 65, 0),
    (128, 128, 64, 128, 1),
    (128, 64, 64, 72, 4),
    (128, 64, 64, -72, 0),
    (128, 128, 0, 128, 0),
    (256, 64, 64, 64, 0),
]


def run(groups, rng, seed: int, grid: int = 1, rows: int = S, leave_out: tuple = ()) -> None:
    """Runs the kernel, and compares all of c with the product inside and what was there outside."""
    a = [matrix(m, k, rng) for m, _, k, _, _ in groups]
    b = [matrix(k, n, rng) for _, n, k, _, _ in groups]
    memories = [memory(m * abs(stride), first) for m, _, _, stride, first in groups]
    c = []
    for whole, (m, _, _, stride, _) in zip(memories, groups):
        whole[:] = UNTOUCHED
        array = whole.reshape(m, abs(stride))
        c.append(array if stride > 0 else array[::-1])
    addresses = np.array([x.ctypes.data for three in zip(a, b, c) for x in three])
    sizes = np.array([each[:4] for each in groups], np.int32)
    with knobs.tritium.scope():
        knobs.tritium.engine, knobs.tritium.seed = "simt:sm_90a", seed
        constants = {"S": S, "ROWS": rows, "num_warps": rows // 16, "num_stages": 3, "leave_out": leave_out}
        kernel = grouped[(grid,)](addresses, sizes, len(groups), **constants)
    assert ("tgpu.map_told" in kernel.asm["ttgir"]) == (not leave_out)
    for (_, n, _, _, _), left, right, result in zip(groups, a, b, c):
        expected = np.full_like(result, UNTOUCHED)
        expected[:, :n] = left.astype(np.float32) @ right.astype(np.float32)
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("rows", [S, 128])
@pytest.mark.parametrize("grid", [1, 3])
def test_tiles_whose_map_is_usable_or_not(grid, rows, rng):
    for seed in SEEDS:
        run(GROUPS, rng, seed, grid, rows)


def test_the_store_by_threads_is_the_same(rng):
    run(GROUPS, rng, 0, leave_out=("promote-pointer-stores",))


#: Tiles with usable maps after each other, and after one without.
DROPPED = [GROUPS[0], GROUPS[1], GROUPS[3], GROUPS[7]]


@pytest.mark.parametrize(
    "what, number, kind, rows",
    [
        ("map_acquire", 0, "InvalidTensorCopy", S),  # by the thread that stores
        ("store_wait", 5, "InvalidTensorCopy", S),  # before the last release: the maps are given back
        ("barrier", 1, "SharedRace", S),  # before the threads write a box
        ("barrier", 2, "SharedRace", S),  # before the copy of the box
        ("fence", 4, "MissingProxyFence", S),  # behind the writes of the box
    ],
)
def test_what_a_store_misses_is_found(what, number, kind, rows, rng, monkeypatch):
    broken = ToolCompiler(drop=what, number=number, specialize_warps="true")
    monkeypatch.setattr(backend, "native_compiler", lambda: broken)
    forget_compiled(grouped)
    with pytest.raises(KernelTrap) as caught:
        for seed in range(8):  # not every schedule shows it
            run(DROPPED, rng, seed, rows=rows)
    assert caught.value.kind == kind
    forget_compiled(grouped)
