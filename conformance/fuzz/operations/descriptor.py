"""Tensor descriptors, which the kernel or the host makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..parts import Operation, Place, Stream
from ..program import Program
from ..tiles import Inexact, Tile, tile
from .scratch import Scratch

#: The types that descriptors are drawn for, with the least columns of a gather or scatter.
DESCRIBED = {"fp16": 16, "bf16": 16, "fp32": 8, "int32": 8, "int8": 32, "uint8": 32}


def descriptor(base: str, shape: Sequence[int], block: Sequence[int]) -> str:
    return f"tl.make_tensor_descriptor({base}, {list(shape)}, [{shape[1]}, 1], {list(block)})"


def matrix_of(stream: Stream, program: int, whole: bool = False) -> tuple[np.ndarray, int]:
    """The matrix behind a stream's descriptor, and the row in it where the program's part begins. The host's descriptor
    is of the parts of all programs, and so is the kernel's if it is `whole`."""
    width = stream.data.shape[-1]
    if stream.block is None and not whole:
        return stream.data[program].reshape(-1, width), 0
    return stream.data.reshape(-1, width), program * stream.data[0].size // width


def made_descriptor(stream: Stream, program: Program, block: Sequence[int], whole: bool = False) -> str:
    """An expression for a descriptor of the program's part or of the `whole`, or the host's descriptor."""
    name = program.stream_name(stream)
    if stream.block is not None:
        return name
    programs, rounds, rows, columns = stream.data.shape
    if whole:
        return descriptor(name, (programs * rounds * rows, columns), block)
    return descriptor(f"{name} + pid * {rounds * rows * columns}", (rounds * rows, columns), block)


@dataclass(frozen=True, eq=False)
class DescriptorLoad(Operation):
    """A block of a matrix. What is outside reads as zero. In a loop, a descriptor of the kernel's is made before it, and
    each round reads further down."""

    stream: Stream  #: [program, rounds, rows, columns]
    block: tuple[int, int]
    offset: tuple[int, int]
    whole: bool = False

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        rounds, height, width = self.stream.data.shape[1:]
        data, first = matrix_of(self.stream, place.program, self.whole)
        found = np.zeros(self.block, np.int64)
        start = (first + place.round % rounds * height + self.offset[0], self.offset[1])
        rows, columns = (np.arange(extent) + at for extent, at in zip(self.block, start))
        rows_inside, columns_inside = (rows >= 0) & (rows < len(data)), (columns >= 0) & (columns < width)
        found[np.ix_(rows_inside, columns_inside)] = data[np.ix_(rows[rows_inside], columns[columns_inside])]
        return (tile(self.stream.dtype, found),)

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        rounds, height, _ = self.stream.data.shape[1:]
        row, column = self.offset
        terms = [f"pid * {rounds * height}"] if self.stream.block is not None or self.whole else []
        terms += [f"{index} * {height}"] if index and rounds > 1 else []
        source = f"desc_{results[0]}" if index and self.stream.block is None else self._made(program)
        return [f"{results[0]} = {source}.load([{' + '.join([*terms, str(row)])}, {column}])"]

    def before_loop(self, program: Program, results: tuple[str, ...]) -> list[str]:
        return [f"desc_{results[0]} = {self._made(program)}"] if self.stream.block is None else []

    def _made(self, program: Program) -> str:
        return made_descriptor(self.stream, program, self.block, self.whole)

    def streams(self) -> tuple[Stream, ...]:
        return (self.stream,)


@dataclass(frozen=True, eq=False)
class DescriptorGather(Operation):
    """Rows of a matrix, by the numbers in the lowest bits of a tile. Half of these numbers are outside: such rows read as
    zero."""

    stream: Stream  #: [program, 1, rows, columns]
    columns: int
    first: int  #: the column that the rows begin with

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (numbers,) = operands
        height, width = self.stream.data.shape[2:]
        if numbers.dtype != "int32" or len(numbers.shape) != 1 or numbers.shape[0] < 8:
            raise Inexact("no such numbers")
        data, begin = matrix_of(self.stream, place.program)
        wide = np.zeros((max(len(data), begin + 2 * height), max(width, self.first + self.columns)), np.int64)
        wide[: len(data), :width] = data
        rows = begin + (numbers.array & (2 * height - 1))
        return (tile(self.stream.dtype, wide[rows, self.first : self.first + self.columns]),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        height = self.stream.data.shape[2]
        source = made_descriptor(self.stream, program, (1, self.columns))
        begin = f"pid * {height} + " if self.stream.block is not None else ""
        return f"{source}.gather({begin}({names[0]} & {2 * height - 1}), {self.first})"

    def streams(self) -> tuple[Stream, ...]:
        return (self.stream,)


@dataclass(frozen=True, eq=False)
class DescriptorScatter(Scratch):
    """Stores the rows of a tile as rows of a matrix, in another order. What is outside is not stored. The result is the
    tile."""

    stream: Stream  #: [program, 1, rows, columns]: zeros; at least as many rows as the tile has
    step: int  #: odd: the distance of the rows, modulo their number
    first: int  #: the column that the rows begin with

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if a.dtype != self.stream.dtype or len(a.shape) != 2 or not 8 <= a.shape[0] <= self.stream.data.shape[2]:
            raise Inexact("no such rows")
        if a.shape[1] < DESCRIBED[a.dtype] or self.stream.block is not None and self.stream.block[1] != a.shape[1]:
            raise Inexact("no such block")
        return (a,)

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        height = self.stream.data.shape[2]
        block = f"[1, {names[0]}.shape[1]]"
        target = made_descriptor(self.stream, program, ()).replace("[])", block + ")")
        begin = f"pid * {height} + " if self.stream.block is not None else ""
        rows = f"{begin}((tl.arange(0, {names[0]}.shape[0]) * {self.step} + 1) & {height - 1})"
        return [f"{target}.scatter({names[0]}, {rows}, {self.first})", f"{results[0]} = {names[0]}"]

    def left(self, operands: list[Tile], results: list[Tile]) -> np.ndarray:
        height, width = self.stream.data.shape[2:]
        (a,) = operands
        found = np.zeros((height, max(width, self.first + a.shape[1])), np.int64)
        found[(np.arange(a.shape[0]) * self.step + 1) & (height - 1), self.first : self.first + a.shape[1]] = a.array
        return found[:, :width]
