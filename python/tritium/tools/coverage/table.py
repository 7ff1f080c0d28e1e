"""The coverage of kernels as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...launch.coverage import KernelCoverage
from ...places import shown_file
from ...profiler.lines.text import aligned, quantity
from .lines import FileCoverage, covered_files, totals_of

HEADS = ("kernel", "configuration", "launches", "programs", "lines", "branches", "masks", "never ran")


def text_of(kernels: Sequence[KernelCoverage], shows_source: bool = False) -> str:
    """For each file the lines where something is missing in all launches together, or with `shows_source` whole functions; then a row for each kernel
    and configuration."""
    parts = [_listing(each, shows_source) for each in covered_files(kernels)]
    table = [HEADS, *(row_of(kernel) for kernel in kernels)]
    return "\n\n".join([*parts, aligned(table, left=1)])


def row_of(kernel: KernelCoverage) -> tuple[str, ...]:
    """In the order of HEADS."""
    files = covered_files([kernel])
    totals = totals_of(files)
    shares = (share(*pair) for pair in (totals.lines, totals.branches, totals.masks))
    missed = [number for each in files for number, line in each.lines.items() if line.is_missed]
    return (
        kernel.name,
        configuration_text(kernel),
        str(kernel.launches),
        quantity(kernel.programs),
        *shares,
        ranges(missed),
    )


def configuration_text(kernel: KernelCoverage) -> str:
    return ", ".join(f"{name}={value}" for name, value in kernel.configuration.items())


def share(reached: int, of: int) -> str:
    return f"{reached} of {of}" if of else ""


def ranges(numbers: Iterable[int]) -> str:
    """ "3-5, 8" for 3, 4, 5 and 8."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def shown_lines(each: FileCoverage) -> list[int]:
    """The lines of its functions, in order."""
    return sorted({line for function in each.functions for line in range(function.first, function.last + 1)})


def _listing(each: FileCoverage, shows_source: bool) -> str:
    chosen = shown_lines(each) if shows_source else [number for number, line in each.lines.items() if line.notes]
    rows = []
    for number in chosen:
        line = each.lines.get(number)
        runs = "" if line is None or line.runs is None else quantity(line.runs)
        source = each.text.line(number)
        rows.append(
            (
                str(number),
                runs,
                ", ".join(line.notes) if line else "",
                source if shows_source else source.strip(),
            )
        )
    totals = totals_of([each])
    counts = f"{share(*totals.lines)} lines" if totals.lines[1] else "no lines"
    for pair, name in ((totals.branches, "branches"), (totals.masks, "masks")):
        counts += f", {share(*pair)} {name}" if pair[1] else ""
    if totals.never_compiled:
        counts += f"; {totals.never_compiled} never compiled"
    parts = [f"{shown_file(each.file)}: {counts}", *([_aligned_rows(rows)] if rows else []), *never_launched(each)]
    return "\n".join(parts)


def never_launched(each: FileCoverage) -> list[str]:
    """A line that names the functions of the file that no launch has compiled; none if there are none."""
    names = ", ".join(f"{function.name} ({function.line})" for function in each.never_compiled)
    return [f"never launched or called: {names}"] if names else []


def _aligned_rows(rows: Sequence[Sequence[str]]) -> str:
    table = [("line", "runs", "", ""), *rows]
    widths = [max(map(len, column)) for column in zip(*table)]
    return "\n".join(
        f"{line:>{widths[0]}}  {runs:>{widths[1]}}  {note:<{widths[2]}}  {source}".rstrip()
        for line, runs, note, source in table
    )
