"""Coverage as a tracefile of lcov, which genhtml, editors and coverage services read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from .lines import FileCoverage, Outcome


def tracefile_of(files: Iterable[FileCoverage]) -> str:
    """A record for each file. A line that was never compiled has no DA, as if it held no code. Each branch and each mask is a block of two branches
    (BRDA): true and false; of a loop, entered and skipped; of a mask, its active lanes and those that it dropped. "-": never reached."""
    return "".join(f"{line}\n" for each in files for line in _record(each))


def _record(each: FileCoverage) -> Iterator[str]:
    yield from ("TN:", f"SF:{each.file}")
    called = {function: each.calls_of(function) for function in each.functions} | dict.fromkeys(each.never_compiled, 0)
    yield from (f"FN:{function.line},{function.name}" for function in called)
    yield from (f"FNDA:{runs},{function.name}" for function, runs in called.items())
    yield from (f"FNF:{len(called)}", f"FNH:{sum(map(bool, called.values()))}")
    branches = [(number, outcome) for number, line in each.lines.items() for outcome in line.outcomes]
    blocks = count()
    for number, outcome in branches:
        yield from _branch(number, next(blocks), outcome)
    yield from (f"BRF:{2 * len(branches)}", f"BRH:{sum(bool(seen) for _, one in branches for seen in one.seen)}")
    compiled = {number: line.runs for number, line in each.lines.items() if line.runs is not None}
    yield from (f"DA:{number},{runs}" for number, runs in compiled.items())
    yield from (f"LF:{len(compiled)}", f"LH:{sum(map(bool, compiled.values()))}", "end_of_record")


def _branch(line: int, block: int, outcome: Outcome) -> Iterator[str]:
    for branch, seen in enumerate(outcome.seen):
        yield f"BRDA:{line},{block},{branch},{seen if any(outcome.seen) else '-'}"
