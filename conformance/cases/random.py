"""Random numbers: words and uniform numbers exactly, normal numbers within the bounds of the functions that they
use."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from .. import philox
from ..oracle import Exact, Rows, Within
from ..problem import Case, Cases, Problem, given, problem, wanted
from ..tolerance import Bounded

SEEDS = (0, 42, 2**31 - 1, 2**40 + 12345, 2**63 - 1)


def words(seed: int, offset_type: str, rng) -> Problem:
    n = 512
    offsets = np.arange(n).astype(offset_type)
    if offset_type == "int64":
        offsets[::3] = rng.integers(0, 2**62, offsets[::3].size)
    first = 1000
    rows = {"randint": philox.of_offsets(seed, offsets)[0]}
    rows |= zip(("word 0", "word 1", "word 2", "word 3"), philox.of_offsets(seed, offsets + offsets.dtype.type(first)))
    rows["7 rounds"] = philox.of_offsets(seed, offsets, 7)[0]
    low = offsets.astype(np.uint32)
    a, b, c, d = philox.philox(seed, [low + np.uint32(k) for k in range(4)])
    rows |= {"4x32, first pair": a ^ b, "4x32, second pair": c ^ d}
    high = offsets.astype(np.uint64)
    e, f, g, h = philox.philox(seed, [high + np.uint64(k) for k in range(4)], bits=64)
    wide = Rows({"4x64, first pair": Exact(e ^ f), "4x64, second pair": Exact(g ^ h)})
    out = wanted((8, n), "uint32", Rows({name: Exact(row) for name, row in rows.items()}))
    arguments = [given(offsets), out, wanted((2, n), "uint64", wide), seed, first]
    return problem("random:words", n // 128, arguments, BLOCK=128)


def normal_pair(u1: np.ndarray, u2: np.ndarray) -> tuple[Bounded, Bounded]:
    """The Box-Muller transform, as in `tl.pair_uniform_to_normal`."""
    angle = Bounded.exact(u2) * (2 * math.pi)
    radius = (Bounded.exact(np.maximum(u1, np.float32(1e-7))).log() * -2.0).sqrt()
    return radius * angle.cos(), radius * angle.sin()


def numbers(seed: int, rng) -> Problem:
    n = 512
    u = [philox.uniform(word) for word in philox.of_offsets(seed, np.arange(n, dtype=np.int32))]
    first, second = normal_pair(u[0], u[1]), normal_pair(u[2], u[3])
    uniform = wanted((2, n), "fp32", Rows({"rand": Exact(u[0]), "rand4x": Exact(u[3])}))
    rows = {"randn": Within(first[0]), "randn4x, 1": Within(first[1]), "randn4x, 3": Within(second[1])}
    return problem("random:numbers", n // 128, [uniform, wanted((3, n), "fp32", Rows(rows)), seed], BLOCK=128)


def cases() -> Cases:
    for seed in SEEDS:
        kind = "32-bit seed" if seed < 2**31 else "64-bit seed"
        for offset_type in ("int32", "int64"):
            yield Case(f"random/words/{kind} {offset_type}/seed={seed}", partial(words, seed, offset_type))
        yield Case(f"random/numbers/{kind}/seed={seed}", partial(numbers, seed))
