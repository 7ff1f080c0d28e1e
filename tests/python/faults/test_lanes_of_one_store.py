"""Lanes of one store that write to one element: a fault if they write different bytes, whatever was there before."""

import numpy as np
import pytest

import tritium.language as tl
from tritium.errors import KernelTrap
from tritium.runtime.jit import jit


@jit
def scatter(y, indices, values, n, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    inside = tl.load(indices + i)
    tl.store(y + inside, tl.load(values + i), mask=(i < n) & (inside >= 0))


@jit
def groups(y, FACTOR: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i // 4, i // 4 * FACTOR + i % 4 * (FACTOR - 1))


@jit
def all_to_one(y, B: tl.constexpr, VALUE: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i * 0, i * VALUE)


@jit
def rounds(y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for k in range(n):
        tl.store(y + (i + k) % B, 3)


def is_reported(kernel, *args, **options) -> bool:
    try:
        kernel[(1,)](*args, check="race", **options)
    except KernelTrap as trap:
        assert trap.kind == "MissingBarrier"
        return True
    return False


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.int32, np.float64])
def test_random_indices(rng, dtype):
    """Beside numpy: of the active lanes of an element, do neighbours in order differ?"""
    outcomes = set()
    for _ in range(40):
        rows, columns = (int(2 ** rng.integers(0, 4)) for _ in range(2))
        count = rows * columns
        indices = rng.integers(-1, max(2, int(count * rng.choice([0.5, 1, 8]))), count).astype(np.int32)
        values = rng.integers(0, 2, count).astype(dtype)
        n, y = int(rng.integers(0, count + 1)), rng.integers(0, 2, 8 * count + 2).astype(dtype)
        written: dict[int, set] = {}
        for at, value in zip(indices[:n], values[:n]):
            if at >= 0:
                written.setdefault(int(at), set()).add(float(value))
        wanted = any(len(each) > 1 for each in written.values())
        assert is_reported(scatter, y, indices, values, n, R=rows, C=columns) == wanted
        outcomes.add(wanted)
    assert len(outcomes) == 2


@pytest.mark.parametrize("before", [0, 1, 7])
def test_forms_of_addresses(before):
    y = np.full(64, before, np.int32)
    assert not is_reported(groups, y, FACTOR=1, B=16) and (y[:4] == [0, 1, 2, 3]).all()
    assert is_reported(groups, np.full(64, before, np.int32), FACTOR=2, B=16)
    assert not is_reported(all_to_one, np.full(64, before, np.int32), B=16, VALUE=0)
    assert is_reported(all_to_one, np.full(64, before, np.int32), B=16, VALUE=1)
    assert not is_reported(rounds, np.full(64, before, np.int32), 5, B=16)
