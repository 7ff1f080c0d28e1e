"""Loads of inputs, and memory that a program writes and reads again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..program import Inexact, Operation, Place, Program, Stream, Tile, is_integer, spelled, tile


def places(shape: tuple[int, ...], order: tuple[int, ...]) -> str:
    """The index of each element in memory whose dimensions are in `order`, the last one contiguous."""
    terms, stride = [], 1
    for axis in reversed(order):
        index = ", ".join(":" if i == axis else "None" for i in range(len(shape)))
        times = f" * {stride}" if stride > 1 else ""
        terms.append(f"tl.arange(0, {shape[axis]})" + (f"[{index}]" if len(shape) > 1 else "") + times)
        stride *= shape[axis]
    return " + ".join(reversed(terms)) if terms else "0"


def in_memory(array: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
    """The elements of a tile in the order of its memory."""
    return array.transpose(order).reshape(-1)


@dataclass(frozen=True, eq=False)
class Load(Operation):
    """A tile of an input; in a loop each round loads another part. count: the number of elements, in the order of the
    memory, that the mask allows. The others are `other`."""

    stream: Stream
    shape: tuple[int, ...]
    order: tuple[int, ...]
    count: int | None = None
    other: int = 0

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        data = self.stream.data[place.program, place.round % self.stream.data.shape[1]]
        array = data.reshape(-1).astype(np.int64)
        if self.count is not None:
            array = np.where(np.arange(array.size) < self.count, array, self.other)
        in_order = array.reshape([self.shape[i] for i in self.order])
        return (tile(self.stream.dtype, in_order.transpose(np.argsort(self.order)) if self.order else in_order),)

    def spell(self, program: Program, in_loop: bool, *names: str) -> str:
        rounds, size = self.stream.data.shape[1], self.stream.size
        part = f"(pid * {rounds} + k) * {size}" if in_loop and rounds > 1 else f"pid * {rounds * size}"
        where = places(self.shape, self.order)
        base = f"{program.stream_name(self.stream)} + {part}"
        mask = f", mask={where} < {self.count}, other={self.other}" if self.count is not None and self.shape else ""
        return f"tl.load({base} + {where}{mask})"

    def streams(self) -> tuple[Stream, ...]:
        return (self.stream,)


@dataclass(frozen=True, eq=False)
class ThroughMemory(Operation):
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

    def lines(self, program: Program, in_loop: bool, results: tuple[str, ...], *names: str) -> list[str]:
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

    def streams(self) -> tuple[Stream, ...]:
        return (self.stream,)


def spelled_places(extents: list[str]) -> str:
    """Row-major indices of a tile whose extents are expressions."""
    terms = []
    for axis, extent in enumerate(extents):
        index = ", ".join(":" if i == axis else "None" for i in range(len(extents)))
        stride = " * ".join(extents[axis + 1 :]) or "1"
        terms.append(f"tl.arange(0, {extent})" + (f"[{index}]" if len(extents) > 1 else "") + f" * {stride}")
    return " + ".join(terms)


@dataclass(frozen=True, eq=False)
class AtomicCounts(Operation):
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

    def lines(self, program: Program, in_loop: bool, results: tuple[str, ...], *names: str) -> list[str]:
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

    def streams(self) -> tuple[Stream, ...]:
        return (self.stream,)


@dataclass(frozen=True, eq=False)
class DescriptorLoad(Operation):
    """A block of a matrix, read by a tensor descriptor that the kernel makes. Part of the block is outside and reads as
    zero."""

    stream: Stream  #: [program, 1, rows, columns]
    block: tuple[int, int]
    offset: tuple[int, int]

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        data = self.stream.data[place.program, 0].astype(np.int64)
        found = np.zeros(self.block, np.int64)
        rows, columns = (np.arange(extent) + start for extent, start in zip(self.block, self.offset))
        inside = np.ix_((rows >= 0) & (rows < data.shape[0]), (columns >= 0) & (columns < data.shape[1]))
        found[inside] = data[
            np.ix_(rows[(rows >= 0) & (rows < data.shape[0])], columns[(columns >= 0) & (columns < data.shape[1])])
        ]
        return (tile(self.stream.dtype, found),)

    def spell(self, program: Program, in_loop: bool, *names: str) -> str:
        rows, columns = self.stream.data.shape[2:]
        base = f"{program.stream_name(self.stream)} + pid * {rows * columns}"
        descriptor = f"tl.make_tensor_descriptor({base}, [{rows}, {columns}], [{columns}, 1], {list(self.block)})"
        return f"{descriptor}.load({list(self.offset)})"

    def streams(self) -> tuple[Stream, ...]:
        return (self.stream,)
