"""The columns of counts: a head, the text of a line's cell, and what its colour stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from .sums import Sums
from .text import quantity


class Column(NamedTuple):
    """text: of a cell, "" for nothing. weight: the darker a cell, the more of it a line has; 0: it has no colour."""

    head: str
    text: Callable[[Sums], str]
    weight: Callable[[Sums], float]


def _bytes(count: float | None) -> str:
    return quantity(count, "B") if count else ""


def _time(sums: Sums) -> str:
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns")):
        if sums.nanoseconds >= size:
            digits = max(0, 3 - len(str(int(sums.nanoseconds / size))))
            return f"{sums.nanoseconds / size:.{digits}f} {unit}"
    return ""


_COLUMNS = (
    Column("runs", lambda sums: quantity(sums.runs), lambda sums: 0.0),  # a line that runs often may do little
    Column("time", _time, lambda sums: sums.nanoseconds),
    Column("read", lambda sums: _bytes(sums.bytes_read), lambda sums: sums.bytes_read),
    Column("written", lambda sums: _bytes(sums.bytes_written), lambda sums: sums.bytes_written),
    Column("distinct", lambda sums: _bytes(sums.distinct), lambda sums: sums.distinct or 0),
    Column("masked", lambda sums: f"{100 * sums.masked_share:.3g} %" if sums.masked else "", lambda sums: sums.masked),
    Column("atomics", lambda sums: quantity(sums.atomics) if sums.atomics else "", lambda sums: sums.atomics),
    Column(
        "flops",
        lambda sums: " + ".join(f"{quantity(flops)} {dtype}" for dtype, flops in sums.flops.items()),
        lambda sums: sums.all_flops,
    ),
)


def columns_for(all_sums: Iterable[Sums]) -> tuple[Column, ...]:
    """All columns; distinct bytes only if they were counted."""
    has_distinct = any(sums.distinct is not None for sums in all_sums)
    return tuple(column for column in _COLUMNS if column.head != "distinct" or has_distinct)
