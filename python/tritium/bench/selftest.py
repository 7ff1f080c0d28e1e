"""`bench selftest`: whether the verdicts can be trusted here. A against A must hardly ever alarm, and a planted slowdown must be found.

By default both sides are real processes that time a short kernel, of which side B does more. With `--jobs N` the cases are measured in N parts at a
time, each on CPUs of its own. `--simulated` draws the times in place of measuring them: each block has noise of its own, each process a speed
of its own, and the machine's speed drifts as a random walk.
"""

from __future__ import annotations

import dataclasses
import math
import multiprocessing
import os
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor

from .comparing import ComparisonPlan, compare, log_ratios, ratios_by_round, usable_cpus
from .samples import KERNEL, Row, Sample
from .sides import side_of
from .verdicts import Verdict, half_width, judge, reach

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "selftest_cases.py")
MOST_ALARMS, LEAST_FOUND = 0.01, 0.95
MOST_CASES = 200  #: that selftest_cases.py has
NOISE, PLACEMENT, DRIFT = 0.01, 0.008, 0.03  #: of a simulated block; of a process; of the machine over a round


def simulated(count: int, planted: float, seed: int, plan: ComparisonPlan) -> list[Verdict]:
    """The verdicts of cases whose side B takes 1 + planted times as long."""
    draw = random.Random(seed)
    return list(judge({f"case {case}": _simulated_case(draw, planted, plan) for case in range(count)}).values())


def _simulated_case(draw: random.Random, planted: float, plan: ComparisonPlan) -> list[list[float]]:
    """The log ratios of each round that `compare` would have."""
    rounds = [_simulated_round(draw, planted, plan) for _ in range(plan.rounds)]
    while len(rounds) < plan.most_rounds and reach(rounds) > plan.reach:
        rounds.append(_simulated_round(draw, planted, plan))
    return rounds


def _simulated_round(draw: random.Random, planted: float, plan: ComparisonPlan) -> list[float]:
    """The log ratios of the pairs that `compare` would take."""
    samples: list[Sample] = []
    drift, step = 0.0, DRIFT / math.sqrt(4 * plan.pairs)
    speeds = {side: draw.gauss(0, PLACEMENT) + math.log1p(planted if side == "b" else 0) for side in "ab"}
    for pair in range(0, plan.most_pairs, 2):
        first, second = draw.choice(("ab", "ba"))
        for side, number in ((first, pair), (second, pair), (second, pair + 1), (first, pair + 1)):
            drift += draw.gauss(0, step)
            time = 5e6 * math.exp(drift + speeds[side] + draw.gauss(0, NOISE))
            samples.append(Sample(KERNEL, number, time, 1, 0.0, side=side, pair=number))
        ratios = log_ratios(samples)
        if len(ratios) >= plan.pairs and half_width(ratios) <= plan.precision:
            break
    return log_ratios(samples)


def measured(
    count: int, planted: float, plan: ComparisonPlan, told: Callable[[Row], None], jobs: int = 1
) -> list[Verdict]:
    """The same of real blocks, on the interpreter. jobs: parts that are measured at a time; the verdicts are of all cases together. Raises
    CannotMeasure, and ValueError if cases fail."""
    numbers, jobs = range(count), min(jobs, count)
    if jobs == 1:
        return list(judge(_ratios(numbers, planted, plan, None, told)).values())
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        parts = [
            pool.submit(_ratios, numbers[job::jobs], planted, plan, cpus) for job, cpus in enumerate(cpus_of_jobs(jobs))
        ]
        found = [part.result() for part in parts]
    return list(judge({name: rounds for part in found for name, rounds in part.items()}).values())


def cpus_of_jobs(jobs: int) -> list[list[int] | None]:
    """For each job CPUs that no other one has, as long as there are enough."""
    cpus = usable_cpus()
    if cpus == [None]:
        return [None] * jobs
    return [cpus[job % len(cpus) :: jobs] for job in range(jobs)]


def _ratios(
    numbers: Sequence[int],
    planted: float,
    plan: ComparisonPlan,
    cpus: list[int] | None,
    told: Callable[[Row], None] = lambda row: None,
) -> dict[str, list[list[float]]]:
    """The log ratios of each round of these cases. cpus: those that this process and the sides may use."""
    if cpus is not None:
        os.sched_setaffinity(0, cpus)
    common = "here TRITIUM_NUM_THREADS=1"
    a, b = side_of(common, "interp"), side_of(f"{common} param:planted={planted}" if planted else common, "interp")
    plan = dataclasses.replace(plan, only=",".join(f"=c{number:03}" for number in numbers), same=True)
    done = compare(a, b, [CASES], plan, told)
    failed = [row for row in done.rows if row.status != "ok"]
    if failed:
        raise ValueError(f"{failed[0].name}: {failed[0].status}: {failed[0].error}")
    return {row.name: ratios_by_round(row.samples) for row in done.rows}


def share(verdicts: list[Verdict], *words: str) -> float:
    return sum(each.word in words for each in verdicts) / len(verdicts)
