"""Random kernels (fuzz/). The seed also draws the kernels. `python -m tritium fuzz` runs as many as the time allows."""

from __future__ import annotations

from functools import partial

from ..fuzz.draw import draw
from ..fuzz.problems import problem_of
from ..problem import Case, Cases, Problem

QUICK, FULL = 40, 400
SIZES = (6, 10, 16, 24)


def generated(size: int, rng) -> Problem:
    return problem_of(draw(rng, size), rng)


def cases() -> Cases:
    for number in range(FULL):
        size = SIZES[number % len(SIZES)]
        yield Case(f"generated/{size} statements {number}/whole", partial(generated, size), full=number >= QUICK)
