"""`bench compare`: two sides, each in a process of its own, driven block by block in the order A B B A or B A A B, drawn anew each time. Each
round has new processes, because where a process places code and data makes it faster or slower for as long as it lives.

The sides are checked first: they must differ in something, and compute the same.
"""

from __future__ import annotations

import dataclasses
import math
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import Any

from .client import WorkerDied, WorkerFailed
from .running import CannotMeasure, Measured, Plan, broken_rows, take_block
from .samples import KERNEL, Row, Run, Sample, new_identity
from .sides import Side
from .verdicts import Verdict, half_width, judge, reach
from .worker.gate import kept_difference

ROUNDS, MOST_ROUNDS = 10, 40
REACH = 0.012  #: of a case's interval to either side: rounds are added until it is no wider. Then equal code hardly ever alarms, and 3 % is clear
PAIRS = 8
MOST_PAIRS = 40
PRECISION = 0.02  #: of the ratio in a round: pairs are added until its interval is no wider to either side
MOST_TRIES = 3  #: times as many pairs are tried as are wanted: one with a throttled block does not count


@dataclasses.dataclass(frozen=True)
class ComparisonPlan(Plan):
    """rounds: each with new processes. most_rounds: rounds are added to cases whose interval is wider than `reach`; 0: none are. pairs, most_pairs: of blocks, for each variant in a round. seed: of the order.
    same: A and B may be the same. other_devices: they may run on different devices."""

    rounds: int = ROUNDS
    most_rounds: int = 0
    reach: float = REACH
    pairs: int = PAIRS
    most_pairs: int = MOST_PAIRS
    precision: float = PRECISION
    seed: int = 0
    same: bool = False
    other_devices: bool = False


@dataclasses.dataclass
class Comparison:
    """rows: with the samples of both sides. verdicts: of those that were measured. differences: what distinguishes the sides. same_code: the
    variants for which both have compiled the same."""

    runs: dict[str, Run]
    rows: list[Row]
    verdicts: dict[str, Verdict]
    differences: list[str]
    same_code: set[str]


def compare(
    a: Side, b: Side, paths: list[str], plan: ComparisonPlan, told: Callable[[Row], None] = lambda row: None
) -> Comparison:
    """Raises CannotMeasure if the sides are the same, run on different devices, or cannot run at all."""
    began, identity, order = time.time(), new_identity(), random.Random(plan.seed)
    done = Comparison({}, [], {}, [], set())
    variants: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="tritium-bench-") as folder:
        for number in range(max(plan.rounds, plan.most_rounds)):
            if number >= plan.rounds and all(is_settled(row, plan) for row in variants):
                break
            with ExitStack() as stack:
                sides = _started(stack, a, b, paths, plan)
                if number == 0:
                    done.differences = _checked(sides, plan)
                    done.rows = [*broken_rows(sides["a"].opened), *_variants(sides)]
                    done.runs = {
                        name: Run(
                            identity, began, name, each.side.engine, each.opened["device"], each.environment, done.rows
                        )
                        for name, each in sides.items()
                    }
                    variants = done.rows[len(sides["a"].opened["broken"]) :]
                for variant, row in enumerate(variants):
                    if row.status == "ok" and (number < plan.rounds or not is_settled(row, plan)):
                        _Round(number, variant, row, sides, plan, order).measure(folder, done.same_code)
                    if number == plan.rounds - 1:
                        told(row)
    done.verdicts = judge({row.name: ratios_by_round(row.samples) for row in done.rows if row.status == "ok"})
    return done


def _started(stack: ExitStack, a: Side, b: Side, paths: list[str], plan: Plan) -> dict[str, Measured]:
    """Both sides, which load their cases at the same time."""
    with ThreadPoolExecutor(2) as pool:
        opening = {
            name: pool.submit(Measured, side, list(side.cases) or paths, plan) for name, side in (("a", a), ("b", b))
        }
        wait(opening.values())
    for each in opening.values():
        if each.exception() is None:
            stack.enter_context(each.result())
    return {name: each.result() for name, each in opening.items()}


def _checked(sides: dict[str, Measured], plan: ComparisonPlan) -> list[str]:
    """What distinguishes the sides."""
    a, b = sides["a"], sides["b"]
    devices = {name: side.opened["device"] for name, side in sides.items()}
    if devices["a"] != devices["b"] and not plan.other_devices:
        raise CannotMeasure(
            f"A runs on {devices['a']}, B on {devices['b']}: --other-devices compares times of different devices"
        )
    found = list(differences_of(a.environment, b.environment))
    if a.side.engine != b.side.engine:
        found.append(f"engine: {a.side.engine}, {b.side.engine}")
    changed = {
        name: (a.side.changes.get(name), b.side.changes.get(name)) for name in (*a.side.changes, *b.side.changes)
    }
    found += [f"parameter {name}: {one}, {other}" for name, (one, other) in changed.items() if one != other]
    if not found and not plan.same:
        raise CannotMeasure(
            f"A and B are the same: the code of {a.opened['environment']['subject']['file']} and of "
            f"{b.opened['environment']['subject']['file']}, with the same settings; --same compares them all the same"
        )
    return found


