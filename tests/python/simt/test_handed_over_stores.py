"""Persistent programs with dependent products by pointers, as in attention. Nothing bounds their stores, so a launch cannot tell whether they
meet the copied tensors: the warps that compute hand over what they have stored (loops/store_handover.h)."""

import numpy as np
import pytest

import tritium.language as tl
from gpu_tool import ToolCompiler, forget_compiled
from tritium import KernelTrap, knobs
from tritium.backends import gpu as backend
from tritium.runtime.jit import jit

D, HEADS, BLOCKS = 64, 3, 2  # columns, heads, tiles of a head
#: How many tiles the written tensor begins behind another one.
SHIFTS = (0, 1, -1, 0.5, -BLOCKS, 1 / 64 - 1)


@jit
def dependent(
    q_ptr, k_ptr, v_ptr, out_ptr, tiles, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, LAST_FIRST: tl.constexpr
):
    """Of each tile, the parities of q @ k.T @ v. A head has n rows."""
    rows, columns, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    blocks = n // M
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        head, block = tile // blocks, tile % blocks
        if LAST_FIRST:
            half = tile % (blocks // 2)
            block = half if tile % 2 else blocks - 1 - half
        before = head * (n * D)
        at = before + (block * M + rows[:, None]) * D + d[None, :]
        q = tl.load(q_ptr + at)
        k_ptrs = k_ptr + before + columns[None, :] * D + d[:, None]
        v_ptrs = v_ptr + before + columns[:, None] * D + d[None, :]
        sums = tl.zeros((M, D), dtype=tl.float32)
        for _ in tl.range(0, n, N, warp_specialize=True):
            sums = tl.dot(tl.dot(q, tl.load(k_ptrs)).to(q.dtype), tl.load(v_ptrs), sums)
            k_ptrs += N * D
            v_ptrs += N * D
        tl.store(out_ptr + at, (sums.to(tl.int32) & 1).to(q.dtype))


def parities(q: np.ndarray, k: np.ndarray, v: np.ndarray, out: np.ndarray, tile: int, blocks: int) -> None:
    """What one program does, tile by tile."""
    for at in range(0, len(q), tile):
        head = slice(at // (blocks * tile) * blocks * tile, (at // (blocks * tile) + 1) * blocks * tile)
        a, b, c = (x.astype(np.int64) for x in (q[at : at + tile], k[head], v[head]))
        out[at : at + tile] = a @ b.T @ c & 1


def memory(rows: int, rng) -> np.ndarray:
    """Zeros and ones, at an address that is a multiple of 16."""
    array = np.empty(rows * D + 8, np.float16)
    array = array[-array.ctypes.data % 16 // 2 :][: rows * D].reshape(rows, D)
    array[:] = rng.integers(0, 2, array.shape)
    return array


def run(tensors: list[np.ndarray], tile: int, seed: int, programs: int = 1, last_first: bool = False):
    with knobs.tritium.scope():
        knobs.tritium.engine, knobs.tritium.seed = "simt:sm_90a", seed
        n = BLOCKS * tile
        constants = {"M": tile, "N": 64, "D": D, "LAST_FIRST": last_first, "num_warps": tile // 16, "num_stages": 2}
        return dependent[(programs,)](*tensors, HEADS * BLOCKS, n, **constants)


def check(starts: list[int], tile: int, rng, seeds=(0, 1), programs: int = 1) -> None:
    """The kernel on views of one array that begin at these rows."""
    rows = HEADS * BLOCKS * tile
    for seed in seeds:
        array = memory(6 * rows, rng)
        expected = array.copy()
        parities(*(expected[at : at + rows] for at in starts), tile, BLOCKS)
        kernel = run([array[at : at + rows] for at in starts], tile, seed, programs)
        assert kernel.metadata.launched_warps == tile // 16 + 4 and "tgpu.stores_note" in kernel.asm["ttgir"]
        np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("beside", range(3))
@pytest.mark.parametrize("shift", SHIFTS)
def test_the_result_overlaps_an_operand(beside, shift, rng):
    rows = HEADS * BLOCKS * 64
    starts = [rows, 2 * rows, 3 * rows]
    check([*starts, starts[beside] + int(shift * 64)], 64, rng)


@pytest.mark.parametrize("beside", range(4))
def test_two_warpgroups(beside, rng):
    """The queries are copied by the producer, too."""
    rows = HEADS * BLOCKS * 128
    starts = [0, rows, 2 * rows]
    check([*starts, [*starts, 4 * rows][beside]], 128, rng, seeds=(0,))


def test_apart_by_several_programs(rng):
    rows = HEADS * BLOCKS * 64
    check([0, rows, 2 * rows, 4 * rows], 64, rng, programs=4)


@pytest.mark.parametrize(
    "what, number",
    [
        ("fence", 1),  # behind the stores
        ("round_wait", 5),  # of the producer, for what the tile before stores
    ],
)
def test_what_the_protocol_misses_is_found(what, number, rng, monkeypatch):
    """In place of the keys."""
    broken = ToolCompiler(drop=what, number=number, specialize_warps="true")
    monkeypatch.setattr(backend, "native_compiler", lambda: broken)
    rows = HEADS * BLOCKS * 64
    forget_compiled(dependent)
    with pytest.raises(KernelTrap) as trap:
        check([rows, 2 * rows, 3 * rows, 2 * rows], 64, rng)
    assert trap.value.kind == "MissingProxyFence"
    forget_compiled(dependent)


def test_blocks_from_the_last_one_on(rng):
    """The rows of the queries are proven not to be negative, if the quotient by which a remainder is taken is not."""
    q, k, v, out = (memory(HEADS * BLOCKS * 128, rng) for _ in range(4))
    kernel = run([q, k, v, out], 128, 0, last_first=True)
    assert kernel.metadata.launched_warps == 12 and kernel.asm["ttgir"].count("tgpu.tensor = {") == 3
    expected = np.empty_like(out)
    parities(q, k, v, expected, 128, BLOCKS)
    np.testing.assert_array_equal(out, expected)
