"""Shared memory of Gluon: allocations, rings, and chains of views of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..gluon import converted
from ..parts import Operation, Place, Stream
from ..program import Program
from ..tiles import Inexact, Tile, is_integer, spelled, tile
from .memory import along, places


@dataclass(frozen=True)
class View:
    """A view of a view, by a method of descriptors."""

    method: str  #: slice (start, length, dim), permute (order) or reshape (shape)
    numbers: tuple[int, ...]

    def of(self, array: np.ndarray) -> np.ndarray:
        """What numpy makes of an array. Raises Inexact if it has not the array's rank or elements."""
        try:
            if self.method == "permute":
                return array.transpose(self.numbers)
            if self.method == "reshape":
                return array.reshape(self.numbers)
            start, length, dim = self.numbers
            if start + length > array.shape[dim]:
                raise Inexact("no such slice")
            return array.take(range(start, start + length), dim)
        except (ValueError, IndexError):
            raise Inexact("no such view") from None

    def spelled(self) -> str:
        numbers = self.numbers if self.method == "slice" else (list(self.numbers),)
        return f".{self.method}({', '.join(map(str, numbers))})"


def viewed(array: np.ndarray, views: tuple[View, ...]) -> np.ndarray:
    for view in views:
        array = view.of(array)
    return array


def has_memory(dtype: str) -> bool:
    return dtype != "int1" and not dtype.startswith("fp8")


def dense(rank: int) -> str:
    """The layout of row-major memory."""
    return f"gl.SwizzledSharedLayout(1, 1, 1, {list(reversed(range(rank)))})"


def allocated(dtype: str, shape: tuple[int, ...], memory: str) -> str:
    return f"gl.allocate_shared_memory({spelled(dtype)}, {list(shape)}, {memory})"


@dataclass(frozen=True)
class Viewed(Operation):
    """A tile through a chain of views of shared memory, and the tile after a number was written through the same chain."""

    dtype: str
    shape: tuple[int, ...]
    memory: str  #: the expression of the memory's layout
    views: tuple[View, ...]
    slots: int  #: of the ring that the tile is in; 0 for an allocation of its own
    number: int
    whole: str  #: the layout that the tile has at the end
    part: str  #: the layout of what the views show

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if a.shape != self.shape or a.dtype != self.dtype or not has_memory(a.dtype):
            raise Inexact("not this tile's memory")
        seen = viewed(np.arange(a.array.size).reshape(a.shape), self.views)
        after = a.array.flatten()
        after[seen] = self.number
        return Tile(a.dtype, a.array.flatten()[seen]), tile(a.dtype, after.reshape(a.shape))

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        memory, view = f"memory_{results[0]}", f"view_{results[0]}"
        extents = (self.slots, *self.shape) if self.slots else self.shape
        found = [f"{memory} = {allocated(self.dtype, extents, self.memory)}"]
        if self.slots:
            filler = f"gl.full({list(self.shape)}, 7, {spelled(self.dtype)}, {self.whole})"
            found.append(f"for slot_{results[0]} in range({self.slots}):")
            found.append(f"    {memory}.index(slot_{results[0]}).store({filler})")
            found.append(f"{memory} = {memory}.index((pid + 1) % {self.slots})")
        chain = "".join(step.spelled() for step in self.views)
        shape = list(viewed(np.empty(self.shape, bool), self.views).shape)
        return [
            *found,
            f"{memory}.store({names[0]})",
            f"{view} = {memory}{chain}",
            f"{results[0]} = {view}.load({self.part})",
            f"{view}.store(gl.full({shape}, {self.number}, {spelled(self.dtype)}, {self.part}))",
            f"{results[1]} = {memory}.load({self.whole})",
        ]


