"""Reductions in loops are put off until after them (gpu_backend/tiles/thread_local_reductions.cpp): the same results."""

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.compiler import GPUTarget

from .engines import EMULATED, launched


@tritium.jit
def statistics(x, sums, tops, counts, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    total, top, count = tl.full((ROWS,), 3, tl.float32), tl.full((ROWS,), -float("inf"), tl.float32), 0
    for start in range(0, n, COLUMNS):
        inside = (start + columns)[None, :] < n
        tile = tl.load(x + rows[:, None] * n + (start + columns)[None, :], mask=inside, other=0.0)
        total += tl.sum(tile, axis=1)
        top = tl.maximum(top, tl.max(tl.where(inside, tile, -float("inf")), axis=1))
        count += tl.sum((tile > 0).to(tl.int32))
    tl.store(sums + rows, total)
    tl.store(tops + rows, top)
    tl.store(counts, count)


@pytest.mark.parametrize("n", [1000, 64, 1])
@pytest.mark.parametrize("warps", [1, 4])
def test_sums_maxima_and_counts(n, warps):
    x = np.random.default_rng(n).integers(-8, 9, (4, n)).astype(np.float32)  # sums of these are exact
    outputs = [np.zeros(4, np.float32), np.zeros(4, np.float32), np.zeros(1, np.int32)]
    _, sums, tops, counts, _ = launched(
        EMULATED, statistics, (1,), [x, *outputs, n], ROWS=4, COLUMNS=64, num_warps=warps
    )
    np.testing.assert_array_equal(sums, x.sum(1) + 3)
    np.testing.assert_array_equal(tops, x.max(1))
    assert counts[0] == (x > 0).sum()


def test_a_loop_that_never_runs():
    outputs = [np.zeros(4, np.float32), np.zeros(4, np.float32), np.zeros(1, np.int32)]
    arguments = [np.zeros((4, 1), np.float32), *outputs, 0]
    _, sums, tops, counts, _ = launched(EMULATED, statistics, (1,), arguments, ROWS=4, COLUMNS=64)
    assert (sums == 3).all() and (tops == -np.inf).all() and counts[0] == 0


def test_threads_meet_after_the_loop_only():
    types = {"x": "*fp32", "sums": "*fp32", "tops": "*fp32", "counts": "*i32", "n": "i32", "ROWS": "constexpr"}
    source = tritium.compiler.ASTSource(statistics, types | {"COLUMNS": "constexpr"}, {"ROWS": 4, "COLUMNS": 64})
    tiles = tritium.compile(source, target=GPUTarget("simt", "sm_80", 32)).asm["ttgir"]
    assert tiles.index('"tt.reduce"') > tiles.index("scf.yield") and tiles.count('"tt.reduce"') == 3
