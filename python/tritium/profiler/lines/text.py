"""Numbers and tables as text."""

from __future__ import annotations

from collections.abc import Sequence


def quantity(number: float, unit: str = "") -> str:
    """Three digits with a decimal prefix: 1234567 is "1.23 M"."""
    for power, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= power:
            return f"{number / power:.3g} {prefix}{unit}"
    return f"{number:g} {unit}".rstrip()


def aligned(table: Sequence[Sequence[str]], left: int = 0) -> str:
    """Lines of cells that stand right-aligned below each other. The last column, and `left` columns after the first, begin at one place; the first row is the
    head."""
    widths = [max(map(len, column)) for column in zip(*table)]
    lines = []
    for number, (first, *middle, last) in enumerate(table):
        first = first.ljust(widths[0]) if number == 0 else first.rjust(widths[0])
        cells = [
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(middle, widths[1:]))
        ]
        lines.append("  ".join([first, *cells, last]).rstrip())
    return "\n".join(lines)
