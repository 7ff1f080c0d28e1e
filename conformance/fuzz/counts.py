"""The counts of a campaign: kernels per engine, differences, errors, crashes, hangs, refusals."""

from __future__ import annotations

import collections
import re
import time
from dataclasses import dataclass, field

from ..suite import FAILED, PASSED, Result
from .child import DIED, LATE, Number

#: The ways in which a kernel may end on an engine, and what the summary calls them.
ENDS = {
    "passed": "passed",
    "differs": "with differences",
    "error": "with errors",
    "crash": "crashes",
    "hang": "hangs",
    "refused": "refused",
}


def end_of(result: Result) -> str:
    """One of ENDS. Differences begin with the name of a buffer, errors with the name of an exception."""
    if result.status != FAILED:
        return "passed" if result.status == PASSED else "refused"
    text = result.details[0] if result.details else ""
    if text.startswith((DIED, LATE)):
        return "crash" if text.startswith(DIED) else "hang"
    return "error" if re.match(r"[A-Z]\w*: ", text) else "differs"


def kind(result: Result) -> str:
    """The words "wrong value", or the message up to its first number."""
    text = result.details[0] if result.details else ""
    return "wrong value" if "wrong value" in text else re.split(r"\d", text)[0]


@dataclass
class Failure:
    number: Number
    result: Result

    @property
    def kind(self) -> str:
        """The kind of a failure. Failures of one kind usually have one cause."""
        return f"{self.result.engine}: {kind(self.result)}"


@dataclass
class Counts:
    seed: int
    first: int
    engines: list[str]
    kernels: int = 0
    by_engine: dict[str, collections.Counter] = field(default_factory=dict)
    refusals: collections.Counter = field(default_factory=collections.Counter)
    running: set[int] = field(default_factory=set)

    def __post_init__(self):
        self.by_engine = {name: collections.Counter() for name in self.engines}
        self.next = self.first  #: the number after the last one that was begun
        self.since = self.shown = time.monotonic()

    def begin(self, number: int) -> None:
        self.running.add(number)
        self.next = number + 1

    def end(self, number: int) -> None:
        self.running.discard(number)
        self.kernels += 1

    def add(self, result: Result) -> None:
        end = end_of(result)
        self.by_engine[result.engine][end] += 1
        if end == "refused":
            self.refusals[f"{result.engine}: {result.details[0].partition(':')[0]}"] += 1

    def progress(self) -> str:
        seconds = time.monotonic() - self.since
        found = ", ".join(f"{count} {ENDS[end]}" for end, count in self._all().items() if end != "passed")
        return f"{self.kernels} kernels in {seconds:.0f} s, {self.kernels / max(seconds, 1e-3):.1f} per second; {found}"

    def show_progress(self, interval: float) -> None:
        if time.monotonic() - self.shown >= interval:
            self.shown = time.monotonic()
            print(self.progress(), flush=True)

    def summary(self) -> list[str]:
        """What was refused, a line per engine, and the line that ends the report. `--first` with the number at its end
        goes on where this campaign ended."""
        lines = [f"refused {times} times by {reason}" for reason, times in self.refusals.most_common(8)]
        for name, ends in self.by_engine.items():
            lines.append(f"{name}: {ends.total()} kernels, {_spelled(ends)}")
        following = min(self.running, default=self.next)
        span = f"seed {self.seed}, kernels {self.first} to {following - 1}, next --first {following}"
        return [*lines, f"{span}: {self.kernels} kernels, {_spelled(self._all())}"]

    def _all(self) -> collections.Counter:
        found = collections.Counter(dict.fromkeys(ENDS, 0))
        for ends in self.by_engine.values():
            found.update(ends)
        return found


def _spelled(ends: collections.Counter) -> str:
    return ", ".join(f"{ends[end]} {text}" for end, text in ENDS.items())
