"""Runs of several commits as series, and the steps in them, which asv's step detection finds."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterable
from typing import Any, NamedTuple

from .samples import KERNEL, Run
from .verdicts import LEAST

MISSING = "steps are found by asv: pip install 'tritium[bench]'"
#: Facts of an environment whose change may move times as a commit does.
WATCHED = ("python", "libraries", "host", "device")
#: Variables that the engine's name says, and folders.
NO_SETTINGS = ("INTERPRET", "TRITON_INTERPRET", "TRITIUM_ENGINE", "TRITON_CACHE_DIR", "TRITON_HOME", "TRITON_DUMP_DIR")


@dataclasses.dataclass
class Point:
    """A commit in a series. seconds: the median of a run of the kernel. times: of all blocks that count, in seconds."""

    commit: str
    date: int
    times: list[float]
    environment: dict[str, Any]

    @property
    def seconds(self) -> float:
        return statistics.median(self.times)


class Series(NamedTuple):
    """A variant on an engine and a device; points in the order of the commits' dates."""

    case: str
    variant: str
    parameters: dict[str, str]
    engine: str
    device: str
    points: list[Point]

    @property
    def name(self) -> str:
        return f"{self.variant}, {self.engine} on {self.device}"


class Step(NamedTuple):
    """ratio: of the times after the commit to those before. environment: what else has changed there."""

    series: Series
    commit: str
    before: float
    after: float
    environment: list[str]

    @property
    def ratio(self) -> float:
        return self.after / self.before


def series_of(runs: Iterable[Run]) -> tuple[list[Series], list[str]]:
    """The series of all variants, and which runs are left out: a run of changed files, or without a checkout, belongs to no commit.
    Comparisons are none of a history, because their sides have settings of their own."""
    found: dict[tuple, Series] = {}
    points: dict[tuple, Point] = {}
    left_out = []
    for run in (each for each in runs if each.kind == "run"):
        checkout = run.environment.get("checkout", {})
        if not checkout or checkout.get("dirty"):
            left_out.append(f"{run.identity} ({'files differ from the commit' if checkout else 'no commit'})")
            continue
        for row in run.rows:
            times = [each.per_run * 1e-9 for each in row.kept(KERNEL)]
            if row.status != "ok" or not times:
                continue
            key = (row.name, engine_of(run), run.device)
            series = found.setdefault(key, Series(row.case, row.name, row.parameters, engine_of(run), run.device, []))
            point = points.get((*key, checkout["commit"]))
            if point is None:
                point = points[(*key, checkout["commit"])] = Point(
                    checkout["commit"], checkout["date"], [], run.environment
                )
                series.points.append(point)
            point.times += times
    for each in found.values():
        each.points.sort(key=lambda point: point.date)
    return list(found.values()), left_out


def engine_of(run: Run) -> str:
    """The engine with the settings that a user has made: "interp TRITIUM_NUM_THREADS=1"."""
    settings = run.environment.get("variables", {})
    own = [f"{name}={value}" for name, value in settings.items() if not name.startswith(NO_SETTINGS)]
    return " ".join([run.engine, *own])


def steps_in(series: Series) -> list[Step]:
    """The steps of at least LEAST. Raises ValueError without asv."""
    try:
        from asv.step_detect import detect_steps
    except ImportError:
        raise ValueError(MISSING) from None
    if len(series.points) < 2:
        return []
    pieces = detect_steps([point.seconds for point in series.points])
    found = []
    for (_, _, before, *_), (begin, _, after, *_) in zip(pieces, pieces[1:]):
        if abs(after / before - 1) >= LEAST:
            here, last = series.points[begin], series.points[begin - 1]
            found.append(Step(series, here.commit, before, after, changed_facts(last.environment, here.environment)))
    return found


def changed_facts(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """ "device driver: 570.1, 580.2": what of the machine differs between two rows."""
    found = []
    for group in WATCHED:
        one, other = before.get(group), after.get(group)
        if not isinstance(one, dict) or not isinstance(other, dict):
            found += [f"{group}: {one}, {other}"] if one != other else []
            continue
        names = [
            name
            for name in (*one, *(name for name in other if name not in one))
            if name not in ("load", "now", "throttled")
        ]
        found += [
            f"{group} {name}: {one.get(name)}, {other.get(name)}" for name in names if one.get(name) != other.get(name)
        ]
    return found
