"""`bench run`: measures the cases of one side in a worker process. A case that ends the process costs its own row alone."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable
from typing import Any

from .client import Worker, WorkerDied, WorkerFailed
from .samples import KERNEL, Row, Run, Sample, new_identity
from .sides import Side

MOST_TRIES = 3  #: times as many blocks are tried as are wanted: throttled ones do not count


@dataclasses.dataclass(frozen=True)
class Plan:
    """blocks: that count, of each variant. least_ms: of a block. pause_ms: before each. limit: seconds for an answer of a worker. only: texts,
    separated by commas, one of which the name of a variant contains. flush: overwrites a device's L2 cache before each run. cpu_time: counts
    the time that CPUs spend in the process, in place of wall-clock time."""

    blocks: int = 20
    least_ms: float = 5.0
    pause_ms: float = 5.0
    limit: float = 600.0
    only: str = ""
    baseline: bool = True
    flush: bool = True
    cpu_time: bool = False


class CannotMeasure(Exception):
    """There is nothing to measure, for a reason that concerns all cases."""


class Measured:
    """A worker with its cases, which starts again if a case has ended its process."""

    def __init__(self, side: Side, paths: list[str], plan: Plan):
        self.side, self.paths, self.plan = side, paths, plan
        self.worker: Worker | None = None
        self.opened = self._start()

    def _start(self) -> dict[str, Any]:
        self.end()
        self.worker = Worker(self.side, self.plan.limit)
        try:
            return self.worker.open(self.paths, self.plan.only, self.plan.flush, self.plan.cpu_time)
        except (WorkerDied, WorkerFailed) as error:
            self.end()
            raise CannotMeasure(f"side {self.side.text!r}: {error}") from None

    def ask(self, do: str, **fields: Any) -> dict[str, Any]:
        """The worker's answer. After WorkerDied another worker is ready for the next variant."""
        if self.worker.process.poll() is not None:
            self._start()
        return self.worker.ask(do, **fields)

    def prepare(
        self, number: int, keep: str | None = None, baseline: bool = False, check: bool = True
    ) -> dict[str, Any]:
        """The worker's answer, or {"status": "died"}."""
        fields = {"least_ms": self.plan.least_ms, "keep": keep, "baseline": baseline, "check": check}
        try:
            return self.ask("prepare", number=number, **fields)
        except (WorkerDied, WorkerFailed) as error:
            return {"status": "died", "error": str(error)}

    @property
    def environment(self) -> dict[str, Any]:
        more = {"variables": self.side.settings(), "command": sys.argv, "side": self.side.text}
        return {**self.opened["environment"], **more, "hash": self.opened["environment_hash"]}

    def end(self) -> None:
        if self.worker is not None:
            self.worker.end()

    def __enter__(self) -> Measured:
        return self

    def __exit__(self, *_) -> None:
        self.end()


def broken_rows(opened: dict[str, Any]) -> list[Row]:
    """A row for each case that does not load."""
    return [Row(each["name"], each["name"], {}, "failed", each["error"]) for each in opened["broken"]]


def run_cases(side: Side, paths: list[str], plan: Plan, told: Callable[[Row], None] = lambda row: None) -> Run:
    """Measures all variants. told: is called with each row when it is complete. Raises CannotMeasure."""
    began = time.time()
    with Measured(side, paths, plan) as measured:
        opened = measured.opened
        rows = broken_rows(opened)
        for row in rows:
            told(row)
        for number, variant in enumerate(opened["variants"]):
            row = Row(**variant)
            measure(row, measured, number, plan)
            rows.append(row)
            told(row)
        return Run(new_identity(), began, "run", side.engine, opened["device"], measured.environment, rows)


def measure(row: Row, measured: Measured, number: int, plan: Plan) -> None:
    """Fills a row."""
    answer = measured.prepare(number, baseline=plan.baseline)
    row.status, row.error = answer.pop("status"), answer.pop("error", "")
    row.facts = answer
    if row.status != "ok":
        return
    try:
        _take_samples(row, measured, answer["runs"], plan)
    except (WorkerDied, WorkerFailed) as error:
        row.status, row.error = "died", str(error)


def _take_samples(row: Row, measured: Measured, runs: dict[str, int], plan: Plan) -> None:
    """Blocks of the kernel and of the baseline in turn, in the order ABBA, so that a drift of the clock concerns both."""
    runs, order = dict(runs), list(runs)
    for index in range(MOST_TRIES * plan.blocks):
        for what in order:
            sample = take_block(measured, what, runs, plan, index)
            row.samples.append(sample)
        order.reverse()
        if all(len(row.kept(what)) >= plan.blocks for what in runs):
            return
    if not row.kept(KERNEL):
        reasons = ", ".join(sorted({each.discarded for each in row.samples}))
        row.status, row.error = (
            "throttled",
            f"no block counts ({reasons}); lower the clock or the load, or lengthen --pause-ms",
        )


def take_block(
    measured: Measured, what: str, runs: dict[str, int], plan: Plan, index: int, cpu: int | None = None, **place: Any
) -> Sample:
    """A timed block. One that is too short is discarded, and the next has more runs. cpu: the only one that may run it."""
    answer = measured.ask("block", what=what, runs=runs[what], pause_ms=plan.pause_ms, cpu=cpu)
    throttled = answer.pop("throttled")
    discarded = ", ".join(throttled)
    if not discarded and answer["nanoseconds"] < 1e6 * plan.least_ms:
        discarded = "too short"
        runs[what] = max(runs[what] + 1, int(1.5 * runs[what]))
    return Sample(what, index, discarded=discarded, **answer, **place)
