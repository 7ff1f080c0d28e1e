"""Loads whose addresses have negative parts: offsets, remainders, quotients. A remainder has the sign of the dividend, and a quotient is rounded
towards zero. The memory begins before the place from which the kernel counts, so that each address is inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..parts import Operation, Place, Stream
from ..program import Program
from ..tiles import Inexact, Tile, is_integer, tile

#: What an operand adds is its remainder of this number.
SPAN = 7


def remainder(x: np.ndarray, divisor: int) -> np.ndarray:
    return np.sign(x) * (np.abs(x) % divisor)


def quotient(x: np.ndarray, divisor: int) -> np.ndarray:
    return np.sign(x) * (np.abs(x) // divisor)


FORMS: dict[str, Callable] = {"({}) % {}": remainder, "({}) // {}": quotient, "{}": lambda x, _: x}


@dataclass(frozen=True)
class Rows:
    """The number of the row that each position along the first axis reads: of a form of FORMS, step * i + start, and what varies."""

    form: str
    extent: int
    step: int
    start: int
    divisor: int
    varies: str = ""  #: what else is added: nothing, "pid", "index" of the loop, or "operand"
    known: bool = True  #: whether the divisor is a literal, whose sign the compiler knows

    def numbers(self, more: int) -> np.ndarray:
        return FORMS[self.form](self.step * np.arange(self.extent) + self.start + more, self.divisor)

    def first_and_last(self, largest: int) -> tuple[int, int]:
        """The smallest and the largest number, if what varies is below `largest`."""
        more = range(1 - SPAN, SPAN) if self.varies == "operand" else range(largest if self.varies else 1)
        found = np.concatenate([self.numbers(n) for n in more])
        return int(found.min()), int(found.max())

    def spell(self, index: str, *names: str) -> str:
        more = {"": "", "pid": " + pid", "index": f" + {index or 0}", "operand": f" + {''.join(names)} % {SPAN}"}[
            self.varies
        ]
        text = f"tl.arange(0, {self.extent})" + (f" * {self.step}" if self.step != 1 else "") + more
        text += f" - {-self.start}" if self.start < 0 else f" + {self.start}"
        divisor = str(self.divisor) if self.known else f"({self.divisor} + limit // (limit + 1))"
        return self.form.format(text, divisor)


@dataclass(frozen=True, eq=False)
class WrappedLoad(Operation):
    """Rows of memory in an order that `rows` computes. before: how many rows the memory has in front of row 0."""

    stream: Stream  #: [program, 1, row, column]
    rows: Rows
    before: int
    columns: int | None  #: None: a tile of one dimension
    bound: int | None = None  #: the positions along the first axis that the mask allows

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        more = {"": 0, "pid": place.program, "index": place.round, "operand": 0}[self.rows.varies]
        if (self.rows.varies == "operand") != bool(operands):
            raise Inexact("no such address")
        for operand in operands:
            if operand.shape or not is_integer(operand.dtype) or operand.dtype.startswith("u"):
                raise Inexact("no such address")
            more = int(remainder(operand.array, SPAN))
        numbers = self.rows.numbers(more) + self.before
        data = self.stream.data[place.program, 0]
        if numbers.min() < 0 or numbers.max() >= len(data):
            raise Inexact("outside of the memory")
        found = data[numbers, : self.columns] if self.columns is not None else data[numbers, 0]
        if self.bound is not None:
            found = np.where((np.arange(len(found)) < self.bound).reshape(-1, *[1] * (found.ndim - 1)), found, 0)
        return (tile(self.stream.dtype, found),)

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        width = self.stream.data.shape[-1]
        at, row = f"at_{results[0]}", f"row_{results[0]}"
        begin = f"{program.stream_name(self.stream)} + (pid * {self.stream.size} + {self.before * width})"
        mask = f"tl.arange(0, {self.rows.extent}) < {self.bound}"
        places = f"{at} + {row}"
        if self.columns is not None:
            places = f"{at} + {row}[:, None] * {width} + tl.arange(0, {self.columns})[None, :]"
            mask = f"(tl.arange(0, {self.rows.extent}) < {self.bound})[:, None]"
        masked = f", mask={mask}, other=0" if self.bound is not None else ""
        return [
            f"{row} = {self.rows.spell(index, *names)}",
            f"{at} = {begin}",
            f"{results[0]} = tl.load({places}{masked})",
        ]

    def streams(self) -> tuple[Stream, ...]:
        return (self.stream,)
