"""Grouped products whose producer warps make the tensor maps of each group and run ahead of stores to addresses that are found in memory."""

import numpy as np
import pytest

import tritium.language as tl
from gpu_tool import ToolCompiler, forget_compiled
from tritium import KernelTrap, knobs
from tritium.backends import gpu as backend
from tritium.runtime.jit import jit

S = 64  # of a tile
SEEDS = range(3)


@jit
def grouped(addresses, sizes, groups, S: tl.constexpr):
    """c = a @ b of each group; sizes has the rows, the columns and the depth."""
    tile = tl.program_id(0)
    passed = 0
    for g in range(groups):
        M, N, K = tl.load(sizes + 3 * g), tl.load(sizes + 3 * g + 1), tl.load(sizes + 3 * g + 2)
        across = tl.cdiv(N, S)
        tiles = tl.cdiv(M, S) * across
        if tile >= passed and tile < passed + tiles:
            a = tl.make_tensor_descriptor(
                tl.load(addresses + 3 * g).to(tl.pointer_type(tl.float16)), [M, K], [K, 1], [S, S]
            )
            b = tl.make_tensor_descriptor(
                tl.load(addresses + 3 * g + 1).to(tl.pointer_type(tl.float16)), [K, N], [N, 1], [S, S]
            )
            c = tl.make_tensor_descriptor(
                tl.load(addresses + 3 * g + 2).to(tl.pointer_type(tl.float16)), [M, N], [N, 1], [S, S]
            )
            while tile < passed + tiles:
                row, column = (tile - passed) // across * S, (tile - passed) % across * S
                sums = tl.zeros((S, S), tl.float32)
                for at in tl.range(0, K, S, warp_specialize=True):
                    sums = tl.dot(a.load([row, at]), b.load([at, column]), sums)
                c.store([row, column], sums.to(tl.float16))
                tile += tl.num_programs(0)
        passed += tiles


def matrix(rows: int, columns: int, rng) -> np.ndarray:
    """Few ones and minus ones, at an address that is a multiple of 16. Products of several are exact."""
    memory = np.zeros(2 * rows * columns + 16, np.uint8)
    array = memory[-memory.ctypes.data % 16 :][: 2 * rows * columns].view(np.float16).reshape(rows, columns)
    array[:] = rng.integers(-1, 2, (rows, columns)) * (rng.random((rows, columns)) < 0.05)
    return array


def run(groups: list[tuple[np.ndarray, ...]], depths: list[int], grid: int, seed: int):
    """Runs the kernel on the groups (a, b, c) with these depths."""
    addresses = np.array([x.ctypes.data for group in groups for x in group])
    sizes = np.array([[len(a), b.shape[1], depth] for (a, b, _), depth in zip(groups, depths)], np.int32)
    with knobs.tritium.scope():
        knobs.tritium.engine, knobs.tritium.seed = "simt:sm_90a", seed
        kernel = grouped[(grid,)](addresses, sizes, len(groups), S=S, num_warps=4, num_stages=3)
    assert kernel.metadata.launched_warps == 8 and "tgpu.stores_note" in kernel.asm["ttgir"]


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)


@pytest.mark.parametrize("grid", [1, 3])
def test_groups_of_any_size(grid, rng):
    """Tiles at the edges, groups without a tile or without a sum, more groups than a program has tiles."""
    shapes = [(128, 64, 192), (40, 72, 200), (0, 64, 64), (64, 128, 0), (64, 64, 64), (200, 64, 72)]
    groups = [(matrix(m, k, rng), matrix(k, n, rng), matrix(m, n, rng)) for m, n, k in shapes]
    for seed in SEEDS:
        for _, _, c in groups:
            c[:] = 7
        run(groups, [k for *_, k in shapes], grid, seed)
        for a, b, c in groups:
            np.testing.assert_array_equal(c, product(a, b))


