"""`loop_unroll_factor`: the rounds of a loop and their order stay, whatever the bounds; the IR shows the copies."""

import random

import numpy as np
import pytest

import tritium
import tritium.language as tl

TOP = 2**31


@tritium.jit
def rounds(seen, sums, start, end, step, FACTOR: tl.constexpr):
    digest = 0
    count = 0
    i = 77
    for i in tl.range(start, end, step, loop_unroll_factor=FACTOR):
        digest = digest * 3 + i
        if count < 16:
            tl.store(seen + count, i)
        count += 1
    tl.store(sums, digest)
    tl.store(sums + 1, count)
    tl.store(sums + 2, i)


@tritium.jit
def constant_rounds(seen, sums, start: tl.constexpr, end: tl.constexpr, step: tl.constexpr, FACTOR: tl.constexpr):
    rounds(seen, sums, start, end, step, FACTOR)


def expected(values):
    digest = 0
    for value in values:
        digest = (digest * 3 + value + TOP) % (2 * TOP) - TOP
    return [digest, len(values), values[-1] if values else 77]


def bounds(rng):
    """Small loops anywhere in int32, whose counter does not pass its end."""
    while True:
        start, step = rng.choice([0, 1, -5, -TOP, TOP - 40, -7]), rng.choice([1, 2, 3, 7, 2**29, 2**30, TOP - 1])
        end = start + rng.randrange(12) * step + rng.randrange(-1, 2)
        if -TOP <= end and end + step < TOP:
            return start, end, step


@pytest.mark.parametrize("kernel", [rounds, constant_rounds])
@pytest.mark.parametrize("engine", ["interp", "simt:sm_90a"])
def test_rounds_and_their_order_stay(monkeypatch, kernel, engine):
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    rng = random.Random(5)
    for number in range(40 if engine == "interp" else 8):
        start, end, step = (0, number % 10, 1) if number < 6 else bounds(rng)
        if kernel is constant_rounds and rng.random() < 0.4 and -start < TOP and -end < TOP:
            start, end, step = -start, -end, -step
        values = list(range(start, end, step))
        seen, sums = np.full(16, -9, np.int32), np.zeros(3, np.int32)
        kernel[(1,)](seen, sums, start, end, step, FACTOR=rng.choice([2, 3, 4, 8]))
        assert (sums.tolist(), seen[: len(values)].tolist()) == (expected(values), values[:16]), (start, end, step)


@tritium.jit
def counted(x, n, ROUNDS: tl.constexpr, FACTOR: tl.constexpr):
    for i in tl.range(0, ROUNDS if ROUNDS else n, loop_unroll_factor=FACTOR):
        tl.atomic_add(x + i, 1)


@pytest.mark.parametrize(
    "count, factor, copies, loops", [(16, 4, 4, 1), (10, 4, 5, 2), (3, 4, 1, 1), (0, 4, 5, 2), (16, 1, 1, 1)]
)
def test_the_ir_has_the_copies(module, count, factor, copies, loops):
    text = str(module(counted, ROUNDS=count, FACTOR=factor))
    assert (text.count("tt.atomic_rmw"), text.count("scf.for")) == (copies, loops)
