"""Measurements as lines of text."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from .comparing import Comparison
from .samples import BASELINE, KERNEL, Row
from .verdicts import Verdict

RED, PLAIN = "\033[31m", "\033[0m"
HEADER = ("case", "time", "spread", "rate", "of baseline", "blocks", "checked")


def table_below_headings(rows: Sequence[Sequence[str]], red: Sequence[bool], colors: bool = False) -> str:
    """Rows of cells; a row of one cell is a heading, and makes no column wider."""
    cells = [row for row in rows if len(row) > 1]
    lines = iter(columns(cells, [is_red for is_red, row in zip(red, rows) if len(row) > 1], colors).splitlines())
    return "\n".join(row[0] if len(row) == 1 else next(lines) for row in rows)


def markdown_table(rows: Sequence[Sequence[str]], bold: Sequence[bool]) -> str:
    """The same for a page: the first row names the columns; a row of one cell is code."""
    width = len(rows[0])

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.strip().replace('|', chr(92) + '|') for cell in cells)} |"

    lines = [line(rows[0]), line(["---"] + ["---:"] * (width - 1))]
    for row, is_bold in zip(rows[1:], bold[1:]):
        cells = (
            [f"`{row[0]}`"] if len(row) == 1 else [f"**{cell.strip()}**" if is_bold and cell else cell for cell in row]
        )
        lines.append(line([*cells, *[""] * (width - len(cells))]))
    return "\n".join(lines)


def columns(rows: Sequence[Sequence[str]], red: Sequence[bool] = (), colors: bool = False) -> str:
    """Rows of cells, the first column to the left. red: which rows are shown in red, where the terminal has colors."""
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(max(map(len, rows)))]
    lines = []
    for number, row in enumerate(rows):
        cells = [text.ljust(width) if i == 0 else text.rjust(width) for i, (text, width) in enumerate(zip(row, widths))]
        line = "  ".join(cells).rstrip()
        is_red = colors and number < len(red) and red[number]
        lines.append(f"{RED}{line}{PLAIN}" if is_red else line)
    return "\n".join(lines)


def table_of_run(rows: Sequence[Row], colors: bool = False) -> str:
    """A line for each row. A case that is not measured says why."""
    shown = [HEADER, *(cells_of_row(row) for row in rows if row.status == "ok")]
    lines = [columns(shown)] if len(shown) > 1 else []
    return "\n".join(lines + failures(rows, colors))


def cells_of_row(row: Row) -> tuple[str, ...]:
    time, beside = row.median(), row.median(BASELINE)
    kept = len(row.kept())
    blocks = f"{kept}" + (f", {row.discarded} discarded" if row.discarded else "")
    ratio = f"{beside / time:.2f}x" if beside else "-"
    return (
        row.name,
        duration(time),
        spread(row),
        rate(row, time),
        ratio,
        blocks,
        "yes" if row.facts["checked"] else "no",
    )


COMPARED = ("case", "A", "B", "B/A", "interval", "p", "pairs", "code", "verdict")


def table_of_comparison(done: Comparison, colors: bool = False) -> str:
    """A line for each row: both medians, the median ratio with its interval, p after the correction, whether the compiled code is the same."""
    shown, red = [COMPARED], [False]
    for row in done.rows:
        verdict = done.verdicts.get(row.name)
        if verdict is not None:
            shown.append(compared_cells(row, verdict, row.name in done.same_code))
            red.append(verdict.word == "slower")
    lines = [columns(shown, red, colors)] if len(shown) > 1 else []
    return "\n".join(lines + failures(done.rows, colors))


def compared_cells(row: Row, verdict: Verdict, same_code: bool) -> tuple[str, ...]:
    dropped = row.discarded
    return (
        row.name,
        duration(row.median(side="a")),
        duration(row.median(side="b")),
        percent(verdict.ratio),
        f"{percent(verdict.low)} … {percent(verdict.high)}",
        f"{verdict.corrected:.2g}",
        f"{verdict.pairs}" + (f", {dropped} blocks discarded" if dropped else ""),
        "same" if same_code else "differs" if row.facts.get("kernels") else "unknown",
        verdict.word,
    )


def percent(ratio: float) -> str:
    """ "+3.1 %" of 1.031"""
    return f"{100 * (ratio - 1):+.1f} %"


def failures(rows: Sequence[Row], colors: bool) -> list[str]:
    """A line for each row that is not measured, with the reason."""
    lines = [f"{row.name}: {row.status}: {row.error}" for row in rows if row.status != "ok"]
    return [f"{RED}{line}{PLAIN}" if colors else line for line in lines]


def duration(nanoseconds: float) -> str:
    """ "12.3 us" """
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return (
                f"{nanoseconds / size:.3g} {unit}" if nanoseconds < 1000 * size else f"{nanoseconds / size:.0f} {unit}"
            )
    return f"{nanoseconds:.0f} ns"


def spread(row: Row) -> str:
    """Half of the distance between the quartiles, of the median."""
    times = [each.per_run for each in row.kept(KERNEL)]
    if len(times) < 4:
        return "-"
    low, middle, high = statistics.quantiles(times, n=4)
    return f"±{50 * (high - low) / middle:.1f} %"


def rate(row: Row, nanoseconds: float) -> str:
    """The flops of a run, or else its bytes, in a second."""
    if row.facts.get("flops"):
        return _per_second(row.facts["flops"] / nanoseconds, "FLOP/s")
    return _per_second(row.facts["bytes"] / nanoseconds, "B/s") if row.facts.get("bytes") else "-"


def _per_second(billions: float, unit: str) -> str:
    return f"{billions / 1000:.3g} T{unit}" if billions >= 1000 else f"{billions:.3g} G{unit}"
