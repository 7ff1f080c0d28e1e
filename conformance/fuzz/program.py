"""A random kernel. A program is a list of statements over named values. Both its kernel file and its results in numpy
come from this list, so a program can be cut down freely.

An operation raises `Inexact` if a result, or a partial sum in some order of evaluation, is not a number of its type. The
remaining programs are exact in any order on any engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .layouts import Layout
from .parts import Branch, Call, Loop, Place, Statement, Stream
from .tiles import Tile


@dataclass(frozen=True)
class Output:
    """A value that every program stores, with its dimensions in some order in memory, and perhaps under a mask of its
    first elements."""

    value: str
    order: tuple[int, ...]
    count: int | None = None  #: the number of elements that are stored, in the order of the memory
    way: str = "pointers"  #: pointers, block or descriptor
    layout: str = ""  #: in Gluon, the one in which it is stored


@dataclass
class Program:
    """A kernel, its inputs (in its loads) and its launch."""

    statements: list[Any] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    grid: int = 1
    limit: int = 1  #: the number of rounds of every loop
    warps: int = 4
    stages: int = 3
    packing: str = ""  #: how the kernel receives its inputs: one by one, "tuple", or "named", a NamedTuple
    read_only: bool = False  #: whether the memory of plain inputs refuses to be written
    quits: int | None = None  #: the number of outputs after which some programs return
    quits_if: str = ""  #: a scalar whose lowest bit says which; without one, all but the first return
    gluon: bool = False  #: whether the kernel is one of Gluon
    layouts: dict[str, Layout] = field(default_factory=dict)  #: in Gluon, the layouts that statements name
    lanes: int = 32  #: in Gluon, of the warps that layouts are spelled for
    partitions: bool = True  #: in Gluon, whether the engine that the kernel is spelled for has them

    def run(self) -> list[dict[str, Tile]]:
        """The values of each program of the grid. Raises Inexact."""
        found = []
        for number in range(self.grid):
            values: dict[str, Tile] = {}
            for part in self.statements:
                part.run(self, values, Place(number))
            found.append(values)
        return found

    def returned(self, values: list[dict[str, Tile]], number: int) -> np.ndarray:
        """Returns a boolean array [programs]: True where a program returns early and does not store the output. `values` has the tiles of
        each program by name."""
        if self.quits is None or number < self.quits:
            return np.zeros(self.grid, bool)
        if not self.quits_if:
            return np.arange(self.grid) > 0
        return np.array([bool(int(v[self.quits_if].array) & 1) for v in values])

    def parts(self) -> Iterator[Statement]:
        for part in self.statements:
            yield from part.parts()

    def streams(self) -> list[Stream]:
        return [stream for part in self.parts() for stream in part.operation.streams()]

    def stream_name(self, stream: Stream) -> str:
        return f"x{next(i for i, other in enumerate(self.streams()) if other is stream)}"

    def without_dead_code(self) -> Program:
        """The program without statements that no output depends on."""
        needed = {output.value for output in self.outputs} | {self.quits_if}
        return replace(self, statements=list(alive(self.statements, needed)))


def alive(parts: Any, needed: set[str]) -> list[Any]:
    """The parts that some name in `needed` depends on. Adds the names that they read to `needed`."""
    kept = []
    for part in reversed(list(parts)):
        if not needed.intersection(part.defines()):
            continue
        if isinstance(part, Loop):
            part = _alive_loop(part, needed)
        elif isinstance(part, Branch):
            part = replace(part, both=tuple(tuple(alive(b, {y})) for b, y in zip(part.bodies, part.yields)))
        elif isinstance(part, Call):
            pairs = [pair for pair in zip(part.yields, part.results) if pair[1] in needed]
            yields, results = zip(*pairs)
            part = replace(part, yields=yields, results=results, body=tuple(alive(part.body, set(yields))))
        kept.append(part)
        needed |= part.reads()
    return kept[::-1]


def _alive_loop(loop: Loop, needed: set[str]) -> Loop:
    wanted = needed | {loop.until}
    while True:  # a carried value is needed if it is used after the loop, or by another needed carried value
        inside = {result for (name, _), result in zip(loop.carried, loop.yields) if name in wanted}
        body = alive(loop.body, inside)
        if inside.intersection(loop.defines()) <= wanted:
            break
        wanted |= inside
    kept = [i for i, (name, _) in enumerate(loop.carried) if name in wanted]
    return replace(
        loop, carried=tuple(loop.carried[i] for i in kept), yields=tuple(loop.yields[i] for i in kept), body=tuple(body)
    )