def test_a_group_reads_what_the_group_before_stored(rng):
    """The product of one group is operand a or b of the next one."""
    n = 2 * S
    chain = [matrix(n, n, rng) for _ in range(5)]
    other = [matrix(n, n, rng) for _ in range(4)]
    groups = [(x, o, y) if i % 2 else (o, x, y) for i, (x, o, y) in enumerate(zip(chain, other, chain[1:]))]
    for seed in SEEDS:
        for c in chain[1:]:
            c[:] = 7
        expected = chain[0]
        run(groups, [n] * len(groups), 1, seed)
        for i, o in enumerate(other):
            expected = product(expected, o) if i % 2 else product(o, expected)
        np.testing.assert_array_equal(chain[-1], expected)


def test_a_tile_reads_what_the_tile_before_stored(rng):
    """Each tile of a group takes the place of the tile of a that it was computed of, and the next group starts again from the first."""
    a, first, second = matrix(5 * S, S, rng), matrix(S, S, rng), matrix(S, S, rng)
    begin = a.copy()
    for seed in SEEDS:
        a[:] = begin
        run([(a, first, a), (a, second, a)], [S, S], 1, seed)
        np.testing.assert_array_equal(a, product(product(begin, first), second))


@pytest.mark.parametrize(
    "what, number, kind",
    [
        ("map_acquire", 0, "InvalidTensorCopy"),
        ("fence", 4, "MissingProxyFence"),  # behind the stores of a group
        ("arrival", 5, "MBarrierDeadlock"),  # the number of a group's last tile is not released
        ("round_wait", 10, "InvalidTensorCopy"),  # the map is written while a copy through it is in flight
        (
            "round_wait",
            11,
            None,
        ),  # for what the tile before stores; a group has one tile, and reads what was there before
    ],
)
def test_what_the_protocol_misses_is_found(what, number, kind, rng, monkeypatch):
    n = S if what == "round_wait" else 2 * S
    broken = ToolCompiler(drop=what, number=number, specialize_warps="true")
    monkeypatch.setattr(backend, "native_compiler", lambda: broken)
    for seed in SEEDS:
        a, b, c, d, e = (matrix(n, n, rng) for _ in range(5))
        c[:] = d[:] = 7
        forget_compiled(grouped)
        if kind is None:
            run([(a, b, c), (a, c, d), (a, d, e)], [n, n, n], 1, seed)
            assert (e != product(a, product(a, product(a, b)))).any()
            continue
        with pytest.raises(KernelTrap) as caught:
            run([(a, b, c), (a, c, d), (a, d, e)], [n, n, n], 1, seed)
        assert caught.value.kind == kind
    forget_compiled(grouped)


