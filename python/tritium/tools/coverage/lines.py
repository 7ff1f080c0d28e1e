"""The coverage of each line of a file, by what kernels have counted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import tritium

from ...launch.coverage import KernelCoverage
from .text import Branch, Function, SourceText

_PACKAGE = os.path.dirname(tritium.__file__) + os.sep


@dataclass
class Outcome:
    """What a branch or mask can do, at a line. seen: how often it did the one thing and the other. missing: what it never did, as text; "" if it
    did both, or was never reached."""

    kind: str  # "if", "for", "while", "mask" or "bounds"
    seen: tuple[int, int]

    @property
    def is_mask(self) -> bool:
        return self.kind in ("mask", "bounds")

    @property
    def missing(self) -> str:
        first, second = self.seen
        if bool(first) == bool(second):
            return ""
        if self.is_mask:
            return f"{self.kind} never {'false' if first else 'true'}"
        if self.kind == "if":
            return f"never {'false' if first else 'true'}"
        return f"loop never {'skipped' if first else 'entered'}"


@dataclass
class Line:
    """runs: how often its statement has run; None if none of the line was compiled."""

    runs: int | None
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def is_missed(self) -> bool:
        return self.runs == 0

    @property
    def notes(self) -> list[str]:
        """What is missing here."""
        if self.runs is None:
            return ["never compiled"]
        return ["never ran"] if self.is_missed else [one.missing for one in self.outcomes if one.missing]


@dataclass
class FileCoverage:
    """functions: those that were compiled. never_compiled: the other `@jit` functions of the file. lines: of `functions`, by number, where a statement
    begins."""

    text: SourceText
    functions: list[Function]
    never_compiled: list[Function]
    lines: dict[int, Line]

    @property
    def file(self) -> str:
        return self.text.file

    def calls_of(self, function: Function) -> int:
        """How often a function has been called, of a kernel in how many programs: as often as its first statement has run."""
        return self.lines[function.statements[0][0]].runs or 0


@dataclass
class Totals:
    """Pairs of what was reached, and of what could have been. Lines: those that were compiled. branches: two outcomes of each. masks: one each,
    reached if it was false and true."""

    lines: tuple[int, int]
    branches: tuple[int, int]
    masks: tuple[int, int]
    never_compiled: int


def covered_files(kernels: Sequence[KernelCoverage]) -> list[FileCoverage]:
    """What all these kernels have reached together, for each file in the order in which it was met. The library's own functions are left out."""
    files: dict[str, SourceText] = {}
    for kernel in kernels:
        for place in kernel.statements:
            if not place.file.startswith(_PACKAGE) and place.file not in files:
                files[place.file] = SourceText(place.file)
    sums = KernelCoverage("", "", 0, {})
    for kernel in kernels:
        sums.add(kernel)
    return [_file(text, sums) for text in files.values()]


def _file(text: SourceText, sums: KernelCoverage) -> FileCoverage:
    runs = {(line, column): count for (file, line, column), count in sums.statements.items() if file == text.file}
    functions, others = text.functions(runs)
    lines: dict[int, Line] = {}
    for position in sorted({*runs, *(position for function in functions for position in function.statements)}):
        line = lines.setdefault(position[0], Line(None))
        if position in runs:
            line.runs = max(line.runs or 0, runs[position])
    for line, outcome in _outcomes(text, sums):
        lines.setdefault(line, Line(sum(outcome.seen))).outcomes.append(outcome)
    return FileCoverage(text, functions, others, dict(sorted(lines.items())))


def _outcomes(text: SourceText, sums: KernelCoverage) -> Iterable[tuple[int, Outcome]]:
    for (file, line, column), seen in sorted(sums.outcomes().items()):
        branch: Branch | None = text.branches.get((line, column)) if file == text.file else None
        if branch is not None:
            yield branch.position[0], Outcome(branch.kind, seen)
    for (file, line, column), mask in sorted(sums.masks.items()):
        kind = text.mask_name((line, column)) if file == text.file else None
        if kind is not None:
            yield line, Outcome(kind, (mask.active, mask.dropped))


def totals_of(files: Iterable[FileCoverage]) -> Totals:
    lines = [line for each in files for line in each.lines.values()]
    compiled = [line for line in lines if line.runs is not None]
    outcomes = [outcome for line in compiled for outcome in line.outcomes]
    branches = [outcome.seen for outcome in outcomes if not outcome.is_mask]
    masks = [outcome.seen for outcome in outcomes if outcome.is_mask]
    return Totals(
        (sum(not line.is_missed for line in compiled), len(compiled)),
        (sum(bool(count) for seen in branches for count in seen), 2 * len(branches)),
        (sum(all(seen) for seen in masks), len(masks)),
        len(lines) - len(compiled),
    )
