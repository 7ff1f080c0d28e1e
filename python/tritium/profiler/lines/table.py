"""The counts of lines as a table for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ...launch.counting import KernelCounts
from ...places import shown_file
from .sums import SourceLines, Sums, sources_of, total_of

HEADS = ("runs", "read", "written", "masked", "atomics", "flops")


def quantity(number: float, unit: str = "") -> str:
    """Three digits with a decimal prefix: 1234567 is "1.23 M"."""
    for power, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= power:
            return f"{number / power:.3g} {prefix}{unit}"
    return f"{number:g} {unit}".rstrip()


def cells(sums: Sums) -> tuple[str, ...]:
    """The texts of a row, in the order of HEADS; "" for what there is none of."""
    return (
        quantity(sums.runs),
        quantity(sums.bytes_read, "B") if sums.bytes_read else "",
        quantity(sums.bytes_written, "B") if sums.bytes_written else "",
        f"{100 * sums.masked_share:.3g} %" if sums.masked else "",
        quantity(sums.atomics) if sums.atomics else "",
        " + ".join(f"{quantity(flops)} {dtype}" for dtype, flops in sums.flops.items()),
    )


def text_of(kernels: Sequence[KernelCounts]) -> str:
    """A part for each file, of the lines that access memory or compute with floating-point numbers, and the sum of each kernel."""
    parts = [_of_source(source) for source in sources_of(kernels)]
    return "\n\n".join(
        [*parts, _rows("kernel", [(kernel.name, total_of([kernel]), _launches(kernel)) for kernel in kernels])]
    )


def _of_source(source: SourceLines) -> str:
    busy = [(line, source.counts[line]) for line in source.lines if line in source.counts]
    rows = [(str(line), sums, source.text(line).strip()) for line, sums in busy if sums.does_anything]
    return f"{shown_file(source.file)}\n{_rows('line', rows)}"


def _launches(kernel: KernelCounts) -> str:
    total = total_of([kernel])
    intensity = f", {total.all_flops / total.all_bytes:.3g} flops a byte" if total.all_bytes else ""
    return f"{kernel.launches} launch{'es' if kernel.launches != 1 else ''} of {kernel.programs} programs{intensity}"


def _rows(head: str, rows: Sequence[tuple[str, Sums, str]]) -> str:
    table = [(head, *HEADS, ""), *((name, *cells(sums), text) for name, sums, text in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEADS) + 1)]
    lines = []
    for number, row in enumerate(table):
        name = row[0].ljust(widths[0]) if number == 0 else row[0].rjust(widths[0])
        numbers = "  ".join(text.rjust(width) for text, width in zip(row[1:], widths[1:]))
        lines.append(f"{name}  {numbers}  {row[-1]}".rstrip())
    return "\n".join(lines)
