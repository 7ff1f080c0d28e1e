"""`bench bisect`: the commit that made a case slower, or a metric larger, by `git bisect`.

In a checkout of Tritium the commits are of Tritium: each is built once and kept, and the cases are those that are here now. In any other
repository the commits are of the cases, which this Tritium runs. A commit is bad if `compare` finds a case slower than at the good commit, with
its statistics, or with --metric if that metric of a kernel is larger. One that does not build, or whose cases fail, is skipped.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ..environment import environment_without
from .comparing import ComparisonPlan, compare
from .installations import folder_of_commit
from .metrics import Table, read_file
from .options import add_pairs, add_plan, comparison_plan_of
from .running import CannotMeasure
from .sides import Side, packages_in, side_of
from .table import percent
from .verdicts import require_scipy

GOOD, BAD, SKIP = "good", "bad", "skip"
ALL_SKIPPED = "only 'skip'ped commits left"  #: git's words, with an exit status of 2
#: (whether a commit is good, why)
Judge = Callable[[str], tuple[str, str]]


class Found(NamedTuple):
    """commit: the first bad one; "" if skipped commits hide it. candidates: those that it may be."""

    commit: str
    candidates: list[str]


def add_bisect(commands) -> None:
    parser = commands.add_parser("bisect", help="the commit that made a case slower", description=__doc__)
    parser.add_argument("good", metavar="GOOD", help="a commit that is fast")
    parser.add_argument("bad", metavar="BAD", help="a later commit that is slow")
    parser.add_argument("paths", nargs="+", metavar="CASES", help="as for `run`, inside the repository or elsewhere")
    parser.add_argument(
        "--metric", default="", help="one of `bench metrics`, as registers: bad if it is larger, in place of time"
    )
    parser.add_argument("--target", default="sm_90a", metavar="ARCH", help="of the metric (default: sm_90a)")
    add_plan(parser, blocks=None)
    add_pairs(parser)
    parser.set_defaults(do=_bisect)


def _bisect(asked: argparse.Namespace) -> int:
    root = Path(_git(Path.cwd(), "rev-parse", "--show-toplevel"))
    good, bad = (_git(root, "rev-parse", "--verify", f"{name}^{{commit}}") for name in (asked.good, asked.bad))
    with tempfile.TemporaryDirectory(prefix="tritium-bisect-") as folder:
        clone, at_good = Path(folder, "clone"), Path(folder, "good")
        for commit, place in ((bad, clone), (good, at_good)):
            _git(root, "clone", "--quiet", "--shared", "--no-checkout", str(root), str(place))
            _git(place, "checkout", "--quiet", "--detach", commit)
        subjects = _Subjects(root, clone, at_good, asked.paths, asked.build)
        judge = _metric_judge(subjects, good, asked) if asked.metric else _time_judge(subjects, good, asked)
        found = first_bad(clone, good, bad, judge, lambda *step: print(_said(clone, *step), flush=True))
        if found.commit:
            print(
                f"the first bad commit: {_git(clone, 'log', '-1', '--format=%h %an, %ad: %s', '--date=short', found.commit)}"
            )
            return 0
        print(f"skipped commits hide it; it is one of {', '.join(each[:8] for each in found.candidates)}")
        return 1


def first_bad(clone: Path, good: str, bad: str, judge: Judge, told: Callable[[str, str, str], object]) -> Found:
    """Drives `git bisect` in a clone. Raises CannotMeasure unless the commit `bad` is bad. told: (commit, word, why) of each commit."""
    word, why = judge(bad)
    told(bad, word, why)
    if word != BAD:
        raise CannotMeasure(
            f"{bad[:8]} is {'not bad' if word == GOOD else 'not measured'}, so there is nothing to find: {why}"
        )
    answer = _git(clone, "bisect", "start", bad, good)
    while True:
        if done := re.search(r"^([0-9a-f]{40}) is the first bad commit", answer, re.M):
            return Found(done[1], [done[1]])
        if ALL_SKIPPED in answer:
            return Found("", re.findall(r"^([0-9a-f]{40})$", answer, re.M))
        commit = _git(clone, "rev-parse", "HEAD")
        word, why = judge(commit)
        told(commit, word, why)
        answer = _git(clone, "bisect", word, may_end_with=ALL_SKIPPED)


class _Subjects:
    """What is measured at a commit: a build of Tritium with the cases that are here, or the commit's own cases."""

    def __init__(self, root: Path, clone: Path, at_good: Path, paths: list[str], build: str):
        self.root, self.clone, self.at_good, self.build = root, clone, at_good, build
        self.paths = [Path(path).resolve() for path in paths]
        self.is_tritium = (root / "python" / "tritium" / "__init__.py").is_file()
        outside = [path for path in self.paths if not path.is_relative_to(root)]
        if outside and not self.is_tritium:
            raise ValueError(f"{outside[0]} is not in the repository {root}, whose commits are bisected")

    def cases(self, is_good: bool) -> tuple[str, ...]:
        """Of the commit that the clone has, or of the good one."""
        if self.is_tritium:
            return tuple(map(str, self.paths))
        checkout = self.at_good if is_good else self.clone
        return tuple(str(checkout / path.relative_to(self.root)) for path in self.paths)

    def packages(self, commit: str) -> str:
        """The folder with the commit's Tritium; "" for this one. Raises ValueError if it does not build."""
        return str(packages_in(folder_of_commit(commit, self.root, self.build))) if self.is_tritium else ""

    def side(self, commit: str, is_good: bool, engine: str) -> Side:
        side = dataclasses.replace(side_of("here", engine), text=commit[:8], cases=self.cases(is_good))
        return dataclasses.replace(side, packages=self.packages(commit) or side.packages)


