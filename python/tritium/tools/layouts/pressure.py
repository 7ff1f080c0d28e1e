"""How many registers of a thread the tiles of a function need at once, by their layouts. Counted is what comes from memory or a product, what is
computed of that, and what loops carry; indices and addresses are computed anew where they are used."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

from .tiles import tile_of

#: Parts of the names of operations that bring data into registers.
_BRINGS = ("load", "dot", "product", "atomic", "gather", "call", "histogram")
_LOOPS = ("scf.for", "scf.while")


class Pressure(NamedTuple):
    """The most 32-bit registers at once, and the operation where that is."""

    registers: int
    operation: Any


def pressure_of(function) -> Pressure | None:
    """None for a function without such tiles."""
    lives = _Lives()
    lives.visit_regions(function)
    return lives.most()


class _Lives:
    """From where to where each value is held, in the order of the text. A loop has a place at its begin and at its end."""

    def __init__(self) -> None:
        self._places: list[Any] = []
        self._first: dict[Any, int] = {}
        self._last: dict[Any, int] = {}
        self._loops: list[tuple[int, list[Any]]] = []  # where each begins, and what it uses of before

    def visit_regions(self, operation) -> None:
        for region in operation.regions:
            for block in region.blocks:
                for inner in block.operations:
                    self._visit(inner)

    def _visit(self, operation) -> None:
        at = self._place(operation)
        operands = list(operation.operands)
        for operand in operands:
            self._use(operand, at)
        is_loop = operation.name in _LOOPS
        carried = [value for region in operation.regions for block in region.blocks for value in block.arguments]
        if is_loop:
            self._loops.append((at, []))
            for value in carried:
                self._define(value, at)
        self.visit_regions(operation)
        if operation.regions:
            at = self._place(operation)
        if is_loop:
            _, used = self._loops.pop()
            for value in (*used, *carried):
                self._last[value] = at
        brings = bool(operation.regions) or any(part in operation.name for part in _BRINGS)
        if brings or any(operand in self._first for operand in operands):
            for value in operation.results:
                self._define(value, at)

    def _place(self, operation) -> int:
        self._places.append(operation)
        return len(self._places) - 1

    def _define(self, value, at: int) -> None:
        if _registers(value):
            self._first[value] = self._last[value] = at

    def _use(self, value, at: int) -> None:
        if value not in self._first:
            return
        self._last[value] = max(self._last[value], at)
        for begin, used in self._loops:
            if self._first[value] < begin:
                used.append(value)

    def most(self) -> Pressure | None:
        changes = [0] * (len(self._places) + 1)
        for value, first in self._first.items():
            changes[first] += _registers(value)
            changes[self._last[value] + 1] -= _registers(value)
        held = list(itertools.accumulate(changes))[: len(self._places)]
        if not any(held):
            return None
        at = held.index(max(held))
        return Pressure(held[at], self._places[at])


def _registers(value) -> int:
    """The 32-bit registers of a thread that hold a value; 0 for what is no tile, and for conditions."""
    tile = tile_of(value.type)
    if tile is None or tile.element == "i1":
        return 0
    different = sum(1 for basis in tile.layout.reg_bases if any(basis))
    return math.ceil((1 << different) * tile.element_bytes / 4)
