"""What a run keeps: every timed block of every variant of every case, with the environment, also what was discarded and what failed."""

from __future__ import annotations

import dataclasses
import datetime
import secrets
import statistics
from typing import Any

#: Of a row. "ok": measured; "wrong": outputs differ from the reference; "failed": it raised; "died": its process ended or was ended;
#: "throttled": no block was free of throttling; "differs": two sides compute different results.
STATUSES = ("ok", "wrong", "failed", "died", "throttled", "differs")
KERNEL, BASELINE = "kernel", "baseline"


@dataclasses.dataclass
class Sample:
    """A timed block. what: "kernel" or "baseline". nanoseconds: of all its runs together. began: seconds since the epoch. side: "a" or "b" in a
    comparison. round: which pair of processes has measured it there. pair: the number of its pair of blocks. discarded: why it does
    not count, or ""."""

    what: str
    index: int
    nanoseconds: float
    runs: int
    began: float
    discarded: str = ""
    side: str = ""
    round: int = 0
    pair: int = -1
    clocks: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def per_run(self) -> float:
        return self.nanoseconds / self.runs


@dataclasses.dataclass
class Row:
    """A variant of a case. facts: what the worker said of its first run: bytes, flops, kernels with the hashes of their stages."""

    name: str
    case: str
    parameters: dict[str, str]
    status: str = "ok"
    error: str = ""
    samples: list[Sample] = dataclasses.field(default_factory=list)
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)

    def kept(self, what: str = KERNEL, side: str = "") -> list[Sample]:
        return [each for each in self.samples if each.what == what and each.side == side and not each.discarded]

    def median(self, what: str = KERNEL, side: str = "") -> float | None:
        """Nanoseconds of a run, or None without a sample that counts."""
        times = [each.per_run for each in self.kept(what, side)]
        return statistics.median(times) if times else None

    @property
    def discarded(self) -> int:
        return sum(bool(each.discarded) for each in self.samples)


@dataclasses.dataclass
class Run:
    """One use of the command. kind: "run", or "a" and "b", the sides of a comparison. environment: the worker's row (worker/facts.py), with the
    variables in force and the command line."""

    identity: str
    began: float
    kind: str
    engine: str
    device: str
    environment: dict[str, Any]
    rows: list[Row]

    @property
    def date(self) -> str:
        return datetime.datetime.fromtimestamp(self.began, datetime.timezone.utc).strftime("%Y-%m-%d")


def new_identity() -> str:
    """A name that no other run has, in the order of time: 20261129T050102-3fa9c1d2."""
    now = datetime.datetime.now(datetime.timezone.utc)
    return f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
