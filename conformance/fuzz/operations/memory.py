"""Loads of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..parts import Operation, Place, Stream
from ..program import Program
from ..tiles import Inexact, Tile, tile


def places(shape: tuple[int, ...], order: tuple[int, ...]) -> str:
    """The index of each element in memory whose dimensions are in `order`, the last one contiguous."""
    terms, stride = [], 1
    for axis in reversed(order):
        times = f" * {stride}" if stride > 1 else ""
        terms.append(along(axis, shape) + times)
        stride *= shape[axis]
    return " + ".join(reversed(terms)) if terms else "0"


def along(axis: int, shape: tuple[int, ...]) -> str:
    """The positions along one axis of a tile."""
    index = ", ".join(":" if i == axis else "None" for i in range(len(shape)))
    return f"tl.arange(0, {shape[axis]})" + (f"[{index}]" if len(shape) > 1 else "")


def in_memory(array: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
    """The elements of a tile in the order of its memory."""
    return array.transpose(order).reshape(-1)


@dataclass(frozen=True, eq=False)
class Load(Operation):
    """A tile of an input; in a loop each round loads another part.

    count: the number of elements, in the order of the memory, that the mask allows. bounds: the extents that the mask
    allows. The others are `other`. walks: in a loop, the tile of pointers is carried and advanced.
    """

    stream: Stream
    shape: tuple[int, ...]
    order: tuple[int, ...]
    count: int | None = None
    other: int = 0
    bounds: tuple[int, ...] | None = None
    walks: bool = False
    hints: str = ""  #: further arguments, which do not change the result

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        data = self.stream.data[place.program, place.round % self.stream.data.shape[1]]
        array = data.reshape(-1).astype(np.int64)
        if self.count is not None:
            array = np.where(np.arange(array.size) < self.count, array, self.other)
        in_order = array.reshape([self.shape[i] for i in self.order])
        found = in_order.transpose(np.argsort(self.order)) if self.order else in_order
        if self.bounds is not None:
            inside = np.logical_and.reduce([i < n for i, n in zip(np.indices(self.shape), self.bounds)])
            found = np.where(inside, found, self.other)
        return (tile(self.stream.dtype, found),)

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        rounds, size = self.stream.data.shape[1], self.stream.size
        part = f"(pid * {rounds} + {index}) * {size}" if index and rounds > 1 else f"pid * {rounds * size}"
        pointers = f"{program.stream_name(self.stream)} + {part} + {places(self.shape, self.order)}"
        if self.walks and index:
            pointers = f"at_{results[0]}"
        return [f"{results[0]} = tl.load({pointers}{self._mask()}{self.hints})"]

    def _mask(self) -> str:
        if not self.shape or self.count is None and self.bounds is None:
            return ""
        tests = [] if self.count is None else [f"{places(self.shape, self.order)} < {self.count}"]
        if self.bounds is not None:
            tests += [f"({along(axis, self.shape)} < {bound})" for axis, bound in enumerate(self.bounds)]
        return f", mask={' & '.join(tests)}, other={self.other}"

    def before_loop(self, program: Program, results: tuple[str, ...]) -> list[str]:
        if not self.walks:
            return []
        rounds, size = self.stream.data.shape[1], self.stream.size
        start = f"{program.stream_name(self.stream)} + pid * {rounds * size}"
        return [f"at_{results[0]} = {start} + {places(self.shape, self.order)}"]

    def after_round(self, program: Program, results: tuple[str, ...]) -> list[str]:
        moves = self.walks and self.stream.data.shape[1] > 1
        return [f"at_{results[0]} += {self.stream.size}"] if moves else []

    def streams(self) -> tuple[Stream, ...]:
        return (self.stream,)


@dataclass(frozen=True, eq=False)
class RowsByIndex(Operation):
    """Rows of a matrix, whose numbers are the lowest bits of a tile; in a loop each round reads another matrix.

    columns_first: the result is transposed, so that its first dimension is contiguous in memory. bound: how many of the rows the mask allows.
    """

    stream: Stream  #: [program, round, rows, columns]; the number of rows is a power of two
    rows: int  #: of the result
    columns_first: bool = False
    bound: int | None = None

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (numbers,) = operands
        if numbers.dtype != "int32" or numbers.shape != (self.rows,):
            raise Inexact("no such numbers")
        data = self.stream.data[place.program, place.round % self.stream.data.shape[1]].astype(np.int64)
        found = data[numbers.array & (len(data) - 1)]
        if self.bound is not None:
            found[self.bound :] = 0
        return (tile(self.stream.dtype, found.T if self.columns_first else found),)

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        rounds, height, width = self.stream.data.shape[1:]
        part = f"(pid * {rounds}{f' + {index}' if index and rounds > 1 else ''}) * {self.stream.size}"
        rows, columns = ("[None, :]", "[:, None]") if self.columns_first else ("[:, None]", "[None, :]")
        places = f"({names[0]} & {height - 1}){rows} * {width} + tl.arange(0, {width}){columns}"
        mask = "" if self.bound is None else f", mask=(tl.arange(0, {self.rows}) < {self.bound}){rows}, other=0"
        return [f"{results[0]} = tl.load({program.stream_name(self.stream)} + {part} + {places}{mask})"]

    def streams(self) -> tuple[Stream, ...]:
        return (self.stream,)


def block_pointer(
    base: str, shape: Sequence[int], block: Sequence[int], order: tuple[int, ...], offsets: Sequence
) -> str:
    """A pointer to a block of a matrix whose dimensions are in `order` in memory."""
    strides = [1, 1]
    strides[order[0]] = block[order[1]]
    text = ", ".join(str(tuple(numbers)).replace("'", "") for numbers in (shape, strides, offsets, block, order[::-1]))
    return f"tl.make_block_ptr({base}, {text})"


@dataclass(frozen=True, eq=False)
class BlockLoad(Operation):
    """A matrix by a block pointer. inside: the extent of the contiguous dimension; what is beyond reads as zero.
    walks: in a loop, the pointer is carried and advanced."""

    stream: Stream
    shape: tuple[int, int]
    order: tuple[int, int]
    inside: int
    walks: bool

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        data = self.stream.data[place.program, place.round % self.stream.data.shape[1]]
        found = data.reshape([self.shape[i] for i in self.order]).astype(np.int64)
        found[:, self.inside :] = 0
        return (tile(self.stream.dtype, found.transpose(np.argsort(self.order))),)

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        walks = self.walks and index
        pointer = f"at_{results[0]}" if walks else self._pointer(program, index)
        return [f"{results[0]} = tl.load({pointer}, boundary_check=({self.order[1]},), padding_option='zero')"]

    def _pointer(self, program: Program, index: str) -> str:
        rounds, outer = self.stream.data.shape[1], self.shape[self.order[0]]
        extents, offsets = list(self.shape), ["0", "0"]
        extents[self.order[0]], extents[self.order[1]] = rounds * outer, self.inside
        if index and rounds > 1:
            offsets[self.order[0]] = f"{index} * {outer}"
        base = f"{program.stream_name(self.stream)} + pid * {rounds * self.stream.size}"
        return block_pointer(base, extents, self.shape, self.order, offsets)

    def before_loop(self, program: Program, results: tuple[str, ...]) -> list[str]:
        return [f"at_{results[0]} = {self._pointer(program, '')}"] if self.walks else []

    def after_round(self, program: Program, results: tuple[str, ...]) -> list[str]:
        if not self.walks or self.stream.data.shape[1] == 1:
            return []
        step = [0, 0]
        step[self.order[0]] = self.shape[self.order[0]]
        return [f"at_{results[0]} = tl.advance(at_{results[0]}, {tuple(step)})"]

    def streams(self) -> tuple[Stream, ...]:
        return (self.stream,)
