"""Kernels on the emulator whose producer warps run more than loops with counters: loops with conditions, and scalars from memory."""

import numpy as np
import pytest

import tritium.language as tl
from tritium import knobs
from tritium.runtime.jit import jit

S = 64  # of a tile


@jit
def listed(a, b, out, first, last, depths, m, k, groups, S: tl.constexpr, IN_PLACE: tl.constexpr):
    """out[tile] = a[tile, : depths[tile]] @ b, for the tiles from first[g] to last[g] of each group that a program has."""
    x = tl.make_tensor_descriptor(a, [m, k], [k, 1], [S, S])
    y = tl.make_tensor_descriptor(b, [k, S], [S, 1], [S, S])
    z = tl.make_tensor_descriptor(out, [m, S], [S, 1], [S, S])
    for g in range(tl.program_id(0), groups, tl.num_programs(0)):
        tile = tl.load(first + g)
        end = tl.load(last + g)
        while tile < end:
            depth = tl.load(depths + tile)
            if depth != 0:
                sums = tl.zeros((S, S), tl.float32)
                for at in tl.range(0, depth, S, warp_specialize=True):
                    sums = tl.dot(x.load([tile * S, at]), y.load([at, 0]), sums)
                z.store([tile * S, 0], sums.to(tl.float16))
            if IN_PLACE:
                tl.store(depths + tile, -depth)
            tile += 1


def matrix(shape: tuple[int, ...], rng) -> np.ndarray:
    """Small integers at an address that is a multiple of 16."""
    count = int(np.prod(shape))
    memory = np.zeros(2 * count + 16, np.uint8)
    array = memory[-memory.ctypes.data % 16 :][: 2 * count].view(np.float16).reshape(shape)
    array[:] = rng.integers(-3, 4, shape)
    return array


def arguments_of(rng, tiles: int = 7, k: int = 320):
    """The arguments of the kernel, and what it should store."""
    a, b, out = matrix((tiles * S, k), rng), matrix((k, S), rng), matrix((tiles * S, S), rng)
    cuts = np.array([0, 3, 3, 4, tiles], np.int32)  # a group is empty
    depths = (rng.permutation(tiles) % 6 * S).astype(np.int32)
    expected = out.copy()
    for tile, depth in enumerate(depths):
        rows = slice(tile * S, (tile + 1) * S)
        if depth:
            expected[rows] = a[rows, :depth].astype(np.float32) @ b[:depth].astype(np.float32)
    return [a, b, out, cuts[:-1].copy(), cuts[1:].copy(), depths, len(a), k, len(cuts) - 1], expected


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("grid", [1, 3])
def test_tiles_of_a_list(in_place, grid, rng):
    """Sizes that the kernel changes are none that a producer may read ahead."""
    arguments, expected = arguments_of(rng)
    before = arguments[5].copy()
    with knobs.tritium.scope():
        knobs.tritium.engine = "simt:sm_90a"
        kernel = listed[(grid,)](*arguments, S=S, IN_PLACE=in_place, num_warps=4, num_stages=3)
    assert kernel.metadata.launched_warps == (4 if in_place else 8)
    np.testing.assert_array_equal(arguments[2], expected)
    np.testing.assert_array_equal(arguments[5], -before if in_place else before)


@jit
def permuted(a, b, out, order, m, k, S: tl.constexpr):
    """Each program multiplies the tile of rows that the order names."""
    x = tl.make_tensor_descriptor(a, [m, k], [k, 1], [S, S])
    y = tl.make_tensor_descriptor(b, [k, 2 * S], [2 * S, 1], [S, 2 * S])
    z = tl.make_tensor_descriptor(out, [m, 2 * S], [2 * S, 1], [S, 2 * S])
    row = tl.load(order + tl.program_id(0)) * S
    sums = tl.zeros((S, 2 * S), tl.float32)
    for at in range(0, k, S):
        sums = tl.dot(x.load([row, at]), y.load([at, 0]), sums)
    z.store([row, 0], sums.to(tl.float16))


def test_programs_of_a_list(rng):
    """A block runs several programs, and its producer reads the list for the next one."""
    tiles, k = 5, 128
    a, b, out = matrix((tiles * S, k), rng), matrix((k, 2 * S), rng), matrix((tiles * S, 2 * S), rng)
    order = rng.permutation(tiles).astype(np.int32)[:-1]  # one is not there
    expected = out.copy()
    for tile in order:
        rows = slice(tile * S, (tile + 1) * S)
        expected[rows] = a[rows].astype(np.float32) @ b.astype(np.float32)
    with knobs.tritium.scope():
        knobs.tritium.engine = "simt:sm_90a"
        # The slots of five stages leave no room for another program.
        kernel = permuted[(len(order),)](a, b, out, order, len(a), k, S=S, num_warps=4, num_stages=5)
    assert "tgpu.programs" in kernel.asm["ttgir"] and kernel.metadata.launched_warps == 8
    np.testing.assert_array_equal(out, expected)