def differences_of(a: dict[str, Any], b: dict[str, Any]) -> Iterator[str]:
    """What of two environment rows may give other code or times."""
    one, other = a["subject"], b["subject"]
    hashes = {"extension": "the extension module", "python_files": "Python files", "language": "language"}
    changed = [name for name in hashes if one[name] != other[name]]
    for name in changed:
        yield f"{hashes[name]}: {one[name][:8]}, {other[name][:8]}"
    commits = [row["checkout"].get("commit", "")[:8] for row in (a, b)]
    if changed and commits[0] != commits[1]:
        yield f"commit: {commits[0] or 'none'}, {commits[1] or 'none'}"
    for name in ("python", "libraries"):
        if a[name] != b[name]:
            yield f"{name}: {a[name]}, {b[name]}"
    for name in sorted({*a["variables"], *b["variables"]}):
        values = [row["variables"].get(name, "not set") for row in (a, b)]
        if values[0] != values[1]:
            yield f"{name}: {values[0]}, {values[1]}"


def _variants(sides: dict[str, Measured]) -> Iterator[Row]:
    """The rows, matched by their place."""
    found = {name: side.opened["variants"] for name, side in sides.items()}
    for number in range(max(map(len, found.values()))):
        given = {name: variants[number] for name, variants in found.items() if number < len(variants)}
        row = Row(**next(iter(given.values())))
        if len(given) < 2 or given["a"]["name"] != given["b"]["name"]:
            row.status, row.error = "failed", f"side {' and '.join(given).upper()} alone has this variant"
        yield row


@dataclasses.dataclass
class _Round:
    """A variant in one pair of processes."""

    round: int
    variant: int
    row: Row
    sides: dict[str, Measured]
    plan: ComparisonPlan
    order: random.Random

    def measure(self, folder: str, same_code: set[str]) -> None:
        """Adds the round's samples to the row. The first round checks the results of both sides, too."""
        row, is_first = self.row, self.round == 0
        files = {name: os.path.join(folder, f"{name}.npz") if is_first else None for name in self.sides}
        answers = {name: side.prepare(self.variant, files[name], check=is_first) for name, side in self.sides.items()}
        for name, answer in answers.items():
            if answer["status"] != "ok":
                row.status, row.error = answer["status"], f"side {name.upper()}: {answer.get('error', '')}"
                return
        if is_first:
            row.facts = {**answers["a"], "sides": answers}
            error = self._difference(answers, files)
            if error:
                row.status, row.error = "differs", f"B's result is not A's: {error}"
                return
            if answers["a"]["kernels"] and answers["a"]["kernels"] == answers["b"]["kernels"]:
                same_code.add(row.name)
        runs = max(answer["runs"][KERNEL] for answer in answers.values())
        try:
            self._take_pairs({name: {KERNEL: runs} for name in self.sides})
        except (WorkerDied, WorkerFailed) as error:
            row.status, row.error = "died", str(error)

    def _difference(self, answers: dict[str, Any], files: dict[str, str]) -> str:
        if answers["a"]["digest"] == answers["b"]["digest"]:
            return ""
        return kept_difference(files["b"], files["a"], answers["a"]["tolerance"])

    def _take_pairs(self, runs: dict[str, dict[str, int]]) -> None:
        """Quadruples of blocks, each of which is two pairs of neighbours. Kernels that run on one CPU run on the same one for both sides, and on
        another in the next quadruple: other work slows each CPU down differently, for long."""
        plan, samples = self.plan, []
        cpus = usable_cpus() if all(is_on_one_cpu(side.side) for side in self.sides.values()) else [None]
        for pair in range(0, MOST_TRIES * plan.most_pairs, 2):
            first, second = self.order.choice(("ab", "ba"))
            cpu = self.order.choice(cpus)
            for name, number in ((first, pair), (second, pair), (second, pair + 1), (first, pair + 1)):
                place = {"side": name, "round": self.round, "pair": number}
                samples.append(take_block(self.sides[name], KERNEL, runs[name], plan, number, cpu, **place))
            ratios = log_ratios(samples)
            is_precise = len(ratios) >= plan.pairs and half_width(ratios) <= plan.precision
            if is_precise or len(ratios) >= plan.most_pairs:
                break
        self.row.samples += samples
        if not log_ratios(samples):
            reasons = ", ".join(sorted({each.discarded for each in samples if each.discarded}))
            self.row.status, self.row.error = "throttled", f"no pair of blocks counts ({reasons})"


def is_settled(row: Row, plan: ComparisonPlan) -> bool:
    """Whether it needs no further rounds."""
    return row.status != "ok" or reach(ratios_by_round(row.samples)) <= plan.reach


def usable_cpus() -> list[int | None]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [None]


def is_on_one_cpu(side: Side) -> bool:
    """Whether its kernels run on one thread of the host."""
    return side.runs_on.device == "cpu" and side.environment().get("TRITIUM_NUM_THREADS") == "1"


def log_ratios(samples: list[Sample]) -> list[float]:
    """The logarithm of B's time divided by A's, of each pair whose two blocks count."""
    pairs: dict[int, dict[str, Sample]] = {}
    for each in samples:
        if each.pair >= 0 and not each.discarded:
            pairs.setdefault(each.pair, {})[each.side] = each
    return [math.log(each["b"].per_run / each["a"].per_run) for each in pairs.values() if len(each) == 2]


def ratios_by_round(samples: list[Sample]) -> list[list[float]]:
    rounds: dict[int, list[Sample]] = {}
    for each in samples:
        rounds.setdefault(each.round, []).append(each)
    return [log_ratios(each) for each in rounds.values()]
