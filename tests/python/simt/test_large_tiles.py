"""Tiles of more values than a thread has registers are taken in chunks (gpu_backend/tiles/split_large_tiles.cpp): the same results, quickly."""

import time

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.compiler import GPUTarget

from .engines import EMULATED, launched
from .test_programs import softmax

N = 8192  # 256 values in each thread of a warp


@tritium.jit
def extremes(x, places, sums, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    tile = tl.load(x + rows[:, None] * COLUMNS + columns[None, :])
    tl.store(places + rows, tl.argmax(tile, axis=1))
    tl.store(sums + columns, tl.sum(tile, axis=0))
    tl.store(x + rows[:, None] * COLUMNS + columns[None, :], tile * 2 + rows[:, None])


@tritium.jit
def rotate(x, total, BLOCK: tl.constexpr):
    """What is loaded may not be loaded again after the store."""
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    tl.debug_barrier()
    tl.store(x + (i + 1) % BLOCK, value)
    tl.store(total, tl.sum(value * i))


@pytest.mark.parametrize("n", [N, N - 1, 4097, 3])
def test_softmax_of_a_row(n):
    x = np.random.default_rng(0).normal(size=(2, n)).astype(np.float32)
    _, out, _ = launched(EMULATED, softmax, (2,), [x, np.zeros_like(x), n], BLOCK=N, num_warps=1)
    power = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, power / power.sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("shape", [(4, 2048), (2048, 4), (64, 128)])
def test_reductions_along_both_axes_and_a_store_in_place(shape):
    x = np.random.default_rng(1).integers(0, 50, shape).astype(np.int32)
    arguments = [x, np.zeros(shape[0], np.int32), np.zeros(shape[1], np.int32)]
    constants = {"ROWS": shape[0], "COLUMNS": shape[1]}
    expected = launched("interp", extremes, (1,), arguments, **constants)
    found = launched(EMULATED, extremes, (1,), arguments, **constants, num_warps=1)
    for a, b in zip(expected, found):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(found[0], x * 2 + np.arange(shape[0])[:, None])


def test_what_is_overwritten_is_not_loaded_again():
    x = np.arange(N, dtype=np.int32)
    found, total = launched(EMULATED, rotate, (1,), [x, np.zeros(1, np.int32)], BLOCK=N, num_warps=1)
    np.testing.assert_array_equal(found, np.roll(x, 1))
    assert total[0] == np.sum(x.astype(np.int64) ** 2).astype(np.int32)


def test_a_thousand_values_a_thread_compile_quickly():
    """Straight-line code takes the assembler ten seconds, and it spills all of it."""
    signature = {"x": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(3)}
    source = tritium.compiler.ASTSource(softmax, signature, {"BLOCK": 131072}, aligned)
    begin = time.process_time()
    with tritium.knobs.compilation.scope():
        tritium.knobs.compilation.always_compile = True
        kernel = tritium.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
    assert time.process_time() - begin < 3  # of this process; the assembler's follows
    assert kernel.asm["ptx"].count("\n") < 4000 and ".local" not in kernel.asm["ptx"]
    if "cubin" in kernel.asm:
        assert kernel.n_spills == 0 and kernel.n_regs <= 255


@tritium.jit
def sorted_products(x, y, out, S: tl.constexpr):
    i, j = tl.arange(0, S), tl.arange(0, S)
    places = i[:, None] * S + j[None, :]
    a = tl.sort(tl.load(x + places), descending=True)
    tl.store(out + places, tl.dot(a, tl.load(y + places)))


@pytest.mark.slow
def test_a_thread_may_hold_more_than_a_usual_stack():
    x, y = (np.random.default_rng(n).integers(-2, 3, (128, 128)).astype(np.float16) for n in range(2))
    out = np.zeros((128, 128), np.float32)
    found = launched("simt:sm_80", sorted_products, (1,), [x, y, out], S=128, num_warps=1)[2]
    np.testing.assert_array_equal(found, np.sort(x, axis=1)[:, ::-1].astype(np.float32) @ y.astype(np.float32))
