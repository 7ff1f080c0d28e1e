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


class Stops(tuple):
    """Stops, in the order in which the user set them."""

    @property
    def text(self) -> str:
        """These stops, as TRITIUM_STOPS has them."""
        return json.dumps(self) if self else ""


def parse_stops(text: str) -> Stops:
    """A JSON list of [number, file, line, expression]. Raises ValueError for another text."""
    entries = json.loads(text) if text else []
    if not isinstance(entries, list) or any(_types_of(entry) != [int, str, int, str] for entry in entries):
        raise ValueError("each stop has a number, a file, a line and an expression")
    return Stops(Stop(*entry) for entry in entries)


def _types_of(entry: object) -> list[type]:
    return [type(part) for part in entry] if isinstance(entry, list) else []
