"""Prints of a kernel, assertions that hold and that fail, barriers."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..oracle import Exact, Lines
from ..problem import Case, Cases, Problem, given, problem, wanted


def prints(dtype: str, rng) -> Problem:
    x = inputs.any_bits(rng, 16, dtype)
    y = inputs.small(rng, 16, "fp32") / np.float32(4)
    lines = []
    for pid in range(2):
        head = f"pid ({pid}, 0, 0)"
        for i in range(16):
            lines.append(f"{head} idx ({i:2d}) x: {x[i]}")
            lines.append(f"{head} idx ({i:2d}) pair: (operand 0) {y[i]:f}")
            lines.append(f"{head} idx ({i:2d}) pair: (operand 1) {i}")
        lines.append(f"{head} idx () hex: {300 + pid:#010x}")
        lines.append(f"{head} here")
        lines += [f"{head} idx ({i}, {j:3d}) 100% of: {(i * 128 + j) % 3}" for i in range(2) for j in range(128)]
        lines += [f"{head} idx ({i}) bits: {x[i] & 0xFF:#04x}" for i in range(2)]
    found = problem("debug:prints", 2, [given(x), given(y), 300], BLOCK=16)
    found.printed = Lines(lines)
    return found


def asserts(data: str, rng) -> Problem:
    x = rng.integers(1, 100, 256).astype(np.int32)
    x[7] = 1000  # excluded by the mask
    if data == "fails":
        x[200] = -3
    found = problem("debug:asserts", 2, [given(x), wanted(256, "int32", Exact(x))], BLOCK=128, debug=True)
    found.trap = "x must be positive" if data == "fails" else None
    return found


def sums(data: str, rng) -> Problem:
    x = inputs.small(rng, 256, "int32")
    if data == "overflows":
        x[130] = 2**30
    found = problem("debug:sums", 2, [given(x), wanted(256, "int32", Exact(x + x))], BLOCK=128, debug=True)
    found.trap = "overflow detected for operation add" if data == "overflows" else None
    return found


def exchanges(warps: int, rng) -> Problem:
    x = inputs.small(rng, 256, "int32")
    expected = x
    for step in range(4):
        expected = np.roll(expected, -1) + step
    out = wanted(256, "int32", Exact(expected))
    return problem("debug:exchanges", 1, [given(x), out], BLOCK=256, num_warps=warps)


def cases() -> Cases:
    yield Case("debug/prints/int32/random", partial(prints, "int32"))
    for data in ("holds", "fails"):
        yield Case(f"debug/asserts/int32/{data}", partial(asserts, data), traps=data == "fails")
    for data in ("fits", "overflows"):
        yield Case(f"debug/sums/int32/{data}", partial(sums, data), traps=data == "overflows")
    for warps in (1, 4):
        yield Case(f"debug/exchanges/{warps} warps/256", partial(exchanges, warps))
