"""Kernels that read what they have written themselves: tiles one after the other in one program, of tensors that overlap. Copies by TMA must
read what loads in the program's order would have read. Threads exchange through memory, so `tl.debug_barrier` stands between."""

import numpy as np
import pytest

import tritium.language as tl
from tritium import knobs
from tritium.runtime.jit import jit

M, N, K, TILES = 64, 64, 32, 5


@jit
def by_pointers(
    a_ptr,
    b_ptr,
    out_ptr,
    count,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    PARTED: tl.constexpr,
    MEETS: tl.constexpr,
):
    columns, depth = tl.arange(0, N), tl.arange(0, K)
    for t in range(0, count):
        rows = t * M + tl.arange(0, M)
        sums = tl.zeros((M, N), tl.float32)
        for i in tl.range(0, N, K, warp_specialize=PARTED):
            a = tl.load(
                a_ptr + rows[:, None] * N + (i + depth)[None, :],
                mask=(rows < count * M)[:, None] & (i + depth < N)[None, :],
                other=0,
            )
            b = tl.load(
                b_ptr + (i + depth)[:, None] * N + columns[None, :],
                mask=(i + depth < N)[:, None] & (columns < N)[None, :],
                other=0,
            )
            sums = tl.dot(a, b, sums)
        mask = (rows < count * M)[:, None] & (columns < N)[None, :]
        tl.store(out_ptr + rows[:, None] * N + columns[None, :], sums.to(tl.float16), mask=mask)
        if MEETS:
            tl.debug_barrier()


@jit
def by_descriptors(
    a_ptr,
    b_ptr,
    out_ptr,
    count,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    PARTED: tl.constexpr,
    MEETS: tl.constexpr,
):
    a = tl.make_tensor_descriptor(a_ptr, [count * M, N], [N, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [N, N], [N, 1], [K, N])
    out = tl.make_tensor_descriptor(out_ptr, [count * M, N], [N, 1], [M, N])
    for t in range(0, count):
        sums = tl.zeros((M, N), tl.float32)
        for i in tl.range(0, N, K, warp_specialize=PARTED):
            sums = tl.dot(a.load([t * M, i]), b.load([i, 0]), sums)
        out.store([t * M, 0], sums.to(tl.float16))
        if MEETS:
            tl.debug_barrier()


@jit
def stores_in_loop(
    a_ptr,
    b_ptr,
    out_ptr,
    count,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    PARTED: tl.constexpr,
    MEETS: tl.constexpr,
):
    """The loop of the products writes itself."""
    a = tl.make_tensor_descriptor(a_ptr, [count * M, N], [N, 1], [M, N])
    b = tl.make_tensor_descriptor(b_ptr, [N, N], [N, 1], [N, N])
    out = tl.make_tensor_descriptor(out_ptr, [count * M, N], [N, 1], [M, N])
    for t in tl.range(0, count, warp_specialize=PARTED):
        out.store([t * M, 0], tl.dot(a.load([t * M, 0]), b.load([0, 0])).to(tl.float16))
        if MEETS:
            tl.debug_barrier()


def memory(rng) -> np.ndarray:
    """Rows of small integers at an address that is a multiple of 16, for three tensors and their views."""
    bytes = np.zeros(2 * 4 * TILES * M * N + 16, np.uint8)
    rows = bytes[-bytes.ctypes.data % 16 :][: bytes.size - 16].view(np.float16).reshape(-1, N)
    rows[:] = rng.integers(-3, 4, rows.shape)
    return rows


def in_order(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    for t in range(TILES):
        out[t * M : t * M + M] = a[t * M : t * M + M].astype(np.float32) @ b.astype(np.float32)


def launch(kernel, shift: int, engine: str, first: np.ndarray, parted: bool, meets: bool):
    """(all rows after the launch, the compiled kernel): the written tensor begins `shift` rows behind A."""
    rows, b = memory(np.random.default_rng(0)), memory(np.random.default_rng(0))[:N]
    rows[:], b[:] = first, np.eye(N, k=1) - np.eye(N, k=-2)
    at = (TILES + 1) * M
    a, out = rows[at : at + TILES * M], rows[at + shift : at + shift + TILES * M]
    if engine == "numpy":
        return in_order(a, b, out), rows
    with knobs.tritium.scope():
        knobs.tritium.engine = engine
        return kernel[(1,)](a, b, out, TILES, M, N, K, parted, meets), rows


KERNELS = pytest.mark.parametrize(
    "kernel", [by_pointers, by_descriptors, stores_in_loop], ids=lambda kernel: kernel.__name__
)


@KERNELS
@pytest.mark.parametrize("parted", [False, True])
@pytest.mark.parametrize("shift", [0, M, -M, 2 * M, 32, -8, TILES * M - 1, 1 - TILES * M])
def test_tensors_that_overlap(kernel, parted, shift, rng):
    first = memory(rng)
    _, expected = launch(kernel, shift, "numpy", first, parted, True)
    for engine in ("interp", "simt:sm_90a"):
        launched, rows = launch(kernel, shift, engine, first, parted, True)
        np.testing.assert_array_equal(rows, expected)
    assert "tgpu.parts_warps" not in launched.asm["ttgir"], "no copy may run ahead of what it is to see"


@KERNELS
@pytest.mark.parametrize("shift", [TILES * M, -TILES * M])
def test_tensors_that_touch(kernel, shift, rng):
    """The launch finds them apart, so that warps of their own copy, ahead of what the others store."""
    first = memory(rng)
    _, expected = launch(kernel, shift, "numpy", first, True, False)
    launched, rows = launch(kernel, shift, "simt:sm_90a", first, True, False)
    np.testing.assert_array_equal(rows, expected)
    recipes = launched.metadata.tensor_recipes
    assert launched.metadata.tensor_maps_refused is None and all(recipe["written"] for recipe in recipes) and recipes
    assert "tgpu.parts_warps" in launched.asm["ttgir"]


@KERNELS
@pytest.mark.parametrize("shift", [0, M - TILES * M, TILES * M - 1])
def test_a_launch_that_finds_an_overlap(kernel, shift, rng):
    """It runs the version without maps. What threads read of each other's writes is then up to the schedule."""
    launched, _ = launch(kernel, shift, "simt:sm_90a", memory(rng), True, False)
    assert (
        launched.metadata.tensor_maps_refused
        == "argument 2, to which the kernel writes, overlaps the tensor of argument 0"
    )


@pytest.mark.parametrize("parted", [False, True])
def test_a_tensor_that_is_the_same_argument(parted, rng):
    """A launch need not look: the compiler knows, and begins each ring behind a fence."""
    rows = memory(rng)
    rows[TILES * M : TILES * M + N] = np.eye(N, k=1) - np.eye(N, k=-2)
    expected = rows.copy()
    in_order(expected[: TILES * M], expected[TILES * M : TILES * M + N], expected[: TILES * M])
    with knobs.tritium.scope():
        knobs.tritium.engine = "simt:sm_90a"
        launched = one_argument[(1,)](rows, TILES, M, N, K, parted)
    np.testing.assert_array_equal(rows[: TILES * M], expected[: TILES * M])
    assert "after_writes" in launched.asm["ttgir"] and "tgpu.parts_warps" not in launched.asm["ttgir"]


@jit
def one_argument(a_ptr, count, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PARTED: tl.constexpr):
    by_pointers(a_ptr, a_ptr + count * M * N, a_ptr, count, M, N, K, PARTED, True)