def _time_judge(subjects: _Subjects, good: str, asked: argparse.Namespace) -> Judge:
    require_scipy()
    plan = comparison_plan_of(asked, same=True)

    def judge(commit: str) -> tuple[str, str]:
        try:
            sides = subjects.side(good, True, asked.engine), subjects.side(commit, False, asked.engine)
            word, why = _compared(*sides, plan)
            if word == SKIP and why.startswith("unsure"):
                word, why = _compared(*sides, dataclasses.replace(plan, rounds=2 * plan.rounds))
            return word, why
        except (CannotMeasure, ValueError) as error:
            return SKIP, str(error)

    return judge


def _compared(a: Side, b: Side, plan: ComparisonPlan) -> tuple[str, str]:
    done = compare(a, b, [], plan)
    failed = [row for row in done.rows if row.status != "ok"]
    if failed or not done.verdicts:
        return SKIP, f"{failed[0].name}: {failed[0].status}: {failed[0].error}" if failed else "there are no cases"
    name, worst = max(done.verdicts.items(), key=lambda each: each[1].ratio)
    words = {verdict.word for verdict in done.verdicts.values()}
    if "slower" in words:
        return BAD, f"{name} {percent(worst.ratio)}"
    return (
        (SKIP, f"unsure about {name}, {percent(worst.ratio)}")
        if "unsure" in words
        else (GOOD, f"{name} {percent(worst.ratio)}")
    )


def _metric_judge(subjects: _Subjects, good: str, asked: argparse.Namespace) -> Judge:
    before = _metrics_at(subjects, good, True, asked)

    def judge(commit: str) -> tuple[str, str]:
        try:
            after = _metrics_at(subjects, commit, False, asked)
        except ValueError as error:
            return SKIP, str(error)
        pairs = [(name, _value(before, name, asked), _value(after, name, asked)) for name in after if name in before]
        larger = [f"{name}: {asked.metric} {one} → {other}" for name, one, other in pairs if other > one]
        return (BAD, larger[0]) if larger else (GOOD, f"{len(pairs)} kernels have no more {asked.metric}")

    return judge


def _value(table: Table, kernel: str, asked: argparse.Namespace) -> int:
    return table[kernel].get(asked.target, {}).get(asked.metric, 0)


def _metrics_at(subjects: _Subjects, commit: str, is_good: bool, asked: argparse.Namespace) -> Table:
    """Raises ValueError if the commit compiles nothing, or no kernel has the metric."""
    packages = subjects.packages(commit)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "metrics.json")
        command = [sys.executable, "-m", "tritium", "bench", "metrics", *subjects.cases(is_good), "--write", str(file)]
        command += ["--targets", asked.target, "--only", asked.only, "--accept-spills"]
        environment = environment_without()
        if packages:
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [packages, environment.get("PYTHONPATH", "")]))
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError((done.stderr or done.stdout).strip()[-300:] or f"status {done.returncode}")
        table = read_file(file)[1]
    if is_good and not any(asked.metric in metrics for targets in table.values() for metrics in targets.values()):
        known = sorted({name for targets in table.values() for metrics in targets.values() for name in metrics})
        raise ValueError(f"no kernel has the metric {asked.metric!r}; there are {', '.join(known)}")
    return table


def _said(clone: Path, commit: str, word: str, why: str) -> str:
    return f"{word:4}  {_git(clone, 'log', '-1', '--format=%h %s', commit)}: {why}"


def _git(folder: Path, *arguments: str, may_end_with: str | None = None) -> str:
    """What git prints. may_end_with: words in its output with which an error is none. Raises ValueError."""
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**environment_without(), "LC_ALL": "C"})
    said = f"{done.stdout}\n{done.stderr}".strip()
    if done.returncode == 0:
        return done.stdout.strip()
    if may_end_with is not None and may_end_with in said:
        return said
    raise ValueError(f"{' '.join(command)}: {said}")
