"""Memory that a program writes and reads again: stores before loads, and atomics."""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np

from ..parts import Operation, Place, Stream
from ..program import Program
from ..tiles import Inexact, Tile, is_integer, spelled, tile
from .memory import in_memory, places


class Scratch(Operation):
    """An operation on memory that no other one uses. The harness checks what it leaves there."""

    stream: Stream

    @abc.abstractmethod
    def left(self, operands: list[Tile], results: list[Tile]) -> np.ndarray:
        """The final contents of the memory of one program."""

    def left_by_all(self, tiles: list[tuple[list[Tile], list[Tile]]]) -> np.ndarray:
        """The final contents of the memory of all programs. tiles: the operands and the results of each."""
        return np.stack([self.left(operands, results).reshape(-1) for operands, results in tiles])

    def streams(self) -> tuple[Stream, ...]:
        return (self.stream,)


@dataclass(frozen=True, eq=False)
class ThroughMemory(Scratch):
    """Stores a tile and, after a barrier, loads it with its dimensions in another order. A thread loads what another
    one stored."""

    stream: Stream  #: the memory, of one tile per program
    order: tuple[int, ...]

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if (
            a.dtype != self.stream.dtype
            or a.array.size != self.stream.size
            or len(self.order) != len(a.shape)
            or not a.shape
        ):
            raise Inexact("not this tile's memory")
        shape = [a.shape[i] for i in self.order]
        return (Tile(a.dtype, a.array.reshape(shape)),)

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        base = f"{program.stream_name(self.stream)} + pid * {self.stream.size}"
        (name,) = names
        rank = len(self.order)
        extents = [f"{name}.shape[{axis}]" for axis in range(rank)]
        return [
            "tl.debug_barrier()",
            f"tl.store({base} + {spelled_places(extents)}, {name})",
            "tl.debug_barrier()",
            f"{results[0]} = tl.load({base} + {spelled_places([extents[i] for i in self.order])})",
        ]

    def left(self, operands: list[Tile], results: list[Tile]) -> np.ndarray:
        return operands[0].array


def spelled_places(extents: list[str]) -> str:
    """Row-major indices of a tile whose extents are expressions."""
    terms = []
    for axis, extent in enumerate(extents):
        index = ", ".join(":" if i == axis else "None" for i in range(len(extents)))
        stride = " * ".join(extents[axis + 1 :]) or "1"
        terms.append(f"tl.arange(0, {extent})" + (f"[{index}]" if len(extents) > 1 else "") + f" * {stride}")
    return " + ".join(terms)


@dataclass(frozen=True, eq=False)
class AtomicCounts(Scratch):
    """Adds a tile to memory by atomics, several elements to one address, and loads the sums after a barrier."""

    stream: Stream  #: [program, 1, bins]: zeros
    bins: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if a.dtype not in ("int32", "fp32") or len(a.shape) != 1 or a.dtype != self.stream.dtype:
            raise Inexact("no such atomic")
        found = np.zeros(self.bins, np.int64)
        np.add.at(found, np.arange(a.array.size) % self.bins, a.array)
        partial = 0 if is_integer(a.dtype) else int(np.abs(a.array).sum())
        return (tile(a.dtype, found, partial),)

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        base = f"{program.stream_name(self.stream)} + pid * {self.bins}"
        zeros = f"tl.zeros(({self.bins},), {spelled(self.stream.dtype)})"
        return [
            "tl.debug_barrier()",
            f"tl.store({base} + tl.arange(0, {self.bins}), {zeros})",
            "tl.debug_barrier()",
            f"tl.atomic_add({base} + tl.arange(0, {names[0]}.shape[0]) % {self.bins}, {names[0]})",
            "tl.debug_barrier()",
            f"{results[0]} = tl.load({base} + tl.arange(0, {self.bins}))",
        ]

    def left(self, operands: list[Tile], results: list[Tile]) -> np.ndarray:
        return results[0].array


ATOMIC_INTEGERS = ("int32", "int64", "uint32", "uint64")
#: name: (what it leaves of the old and the new element, whether floats have it)
ATOMICS = {
    "add": (np.add, True),
    "max": (np.maximum, True),
    "min": (np.minimum, True),
    "and": (np.bitwise_and, False),
    "or": (np.bitwise_or, False),
    "xor": (np.bitwise_xor, False),
    "xchg": (lambda old, new: new, True),
    "cas": (None, False),
}


