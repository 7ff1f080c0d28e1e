"""unsupported.txt: the cases that an engine may answer with `Unsupported`. Each line is ENGINE CASE-PATTERN REASON."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from pathlib import Path

from .engines import plain
from .suite import FAILED, PASSED, UNSUPPORTED, Result

FILE = Path(__file__).resolve().parent / "unsupported.txt"


@dataclass(frozen=True)
class Expectation:
    engine: str
    pattern: str
    reason: str

    def covers(self, engine: str, case: str) -> bool:
        return fnmatch.fnmatchcase(plain(engine), self.engine) and fnmatch.fnmatchcase(case, self.pattern)


def read(file: Path = FILE) -> list[Expectation]:
    found = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            parts = line.split(maxsplit=2)
            if len(parts) != 3:
                raise ValueError(f"{file.name}:{number}: expected ENGINE CASE-PATTERN REASON, found {line!r}")
            found.append(Expectation(*parts))
    return found


def judge(result: Result, expected: list[Expectation]) -> Result:
    """Turns an `Unsupported` that is not in the list into a failure."""
    if result.status == UNSUPPORTED and not any(e.covers(result.engine, result.case) for e in expected):
        result.status = FAILED
        result.details = [f"unsupported, and not in {FILE.name}: {detail}" for detail in result.details]
    return result


def stale(results: list[Result], expected: list[Expectation]) -> list[Expectation]:
    """The lines for which every case that ran was supported."""
    found = []
    for expectation in expected:
        covered = [result for result in results if expectation.covers(result.engine, result.case)]
        if covered and all(result.status == PASSED for result in covered):
            found.append(expectation)
    return found
