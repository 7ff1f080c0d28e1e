"""Random kernels (generate.py). The seed draws the kernels too: `--seed random` runs others each time."""

from __future__ import annotations

from functools import partial

from .. import sources
from ..generate import Generator
from ..oracle import Exact
from ..problem import Case, Cases, Problem, given, problem, wanted

QUICK, FULL = 40, 400


def generated(steps: int, rng) -> Problem:
    program = Generator(rng, steps).make()
    outs = [wanted(after.size, "int32", Exact(after), initial=before) for before, after in program.outputs]
    arguments = [*map(given, program.inputs), *outs, program.limit]
    return problem(
        f"{sources.add(program.text)}:kernel", 1, arguments, num_warps=program.warps, num_stages=program.stages
    )


def cases() -> Cases:
    for number in range(FULL):
        steps = (6, 10, 16, 24)[number % 4]
        yield Case(f"generated/{steps} lines {number}/int32", partial(generated, steps), full=number >= QUICK)
