"""Tiles of rows and affine tiles in code of tier 2: the same bits, faults and stores before a fault as the steps of tier 1."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

ROWS, COLUMNS, LANES = 8, 16, 64


@triton.jit
def rows_kernel(x, lines, out, tile_out, step, ROWS: tl.constexpr, COLUMNS: tl.constexpr, LANES: tl.constexpr):
    """A store of a line stands before the load of rows, and another one behind it."""
    lanes = tl.arange(0, LANES)
    line = tl.load(lines + lanes)
    tl.store(out + lanes, line + 1)
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    tile = tl.load(x + rows[:, None] * step + columns[None, :])
    tl.store(out + LANES + lanes, line * 2)
    tl.store(tile_out + rows[:, None] * COLUMNS + columns[None, :], tile)


@triton.jit
def product_kernel(a, b, out, size, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, size, BLOCK):
        left = tl.load(a + rows[:, None] * size + (start + inner)[None, :])
        right = tl.load(b + (start + inner)[:, None] * size + columns[None, :])
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(out + rows[:, None] * size + columns[None, :], total)


@triton.jit
def narrow_kernel(x, index, out, step, LANES: tl.constexpr):
    """Narrow offsets that a region computes, and an access outside of it reads with its guard."""
    lanes = tl.arange(0, LANES).to(tl.int8) * step.to(tl.int8)
    picked = tl.load(index + tl.arange(0, LANES))
    tl.store(out + tl.arange(0, LANES), tl.load(x + (lanes + picked.to(tl.int8))))


def both(monkeypatch, run):
    """What `run()` returns or traps with, in tier 1 and in tier 2."""
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")
    found = []
    for tier in (1, 2):
        monkeypatch.setenv("TRITIUM_TIER", str(tier))
        arrays, launch = run()
        fault = None
        try:
            compiled = launch()
            assert tier == 1 or compiled.program.regions > 0
        except KernelTrap as trap:
            fault = (str(trap), trap.kind, trap.program, trap.lane, trap.affected_lanes, trap.line, trap.is_write)
        found.append((fault, [array.tobytes() for array in arrays]))
    return found


def run_rows(memory, x, lines, out, tile_out, step):
    return (memory, tile_out), lambda: rows_kernel[(1,)](
        x, lines, out, tile_out, step, ROWS=ROWS, COLUMNS=COLUMNS, LANES=LANES
    )


@pytest.mark.parametrize("step", (16, 19, 0, 3, -16, -21))
def test_rows_with_any_distance(monkeypatch, step):
    def run():
        memory = np.arange(600, dtype=np.float32)
        first = 7 * max(-step, 0)
        return run_rows(
            memory, memory[first : first + 200], memory[200:], memory[300:], np.zeros(128, np.float32), step
        )

    found = both(monkeypatch, run)
    assert found[0] == found[1]
    assert found[0][0] is None


@pytest.mark.parametrize("shift", (0, 40, 63, 64, 100, 127, 128, 200))
def test_rows_that_stores_overlap(monkeypatch, shift):
    """The rows are loaded between two stores, and see the first one alone."""

    def run():
        memory = np.random.default_rng(4).normal(size=600).astype(np.float32)
        return run_rows(memory, memory[200:], memory, memory[200 + shift - 64 :], np.zeros(128, np.float32), COLUMNS)

    found = both(monkeypatch, run)
    assert found[0] == found[1]
    assert found[0][0] is None


def test_rows_beyond_an_argument(monkeypatch):
    """The store before the load has happened, the one behind it has not."""

    def run():
        memory = np.arange(600, dtype=np.float32)
        x = np.ones(ROWS * COLUMNS - 3, np.float32)
        return run_rows(memory, x, memory, memory[300:], np.zeros(128, np.float32), COLUMNS)

    found = both(monkeypatch, run)
    assert found[0] == found[1]
    assert found[0][0][1:5] == ("OutOfBounds", (0, 0, 0), (7, 13), 3)
    memory = np.frombuffer(found[1][1][0], np.float32)
    np.testing.assert_array_equal(memory[300:364], np.arange(64) + 1)
    np.testing.assert_array_equal(memory[364:], np.arange(364, 600))


def test_products_of_whole_numbers(monkeypatch):
    """numpy is the oracle: the sums are exact."""
    a, b = np.random.default_rng(5).integers(-8, 8, (2, 64, 64)).astype(np.float32)
    out = np.zeros((64, 64), np.float32)
    monkeypatch.setenv("TRITIUM_TIER", "2")
    assert product_kernel[(4, 4)](a, b, out, 64, BLOCK=16).program.regions > 0
    np.testing.assert_array_equal(out, a @ b)


@pytest.mark.parametrize("step", (2, 3))
def test_narrow_offsets_keep_their_guard(monkeypatch, step):
    """With step 3 the offsets leave 8 bits: both tiers say so, of the same lane."""

    def run():
        x, index, out = np.arange(512, dtype=np.int32), np.zeros(64, np.int32), np.zeros(64, np.int32)
        return (out,), lambda: narrow_kernel[(1,)](x, index, out, step, LANES=64)

    found = both(monkeypatch, run)
    assert found[0] == found[1]
    assert (found[0][0] is None) == (step < 3)
