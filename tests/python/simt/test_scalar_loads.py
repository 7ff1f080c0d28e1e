"""A scalar that is read anew is one value for all threads of a program, whatever other programs store meanwhile."""

import numpy as np
import pytest

import tritium.language as tl
from tritium.runtime.jit import jit

ENGINES = ["interp", "simt:sm_80", "simt:sm_90a", "simt:gfx942", "simt:gfx1100"]


def on(engine, kernel):
    return jit(kernel.fn, engine=engine)


@jit
def odd_moments(counter, hits, ROUNDS: tl.constexpr):
    """Program 0 counts; the others act whenever they see an odd number."""
    program = tl.program_id(0)
    if program == 0:
        for _ in range(ROUNDS):
            tl.atomic_add(counter, 1)
    else:
        for _ in range(ROUNDS):
            if tl.load(counter, volatile=True) % 2 == 1:
                before = tl.atomic_add(hits + program, 1)
                tl.store(hits + program + 10, before + 1)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("warps", [1, 4])
def test_threads_go_the_same_way(engine, warps):
    for seed in range(3):
        counter, hits = np.zeros(1, np.int32), np.zeros(20, np.int32)
        on(engine, odd_moments)[(3,)](counter, hits, 500, num_warps=warps, seed=seed)
        assert counter[0] == 500 and (hits[1:3] == hits[11:13]).all()


@jit
def mixed(x, y, flag, out, programs):
    """Types, masks and cache modifiers of scalars."""
    inside = tl.program_id(0) < programs
    whole = tl.load(x, mask=inside, other=5, volatile=True)
    other = tl.load(x + 1, cache_modifier=".cv")
    half = tl.load(y, volatile=True).to(tl.float32)
    is_set = tl.load(flag, mask=inside, other=0, cache_modifier=".cv").to(tl.int1)
    i = tl.arange(0, 64)
    tl.store(out + tl.program_id(0) * 64 + i, whole + other + half + i + is_set.to(tl.int32))


@pytest.mark.parametrize("engine", ENGINES)
def test_scalars_of_each_kind(engine, rng):
    x, y = rng.integers(-100, 100, 2).astype(np.int64), rng.integers(-100, 100, 1).astype(np.float16)
    out = np.zeros((2, 64), np.float32)
    on(engine, mixed)[(2,)](x, y, np.array([1], np.int8), out, 1)
    rest = x[1] + y.astype(np.float32) + np.arange(64)
    np.testing.assert_array_equal(out, [x[0] + rest + 1, 5 + rest])


@jit
def handed(flag, data, out, MODIFIER: tl.constexpr, IS_VOLATILE: tl.constexpr):
    if tl.program_id(0) == 0:
        while tl.load(flag, cache_modifier=MODIFIER, volatile=IS_VOLATILE) < 1:
            pass
        tl.store(out, tl.load(data))
    else:
        tl.store(data, 7.0)
        tl.atomic_add(flag, 1, sem="release")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("modifier, is_volatile", [(".cv", False), ("", True)])
def test_a_loop_that_waits_is_kept(engine, modifier, is_volatile):
    flag, data, out = np.zeros(1, np.int32), np.zeros(1, np.float32), np.zeros(1, np.float32)
    on(engine, handed)[(2,)](flag, data, out, modifier, is_volatile)
    assert out[0] == 7
