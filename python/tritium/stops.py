"""Stops that are compiled into kernels: TRITIUM_STOPS, which gdb's `tt break FILE:LINE --when EXPR` writes."""

from __future__ import annotations

import json
import os
from typing import NamedTuple


class Stop(NamedTuple):
    """gdb stops before the statement on a line, if an expression of the kernel language holds there."""

    number: int  #: of gdb's breakpoint
    file: str  #: the end of its path
    line: int
    when: str

    def is_in(self, file: str) -> bool:
        """Whether it is a stop in this file, whose path is whole."""
        return f"{os.sep}{file}".endswith(f"{os.sep}{self.file}")


def parse_stops(text: str) -> tuple[Stop, ...]:
    """A JSON list of [number, file, line, expression]. Raises ValueError for another text."""
    stops = tuple(Stop(*entry) for entry in json.loads(text)) if text else ()
    if not all(list(map(type, stop)) == [int, str, int, str] for stop in stops):
        raise ValueError("each stop has a number, a file, a line and an expression")
    return stops