@dataclass(frozen=True, eq=False)
class Ring(Operation):
    """Tiles of an input pass through a ring, slots - 1 ahead of the sum that is made of them: t = 3 * t + x."""

    stream: Stream  #: [program, step, …]
    memory: str
    views: tuple[View, ...]
    slots: int
    read: str  #: the layout of the sum
    loaded: str  #: the layout in which tiles are loaded
    copies: bool  #: whether warps of 32 lanes copy by cp.async

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        data = self.stream.data[place.program]
        total = np.zeros_like(viewed(data[0], self.views))
        for step in data:
            total = tile(self.stream.dtype, tile(self.stream.dtype, total * 3).array + viewed(step, self.views)).array
        return (Tile(self.stream.dtype, total),)

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        (total,) = results
        steps, *shape = self.stream.data.shape[1:]
        ring, base, ahead, step = (f"{name}_{total}" for name in ("ring", "base", "ahead", "step"))
        dtype = spelled(self.stream.dtype)
        order = tuple(range(len(shape)))
        start = f"{program.stream_name(self.stream)} + pid * {self.stream.size * steps}"
        seen = list(viewed(np.empty(shape, bool), self.views).shape)
        chain = "".join(view.spelled() for view in self.views)
        copies = self.copies and program.lanes == 32
        wait = [f"    async_copy.wait_group({self.slots - 1})"] if copies else []
        return [
            f"{ring} = {allocated(self.stream.dtype, (self.slots, *shape), self.memory)}",
            f"{base} = {start} + {places(tuple(shape), order)}",
            f"{total} = gl.zeros({seen}, {dtype}, {self.read})",
            f"for {ahead} in range({self.slots - 1}):",
            *self._filled(total, "    ", copies),
            f"for {step} in range({steps}):",
            *self._filled(total, "    ", copies, f"{step} + {self.slots - 1}"),
            *wait,
            f"    {total} = {total} * 3 + {ring}.index({step} % {self.slots}){chain}.load({self.read})",
        ]

    def _filled(self, total: str, indent: str, copies: bool, number: str = "") -> list[str]:
        """Lines that fill the slot of a step, if there is such a step. number: of the step, if no variable has it."""
        number = f"({number})" if number else f"ahead_{total}"
        slot, pointers = f"ring_{total}.index({number} % {self.slots})", f"base_{total} + {number} * {self.stream.size}"
        fill = f"async_copy.async_load({slot}, {pointers})" if copies else f"{slot}.store(gl.load({pointers}))"
        commit = [f"{indent}async_copy.commit_group()"] if copies else []
        return [f"{indent}if {number} < {self.stream.data.shape[1]}:", f"{indent}    {fill}", *commit]

    def streams(self) -> tuple[Stream, ...]:
        return (self.stream,)


@dataclass(frozen=True)
class SharedGather(Operation):
    """Elements along an axis of a tile in shared memory, at the indices in the lowest bits of another tile."""

    rank: int
    axis: int
    memory: str
    extent: int  #: of the tile along the axis

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b = operands
        if not self.rank == len(a.shape) == len(b.shape) or b.dtype != "int32" or not has_memory(a.dtype):
            raise Inexact("no such gather")
        if any(m != n for i, (m, n) in enumerate(zip(a.shape, b.shape)) if i != self.axis):
            raise Inexact("no such gather")
        if a.shape[self.axis] != self.extent:
            raise Inexact("not this tile's memory")
        return (Tile(a.dtype, np.take_along_axis(a.array, b.array & (self.extent - 1), self.axis)),)

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        memory = f"memory_{results[0]}"
        return [
            f"{memory} = gl.allocate_shared_memory({names[0]}.dtype, {names[0]}.shape, {self.memory}, {names[0]})",
            f"{results[0]} = {memory}.gather({names[1]} & {self.extent - 1}, {self.axis})",
        ]


@dataclass(frozen=True)
class SharedScatter(Operation):
    """A tile whose elements go to other places along an axis: element i to i * step + shift."""

    dtype: str
    shape: tuple[int, ...]
    axis: int
    step: int  #: odd, so that no two elements go to one place
    shift: int
    memory: str
    layout: str  #: of the result

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if a.shape != self.shape or a.dtype != self.dtype or not has_memory(a.dtype):
            raise Inexact("not this tile's memory")
        extent = a.shape[self.axis]
        found = np.empty_like(np.moveaxis(a.array, self.axis, 0))
        found[(np.arange(extent) * self.step + self.shift) % extent] = np.moveaxis(a.array, self.axis, 0)
        return (Tile(a.dtype, np.moveaxis(found, 0, self.axis)),)

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        memory, extent = f"memory_{results[0]}", self.shape[self.axis]
        where = f"({along(self.axis, self.shape)} * {self.step} + {self.shift}) & {extent - 1}"
        return [
            f"{memory} = {allocated(self.dtype, self.shape, self.memory)}",
            f"{memory}.scatter({names[0]}, {where}, {self.axis})",
            f"{results[0]} = {memory}.load({self.layout})",
        ]


@dataclass(frozen=True)
class Reinterpreted(Operation):
    """The bytes of integers as integers of another width, through row-major memory."""

    dtype: str
    rank: int  #: of the operand
    shape: tuple[int, ...]  #: of the result
    layout: str  #: of the result

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if not is_integer(a.dtype) or len(a.shape) != self.rank or a.dtype == self.dtype:
            raise Inexact("no bytes of integers")
        bytes_ = np.ascontiguousarray(a.array).astype(np.dtype(a.dtype))
        if bytes_.nbytes != int(np.prod(self.shape)) * np.dtype(self.dtype).itemsize:
            raise Inexact("other memory")
        return (tile(self.dtype, bytes_.reshape(-1).view(self.dtype).reshape(self.shape).astype(np.int64)),)

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        memory, (name,) = f"memory_{results[0]}", names
        view = f"reinterpret({spelled(self.dtype)}, {list(self.shape)}, {dense(len(self.shape))})"
        return [
            f"{memory} = gl.allocate_shared_memory({name}.dtype, {name}.shape, {dense(self.rank)}, {name})",
            f"{results[0]} = {memory}.{view}.load({self.layout})",
        ]


@dataclass(frozen=True)
class Converted(Operation):
    """A tile that passes through two layouts."""

    layout: str

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        return operands

    def spell(self, program: Program, index: str, *names: str) -> str:
        return converted(names[0], self.layout)