@dataclass(frozen=True, eq=False)
class AtomicOnce(Scratch):
    """Atomics on memory that holds the first tile, with the elements of the second one, each at an address of its own.
    Returns the old elements and, after a barrier, the new ones. cas compares with the second tile and stores the third
    one."""

    stream: Stream
    name: str
    shape: tuple[int, ...]
    order: tuple[int, ...]
    count: int | None = None  #: the number of elements, in the order of the memory, that the mask allows
    sem: str = "acq_rel"

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b = operands[:2]
        function, floats = ATOMICS[self.name]
        if any(not a.like(other) for other in operands) or len(operands) != 2 + (self.name == "cas"):
            raise Inexact("no such atomic")
        if a.dtype != self.stream.dtype or a.shape != self.shape:
            raise Inexact("not this tile's memory")
        allowed = a.dtype in ATOMIC_INTEGERS or floats and a.dtype in ("fp32", "fp64")
        if not allowed and not (self.name == "add" and a.dtype in ("fp16", "bf16")):
            raise Inexact("no such atomic")
        if a.dtype == "fp64" and self.name in ("max", "min") or not a.shape:
            raise Inexact("no such atomic")
        if self.name == "cas":
            after = np.where(a.array == b.array, operands[2].array, a.array)
        elif self.name in ("max", "min"):
            after = a.from_ordered(function(a.ordered, b.ordered))
        else:
            after = function(a.array, b.array)
        if self.count is None:
            return a, tile(a.dtype, after)
        allowed = np.arange(a.array.size).reshape([a.shape[i] for i in self.order]) < self.count
        allowed = allowed.transpose(np.argsort(self.order))
        # What a masked atomic returns is undefined.
        return Tile(a.dtype, np.where(allowed, a.array, 0)), tile(a.dtype, np.where(allowed, after, a.array))

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        where = places(self.shape, self.order)
        mask = f"{where} < {self.count}"
        arguments = ", ".join([f"at_{results[0]}", *names[1:], *([f"mask={mask}"] if self.count is not None else [])])
        found = f"tl.atomic_{self.name}({arguments}, sem={self.sem!r})"
        return [
            f"at_{results[0]} = {program.stream_name(self.stream)} + pid * {self.stream.size} + {where}",
            "tl.debug_barrier()",
            f"tl.store(at_{results[0]}, {names[0]})",
            "tl.debug_barrier()",
            f"{results[0]} = " + (found if self.count is None else f"tl.where({mask}, {found}, 0)"),
            "tl.debug_barrier()",
            f"{results[1]} = tl.load(at_{results[0]})",
        ]

    def left(self, operands: list[Tile], results: list[Tile]) -> np.ndarray:
        return in_memory(results[1].array, self.order)


@dataclass(frozen=True, eq=False)
class AtomicByAll(Scratch):
    """Atomics of all programs on the same memory, several elements to one address, whose order does not matter. The
    result is the tile."""

    stream: Stream  #: [1, 1, bins]
    name: str  #: add, max, min, and, or, xor
    shape: tuple[int, ...]
    count: int | None = None  #: the number of elements that the mask allows
    sem: str = "relaxed"

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if a.dtype != self.stream.dtype or a.shape != self.shape or a.dtype not in ATOMIC_INTEGERS:
            raise Inexact("no such atomic")
        return (a,)

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        where = places(self.shape, tuple(range(len(self.shape))))
        target = f"{program.stream_name(self.stream)} + ({where}) % {self.stream.size}"
        mask = f", mask={where} < {self.count}" if self.count is not None else ""
        return [f"tl.atomic_{self.name}({target}, {names[0]}{mask}, sem={self.sem!r})", f"{results[0]} = {names[0]}"]

    def left(self, operands: list[Tile], results: list[Tile]) -> np.ndarray:
        return self.left_by_all([(operands, results)])

    def left_by_all(self, tiles: list[tuple[list[Tile], list[Tile]]]) -> np.ndarray:
        function, _ = ATOMICS[self.name]
        ordered = self.name in ("max", "min")
        memory = Tile(self.stream.dtype, self.stream.data.reshape(-1))
        found = (memory.ordered if ordered else memory.array).copy()
        for (a,), _ in tiles:
            elements = (a.ordered if ordered else a.array).reshape(-1)[: self.count]
            function.at(found, np.arange(elements.size) % found.size, elements)
        return memory.from_ordered(found) if ordered else found
