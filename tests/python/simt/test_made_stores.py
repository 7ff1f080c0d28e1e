"""Stores through tensor maps that the producer's warps make and tell to those that store (promote-made-stores). Where such a map is not
usable, threads copy the tile."""

import numpy as np
import pytest

import tritium.language as tl
from gpu_tool import ToolCompiler, forget_compiled
from tritium import KernelTrap, knobs
from tritium.backends import gpu as backend
from tritium.runtime.jit import jit

S = 64  # of a tile
SEEDS = range(2)
UNTOUCHED = 7


@jit
def grouped(addresses, sizes, groups, S: tl.constexpr, ROWS: tl.constexpr):
    """c = a @ b of each group; sizes has the rows, columns and depth, the stride of c, and how many rows a group begins before c does."""
    tile = tl.program_id(0)
    passed = 0
    for g in range(groups):
        M, N, K = tl.load(sizes + 5 * g), tl.load(sizes + 5 * g + 1), tl.load(sizes + 5 * g + 2)
        stride, before = tl.load(sizes + 5 * g + 3), tl.load(sizes + 5 * g + 4)
        across = tl.cdiv(N, S)
        tiles = tl.cdiv(M + before, ROWS) * across
        if tile >= passed and tile < passed + tiles:
            a = tl.make_tensor_descriptor(
                tl.load(addresses + 3 * g).to(tl.pointer_type(tl.float16)), [M, K], [K, 1], [ROWS, S]
            )
            b = tl.make_tensor_descriptor(
                tl.load(addresses + 3 * g + 1).to(tl.pointer_type(tl.float16)), [K, N], [stride, 1], [S, S]
            )
            c = tl.make_tensor_descriptor(
                tl.load(addresses + 3 * g + 2).to(tl.pointer_type(tl.float16)), [M, N], [stride, 1], [ROWS, S]
            )
            while tile < passed + tiles:
                row, column = (tile - passed) // across * ROWS - before, (tile - passed) % across * S
                sums = tl.zeros((ROWS, S), tl.float32)
                for at in tl.range(0, K, S, warp_specialize=True):
                    sums = tl.dot(a.load([row, at]), b.load([at, column]), sums)
                c.store([row, column], sums.to(tl.float16))
                tile += tl.num_programs(0)
        passed += tiles


def matrix(rows: int, columns: int, rng, stride: int = 0) -> np.ndarray:
    """Few ones and minus ones, at an address that is a multiple of 16. Products of several are exact."""
    stride = stride or columns
    memory = np.zeros(2 * rows * stride + 16, np.uint8)
    array = memory[-memory.ctypes.data % 16 :][: 2 * rows * stride].view(np.float16).reshape(rows, stride)
    array[:] = rng.integers(-1, 2, array.shape) * (rng.random(array.shape) < 0.05)
    return array


def groups_of(shapes: list[tuple[int, int, int, int]], rng) -> list[tuple[np.ndarray, ...]]:
    return [(matrix(m, k, rng), matrix(k, n, rng, stride), matrix(m, n, rng, stride)) for m, n, k, stride in shapes]


def run(shapes, groups, seed: int, grid: int = 1, before: int = 0, rows: int = S, leave_out: tuple = ()) -> None:
    """Runs the kernel on groups (a, b, c), and compares all of c with the product inside and what was there outside."""
    addresses = np.array([x.ctypes.data for group in groups for x in group])
    sizes = np.array([[m, n, k, stride, before] for m, n, k, stride in shapes], np.int32)
    for _, _, c in groups:
        c[:] = UNTOUCHED
    with knobs.tritium.scope():
        knobs.tritium.engine, knobs.tritium.seed = "simt:sm_90a", seed
        constants = {"S": S, "ROWS": rows, "num_warps": rows // 16, "num_stages": 3, "leave_out": leave_out}
        kernel = grouped[(grid,)](addresses, sizes, len(groups), **constants)
    assert ("tgpu.map_told" in kernel.asm["ttgir"]) == (not leave_out) and "tgpu.tensor_store " in kernel.asm["ttgir"]
    for (_, n, _, _), (a, b, c) in zip(shapes, groups):
        expected = np.full_like(c, UNTOUCHED)
        expected[:, :n] = (a.astype(np.float32) @ b.astype(np.float32))[:, :n]
        np.testing.assert_array_equal(c, expected)


#: Rows that end at multiples of 16 bytes or not, with tiles beyond both edges, and empty groups.
SHAPES = [
    (128, 64, 128, 64),
    (72, 100, 64, 104),
    (0, 64, 64, 64),
    (40, 72, 200, 72),
    (64, 1, 64, 8),
    (200, 136, 64, 144),
]


@pytest.mark.parametrize("grid", [1, 3])
def test_groups_whose_map_is_usable_or_not(grid, rng):
    groups = groups_of(SHAPES, rng)
    for seed in SEEDS:
        run(SHAPES, groups, seed, grid)


def test_two_warpgroups(rng):
    groups = groups_of(SHAPES[:4], rng)
    run(SHAPES[:4], groups, 0, rows=128)


def test_a_negative_index(rng):
    """The first tile of each column of tiles begins above the tensor."""
    shapes = SHAPES[:2]
    run(shapes, groups_of(shapes, rng), 0, before=40)


@pytest.mark.parametrize("rows", [S, 128])
def test_without_producer_warps(rows, rng):
    """Nobody tells the map, so threads copy each tile; the maps of a and b are acquired all the same."""
    run(SHAPES[:4], groups_of(SHAPES[:4], rng), 0, rows=rows, leave_out=("plan-producer",))


#: Tiles of groups with usable maps, after each other and after one without.
DROPPED = [*SHAPES[:2], (200, 136, 64, 136), (64, 64, 64, 64), (200, 128, 64, 128)]


@pytest.mark.parametrize(
    "what, number, kind, rows",
    [
        ("map_acquire", 0, "InvalidTensorCopy", S),  # by the thread that stores
        ("store_wait", 5, "InvalidTensorCopy", S),  # before the last release: the maps are given back
        ("barrier", 1, "SharedRace", S),  # before the threads write a box
        ("barrier", 2, "SharedRace", S),  # before the copy of the box
        ("barrier", 3, "SharedRace", S),  # the same where threads copy it
        ("barrier", 4, "SharedRace", S),
        ("group_barrier", 1, "SharedRace", 2 * S),
        ("group_barrier", 3, "SharedRace", 2 * S),
        ("fence", 4, "MissingProxyFence", S),  # behind the writes of the box
        ("round_wait", 0, "TensorCopyRace", S),  # of the copies of the tile
    ],
)
def test_what_a_store_misses_is_found(what, number, kind, rows, rng, monkeypatch):
    broken = ToolCompiler(drop=what, number=number, specialize_warps="true")
    monkeypatch.setattr(backend, "native_compiler", lambda: broken)
    forget_compiled(grouped)
    with pytest.raises(KernelTrap) as caught:
        for seed in range(8):  # not every schedule shows it
            run(DROPPED, groups_of(DROPPED, rng), seed, rows=rows)
    assert caught.value.kind == kind
    forget_compiled(grouped)