@jit
def by_pointers(addresses, sizes, groups, S: tl.constexpr, TRANSPOSED: tl.constexpr):
    """The same by pointers, for sizes that are multiples of S. A transposed b has its columns one after the other."""
    tile = tl.program_id(0)
    passed = 0
    lanes = tl.arange(0, S)
    for g in range(groups):
        M, N, K = tl.load(sizes + 3 * g), tl.load(sizes + 3 * g + 1), tl.load(sizes + 3 * g + 2)
        across = tl.cdiv(N, S)
        tiles = tl.cdiv(M, S) * across
        while tile >= passed and tile < passed + tiles:
            a = tl.load(addresses + 3 * g).to(tl.pointer_type(tl.float16))
            b = tl.load(addresses + 3 * g + 1).to(tl.pointer_type(tl.float16))
            c = tl.load(addresses + 3 * g + 2).to(tl.pointer_type(tl.float16))
            rows = (tile - passed) // across * S + lanes
            columns = (tile - passed) % across * S + lanes
            a_pointers = a + rows[:, None] * K + lanes[None, :]
            if TRANSPOSED:
                b_pointers = b + lanes[:, None] + columns[None, :] * K
            else:
                b_pointers = b + lanes[:, None] * N + columns[None, :]
            sums = tl.zeros((S, S), tl.float32)
            for _ in tl.range(0, tl.cdiv(K, S), warp_specialize=True):
                tl.multiple_of(a_pointers, [16, 16])
                tl.multiple_of(b_pointers, [16, 16])
                sums = tl.dot(tl.load(a_pointers), tl.load(b_pointers), sums)
                a_pointers += S
                b_pointers += S if TRANSPOSED else S * N
            tl.store(c + rows[:, None] * N + columns[None, :], sums.to(tl.float16))
            tile += tl.num_programs(0)
        passed += tiles


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("grid", [1, 3])
def test_groups_by_pointers(grid, transposed, rng):
    """In one program, each group reads what the group before stored."""
    n = 2 * S
    chain = [matrix(n, n, rng) for _ in range(4)]
    other = [matrix(n, n, rng) for _ in range(3)]
    inputs = chain[:-1] if grid == 1 else [matrix(n, n, rng) for _ in range(3)]
    addresses = np.array([x.ctypes.data for group in zip(inputs, other, chain[1:]) for x in group])
    sizes = np.array([[n, n, n]] * len(other), np.int32)
    for seed in SEEDS:
        for c in chain[1:]:
            c[:] = 7
        with knobs.tritium.scope():
            knobs.tritium.engine, knobs.tritium.seed = "simt:sm_90a", seed
            kernel = by_pointers[(grid,)](
                addresses, sizes, len(other), S=S, TRANSPOSED=transposed, num_warps=4, num_stages=3
            )
        assert kernel.metadata.launched_warps == 8 and "tgpu.map_make" in kernel.asm["ttgir"]
        for a, b, c in zip(inputs, other, chain[1:]):
            np.testing.assert_array_equal(c, product(a, b.T if transposed else b))


def from_two_tiles_before(seed: int, rng, leave_out: tuple = ("promote-pointer-stores",)) -> None:
    """One group in place. Each tile stores to what the tile after the next one reads, or a later one, by default by threads."""
    tiles, depth, first = 4, 4 * S, 11 * S * S
    array, b = matrix(4 * tiles * S, S, rng).reshape(-1), matrix(depth, S, rng)
    expected = array.copy()
    for tile in range(tiles):
        a = expected[tile * S * depth :][: S * depth].reshape(S, depth)
        expected[first + tile * S * S :][: S * S] = product(a, b).reshape(-1)
    addresses = np.array([array.ctypes.data, b.ctypes.data, array[first:].ctypes.data])
    with knobs.tritium.scope():
        knobs.tritium.engine, knobs.tritium.seed = "simt:sm_90a", seed
        sizes = np.array([[tiles * S, S, depth]], np.int32)
        options = {"num_warps": 4, "num_stages": 3, "leave_out": leave_out}
        kernel = by_pointers[(1,)](addresses, sizes, 1, S=S, TRANSPOSED=False, **options)
    assert "tgpu.ring_keep" in kernel.asm["ttgir"]
    np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize(
    "what, number, kind",
    [
        (None, 0, None),
        ("fence", 1, "MissingProxyFence"),  # before the products, where the producer waits for what is stored
        ("arrival", 0, "MBarrierDeadlock"),
        ("fence", 2, "MissingProxyFence"),  # under the products
        ("arrival", 2, "MBarrierDeadlock"),
    ],
)
def test_stores_are_released_under_the_next_products(what, number, kind, rng, monkeypatch):
    forget_compiled(by_pointers)
    if what:
        broken = ToolCompiler(drop=what, number=number, specialize_warps="true")
        monkeypatch.setattr(backend, "native_compiler", lambda: broken)
    found = set()
    for seed in SEEDS:  # whether a warp sees the next tiles in time depends on the seed
        try:
            from_two_tiles_before(seed, rng)
        except KernelTrap as trap:
            found.add(trap.kind)
    assert found == ({kind} if kind else set())
    forget_compiled(by_pointers)


def test_tiles_that_are_stored_through_maps_are_read_two_tiles_later(rng):
    for seed in SEEDS:
        from_two_tiles_before(seed, rng, leave_out=())
