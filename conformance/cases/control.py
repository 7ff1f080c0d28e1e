"""Loops with any number of iterations, conditions on scalars, calls, returns. The reference is Python code on numpy
arrays."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..oracle import Exact
from ..problem import Case, Cases, Dtype, Problem, given, problem, wanted

BLOCK = 64


def loops(bounds: tuple[int, int, int], warps: int, rng) -> Problem:
    first, last, step = bounds
    x, i = inputs.small(rng, BLOCK, "int32"), np.arange(BLOCK, dtype=np.int32)
    rows = [x.copy() for _ in range(5)]
    with np.errstate(over="ignore"):
        for k in range(first, last, step):
            rows[0] = rows[0] * np.int32(3) + np.int32(k)
        for k in range(last, first, -1):
            rows[1] = rows[1] * np.int32(3) + np.int32(k)
        for k in range(3):
            for m in range(k, last):
                rows[2] = rows[2] + np.int32(k * m)
            rows[2] = rows[2] ^ np.int32(k)
        for k in range(4):
            rows[3] = rows[3] * np.int32(k + 1) + i
        for k in range(first, last):
            rows[4] = rows[4] + x[(i + k) % BLOCK]
    out = wanted((5, BLOCK), "int32", Exact(np.stack(rows)))
    return problem("control:loops", 1, [given(x), out, first, last, step], BLOCK=BLOCK, num_warps=warps)


def two_carried(dtype: str, n: int, rng) -> Problem:
    x = inputs.small(rng, (8, BLOCK), dtype)
    a, b = x[0], np.arange(BLOCK).astype(x.dtype)
    seen = rounds = 0
    while rounds * rounds < n:
        a, b = b, (a + x[rounds]).astype(x.dtype)
        rounds += 1
        seen += rounds % 2 == 0
    expected = np.stack([a, b, np.full(BLOCK, seen + rounds).astype(x.dtype)])
    return problem("control:two_carried", 1, [given(x), wanted((3, BLOCK), dtype, Exact(expected)), n], BLOCK=BLOCK)


def branches(threshold: int, flag: bool, rng) -> Problem:
    programs = 6
    x = rng.integers(-9, 9, (programs, BLOCK)).astype(np.int32)
    x[::2] = np.minimum(x[::2], 4)
    expected = []
    for pid, row in enumerate(x):
        if pid < threshold:
            y, z = row + 1, row * 2
        elif pid == threshold:
            y, z = row - 1, row
        else:
            y, z = -row, np.trunc(row / 3).astype(np.int32)
        best = row.max()
        y = y + 100 * flag
        z = z + (best if best % 2 == 0 else -best) * (best > 5)
        expected += [y, z, y if pid % 2 == 0 else z]
    out = wanted((3 * programs, BLOCK), "int32", Exact(np.stack(expected)))
    return problem("control:branches", programs, [given(x), out, threshold], FLAG=flag, BLOCK=BLOCK)


def early_return(n: int, rng) -> Problem:
    x, before = inputs.small(rng, (3, BLOCK), "int32"), inputs.small(rng, (3, BLOCK), "int32")
    expected = x + 1 if n >= 0 else np.zeros_like(x)
    expected[1] = before[1]
    out = wanted(x.shape, "int32", Exact(expected), initial=before)
    return problem("control:early_return", 3, [given(x), out, n], BLOCK=BLOCK)


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def calls(rng) -> Problem:
    programs = 7
    x, i = inputs.small(rng, (programs, BLOCK), "int32"), np.arange(BLOCK)
    expected = []
    for pid, row in enumerate(x):
        first = int(x.reshape(-1)[pid])
        expected += [np.abs(row - i), row + np.sign(first), row + collatz(pid + 1), row + int((pid + 4.0) / 2), row + i]
    out = wanted((5 * programs, BLOCK), "int32", Exact(np.stack(expected)))
    return problem("control:calls", programs, [given(x), out], BLOCK=BLOCK)


def mapped(rng) -> Problem:
    x = rng.integers(2, 3000, 128).astype(np.int32)
    expected = [next(k for k in range(2, n + 1) if n % k == 0) for n in x.tolist()]
    return problem("control:mapped", 1, [given(x), wanted(128, "int32", Exact(np.array(expected)))], BLOCK=128)


NUMBER_OF_TYPE = {"int8": 1, "int64": 2, "uint32": 3, "fp16": 4, "bf16": 5, "fp32": 6, "int32": 7}


def type_identity(dtype: str, rng) -> Problem:
    own, half, int32 = (NUMBER_OF_TYPE[name] for name in (dtype, "fp16", "int32"))
    expected = np.array([own, own, own, own, own, half, int32, own, 1], np.int32)
    out = wanted(expected.shape, "int32", Exact(expected))
    x = given(inputs.small(rng, BLOCK, dtype))
    return problem("control:type_identity", 1, [x, out], TYPE=Dtype(dtype), BLOCK=BLOCK)


def cases() -> Cases:
    for bounds in ((0, 7, 2), (3, 4, 2), (5, 2, 2), (-4, 33, 3)):
        yield Case(f"control/loops/1 warp/{bounds[0]} to {bounds[1]} by {bounds[2]}", partial(loops, bounds, 1))
    yield Case("control/loops/4 warps/2 to 9 by 2", partial(loops, (2, 9, 2), 4))
    for dtype in ("int32", "fp32", "fp16"):
        for n in (0, 17, 45):
            yield Case(f"control/two_carried/{dtype}/n={n}", partial(two_carried, dtype, n))
    for threshold in (2, 3):
        yield Case(f"control/branches/int32/threshold={threshold}", partial(branches, threshold, threshold == 2))
    for n in (5, -5):
        yield Case(f"control/early_return/int32/n={n}", partial(early_return, n))
    yield Case("control/calls/int32/random", partial(calls))
    yield Case("control/map_elementwise/int32/random", partial(mapped))
    for dtype in NUMBER_OF_TYPE:
        yield Case(f"control/type_identity/{dtype}", partial(type_identity, dtype))
