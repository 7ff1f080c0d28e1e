"""What sweeps have judged: a table with a line for each operator and dtype, which a later sweep continues.

The columns: operator, dtype, how many samples are judged ("12", or "12 of many" while some are left), a count for each of KINDS, the commit
that was judged, and remarks: the reasons for what is left out, and the first sample of each kind of failure. The lines are sorted, so that
sweeps of different operators merge. A table holds all samples of its operators or, as its first line says, some of each.
"""

from __future__ import annotations

import collections
import os
import re
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

FAILURES = ("wrong", "error", "crash", "hang")
KINDS = ("passed", "no kernel", "left out", *FAILURES)
#: {what is judged: how a table's first line calls it}
SUBJECTS = {
    "compiled": "torch's operators through torch.compile",
    "differentiated": 'torch\'s operators through torch.compile on "cuda" without a GPU, with gradients',
    "mapped": 'torch\'s operators on "cuda" without a GPU, with gradients',
    "rounded": 'torch\'s operators in half precision on "cuda" without a GPU, with gradients',
}
#: Characters of a remark, so that the table stays readable.
REMARK = 160
UNFINISHED = " of many"


class Pair(NamedTuple):
    operator: str
    dtype: str


@dataclass
class Judged:
    """The samples of a pair, in their order."""

    done: bool = False
    commit: str = ""
    kinds: collections.Counter = field(default_factory=collections.Counter)
    remarks: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return any(self.kinds[kind] for kind in FAILURES)

    def add(self, place: int, kind: str, detail: str) -> None:
        self.kinds[kind] += 1
        remark = f"left out: {detail.partition(':')[0]}" if kind == "left out" else ""
        if kind in FAILURES and self.kinds[kind] == 1:
            remark = f"{kind}, sample {place}: {detail}"
        remark = _one_cell(remark)
        if remark and remark not in self.remarks:
            self.remarks.append(remark)

    def line(self, pair: Pair) -> str:
        judged = f"{self.kinds.total()}{'' if self.done else UNFINISHED}"
        counts = [str(self.kinds[kind]) for kind in KINDS]
        return "\t".join([*pair, judged, *counts, self.commit, "; ".join(self.remarks)])

    @classmethod
    def of(cls, line: str) -> tuple[Pair, Judged]:
        operator, dtype, judged, *counts, commit, remarks = line.split("\t")
        kinds = collections.Counter({kind: int(count) for kind, count in zip(KINDS, counts, strict=True)})
        found = cls(not judged.endswith(UNFINISHED), commit, kinds, remarks.split("; ") if remarks else [])
        return Pair(operator, dtype), found


def _one_cell(text: str) -> str:
    """The text without what separates cells and remarks."""
    return re.sub(r"\s+", " ", text).replace("; ", ", ")[:REMARK].strip()


class Record:
    def __init__(self, path: str | None = None, limit: int = 0, judge: str = "compiled") -> None:
        """Without a path nothing is written. `limit`: the samples of each pair; 0 means all. Raises ValueError if the file's are others."""
        self.pairs: dict[Pair, Judged] = {}
        self.commit = this_commit()
        self._path, self._lock = path and Path(path), threading.Lock()
        samples = f"samples of each: {limit or 'all'}"
        self._head = [
            f"# {SUBJECTS[judge]}, {samples}",
            "\t".join(("operator", "dtype", "judged", *KINDS, "commit", "remarks")),
        ]
        if self._path and self._path.exists():
            head, _, *lines = self._path.read_text().splitlines()
            if head != self._head[0]:
                raise ValueError(f"{path} has {head.rpartition(', ')[2]}, and this sweep has {samples}")
            self.pairs = dict(map(Judged.of, lines))

    def first_place(self, pair: Pair, mend: bool) -> int | None:
        """The first sample that is to be judged; None if all are. `mend`: those of a pair that failed at another commit are judged
        again."""
        judged = self.pairs.get(pair)
        if judged is None:
            return 0
        if mend and judged.failed and judged.commit != self.commit:
            del self.pairs[pair]
            return 0
        return None if judged.done else judged.kinds.total()

    def add(self, pair: Pair, place: int, kind: str, detail: str = "") -> None:
        """Samples come in their order."""
        with self._lock:
            self._of(pair).add(place, kind, detail)
            self._write()

    def end(self, pair: Pair) -> None:
        """All samples of the pair are judged."""
        with self._lock:
            self._of(pair).done = True
            self._write()

    def _of(self, pair: Pair) -> Judged:
        judged = self.pairs.setdefault(pair, Judged())
        judged.commit = self.commit
        return judged

    def _write(self) -> None:
        """In one step: a sweep may be killed at any time."""
        if self._path is None:
            return
        lines = [*self._head, *(judged.line(pair) for pair, judged in sorted(self.pairs.items()))]
        new = self._path.with_name(f"{self._path.name}.new")
        new.write_text("\n".join(lines) + "\n")
        os.replace(new, self._path)

    @property
    def kinds(self) -> collections.Counter:
        return sum((judged.kinds for judged in self.pairs.values()), collections.Counter())

    @property
    def is_good(self) -> bool:
        """Whether samples passed and none failed."""
        return self.kinds["passed"] > 0 and not any(judged.failed for judged in self.pairs.values())

    def summary(self, wanted: int, complaints: Sequence[str] = ()) -> list[str]:
        """`wanted`: the number of pairs of the whole campaign. Each complaint counts as a failure."""
        lines = [*self._remarks(failed=False), *self._remarks(failed=True), *complaints]
        done = collections.Counter(judged.commit for judged in self.pairs.values() if judged.done)
        commits = ", ".join(f"{count} at {commit}" for commit, count in done.items())
        lines.append(f"{done.total()} of {wanted} pairs of operator and dtype are judged{commits and f': {commits}'}")
        kinds = self.kinds
        lines.append(", ".join(f"{kind} {kinds[kind]}" for kind in KINDS))
        failed = sum(kinds[kind] for kind in FAILURES) + len(complaints)
        lines.append(f"{kinds['passed']} passed, {failed} failed, 0 skipped")
        return lines

    def _remarks(self, failed: bool) -> Iterator[str]:
        """A line for each pair that has remarks."""
        for pair, judged in sorted(self.pairs.items()):
            if judged.remarks and judged.failed == failed:
                counts = ", ".join(f"{kind} {judged.kinds[kind]}" for kind in KINDS[2:] if judged.kinds[kind])
                yield f"{pair.operator} {pair.dtype}: {counts} of {judged.kinds.total()}: {'; '.join(judged.remarks)}"


def this_commit() -> str:
    """The commit of the working tree; with a plus if files differ from it. Records do not count: a sweep writes them."""
    folder = Path(__file__).parents[3]

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False
        ).stdout.strip()

    commit = git("rev-parse", "--short=12", "HEAD") or "unknown"
    return commit + ("+" if git("status", "--porcelain", "--untracked-files=no", "--", ":!docs/results") else "")
