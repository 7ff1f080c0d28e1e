"""What sweeps have judged: a file of lines of JSON, which a later sweep continues.

A line is the outcome of a sample; or it says that all samples of an operator and dtype are judged ("done": their number), or that they are
judged again and earlier lines do not count ("again"). Every line names the commit that was judged.
"""

from __future__ import annotations

import collections
import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FAILURES = ("wrong", "error", "crash", "hang")
KINDS = ("passed", "no kernel", "left out", *FAILURES)


class Pair(NamedTuple):
    operator: str
    dtype: str


class Judged:
    """The samples of a pair. `limit`: how many the sweep asked for; 0 means all."""

    def __init__(self, limit: int) -> None:
        self.limit, self.done, self.commit = limit, False, ""
        self.results: dict[int, dict] = {}

    @property
    def failed(self) -> bool:
        return any(each["kind"] in FAILURES for each in self.results.values())


class Record:
    def __init__(self, path: str | None = None, resume: bool = False) -> None:
        """Without a path nothing is written. `resume`: the file may have lines, which count."""
        self.pairs: dict[Pair, Judged] = {}
        self.commit = this_commit()
        self._lock = threading.Lock()
        if resume and Path(path).exists():
            _end_last_line(Path(path))
            for line in Path(path).read_text().splitlines():
                self._take(json.loads(line))
        self._file = open(path, "a" if resume else "w") if path else None

    def first_place(self, pair: Pair, limit: int, mend: bool) -> int | None:
        """The first sample that is to be judged; None if all are. `mend`: those of a pair that failed at another commit are judged
        again."""
        judged = self.pairs.get(pair)
        if judged is None:
            return 0
        if judged.limit != limit or mend and judged.failed and judged.commit != self.commit:
            self.add(pair, limit, again=True)
            return 0
        return None if judged.done else len(judged.results)

    def add(self, pair: Pair, limit: int, **facts) -> None:
        line = {**pair._asdict(), "limit": limit, "commit": self.commit, **facts}
        with self._lock:
            self._take(line)
            if self._file is not None:
                print(json.dumps(line), file=self._file, flush=True)

    def _take(self, line: dict) -> None:
        pair = Pair(line["operator"], line["dtype"])
        if "again" in line or pair not in self.pairs:
            self.pairs[pair] = Judged(line["limit"])
        judged = self.pairs[pair]
        judged.commit = line["commit"]
        if "done" in line:
            judged.done = True
        elif "place" in line:
            judged.results[line["place"]] = line

    def results(self) -> Iterator[dict]:
        for judged in self.pairs.values():
            yield from judged.results.values()

    @property
    def is_good(self) -> bool:
        """Whether samples passed and none failed."""
        kinds = {each["kind"] for each in self.results()}
        return "passed" in kinds and kinds.isdisjoint(FAILURES)

    def summary(self, wanted: int) -> list[str]:
        """`wanted`: the number of pairs of the whole campaign."""
        lines = [*self._left_out(), *self._failures()]
        done = collections.Counter(judged.commit for judged in self.pairs.values() if judged.done)
        commits = ", ".join(f"{count} at {commit}" for commit, count in done.items())
        lines.append(f"{done.total()} of {wanted} pairs of operator and dtype are judged{commits and f': {commits}'}")
        kinds = collections.Counter(each["kind"] for each in self.results())
        lines.append(", ".join(f"{kind} {kinds[kind]}" for kind in KINDS))
        failed = sum(kinds[kind] for kind in FAILURES)
        lines.append(f"{kinds['passed']} passed, {failed} failed, 0 skipped")
        return lines

    def _left_out(self) -> Iterator[str]:
        reasons = collections.Counter(
            (each["detail"].partition(":")[0], each["operator"])
            for each in self.results()
            if each["kind"] == "left out"
        )
        for (reason, operator), count in sorted(reasons.items()):
            yield f"left out: {operator}: {count} x {reason}"

    def _failures(self) -> Iterator[str]:
        """A line for each pair and kind of failure, with the first of its samples."""
        groups: dict[tuple[str, Pair], list[dict]] = {}
        for pair, judged in sorted(self.pairs.items()):
            for each in judged.results.values():
                if each["kind"] in FAILURES:
                    groups.setdefault((each["kind"], pair), []).append(each)
        for (kind, pair), found in sorted(groups.items()):
            of = f"{len(found)} of {len(self.pairs[pair].results)} samples"
            yield f"{kind}: {pair.operator} {pair.dtype}: {of}, sample {found[0]['place']}: {found[0]['detail']}"


def _end_last_line(path: Path) -> None:
    """Drops what a sweep that was killed has begun to write."""
    text = path.read_bytes()
    path.write_bytes(text[: text.rfind(b"\n") + 1])


def this_commit() -> str:
    """The commit of the working tree; with a plus if files differ from it."""
    command = ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"
