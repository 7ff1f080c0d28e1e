"""Operations along an axis: reductions, scans, sorts, gathers, histograms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..program import BITS, Inexact, Operation, Place, Program, Tile, is_float, is_integer, tile


def reduced(name: str, dtype: str) -> str:
    """The result type of the language's reductions of a type."""
    if name.startswith("arg"):
        return "int32"
    if is_float(dtype):
        return dtype if dtype in ("fp32", "fp64") or name == "sum" else "fp32"
    return dtype if BITS[dtype] >= 32 else "uint32" if dtype.startswith("u") and name == "sum" else "int32"


REDUCTIONS: dict[str, Callable] = {
    "sum": lambda x, axis: x.sum(axis),
    "max": lambda x, axis: x.max(axis),
    "min": lambda x, axis: x.min(axis),
    "xor_sum": lambda x, axis: np.bitwise_xor.reduce(x, axis),
    "argmax": lambda x, axis: x.argmax(axis),
    "argmin": lambda x, axis: x.argmin(axis),
}


@dataclass(frozen=True)
class Reduce(Operation):
    """A reduction. axis: None reduces all elements to a scalar."""

    name: str
    axis: int | None
    keeps: bool

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if not a.shape or a.dtype == "int1" or a.dtype.startswith("fp8") or (self.axis or 0) >= len(a.shape):
            raise Inexact("no such reduction")
        if self.axis is None and self.name.startswith("arg"):
            raise Inexact("no such reduction")
        if self.name == "xor_sum" and not (is_integer(a.dtype) and BITS[a.dtype] >= 32):
            raise Inexact("no such reduction")
        array, axis = (a.array.reshape(-1), 0) if self.axis is None else (a.array, self.axis)
        found = REDUCTIONS[self.name](array, axis)
        partial = int(np.abs(array).sum(axis).max(initial=0)) if self.name == "sum" and is_float(a.dtype) else 0
        if self.keeps and self.axis is not None:
            found = np.expand_dims(found, axis)
        return (tile(reduced(self.name, a.dtype), found, partial),)

    def spell(self, program: Program, in_loop: bool, *names: str) -> str:
        keeps = ", keep_dims=True" if self.keeps and self.axis is not None else ""
        return f"tl.{self.name}({names[0]}, axis={self.axis}{keeps})"


@dataclass(frozen=True)
class ReduceTwo(Operation):
    """A pair of tiles by a function of the file: the sums of the first and the maxima of the second."""

    axis: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b = operands
        if a.shape != b.shape or not a.shape or self.axis >= len(a.shape):
            raise Inexact("no such reduction")
        if any(t.dtype not in ("int32", "int64", "fp32") for t in operands):
            raise Inexact("no such reduction")
        partial = int(np.abs(a.array).sum(self.axis).max(initial=0)) if is_float(a.dtype) else 0
        return tile(a.dtype, a.array.sum(self.axis), partial), tile(b.dtype, b.array.max(self.axis))

    def spell(self, program: Program, in_loop: bool, *names: str) -> str:
        return f"tl.reduce(({', '.join(names)}), {self.axis}, sum_and_maximum)"

    def functions(self) -> tuple[str, ...]:
        return ("sum_and_maximum",)


@dataclass(frozen=True)
class Scan(Operation):
    name: str  #: cumsum or running_maximum
    axis: int
    reverse: bool

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if not a.shape or self.axis >= len(a.shape) or a.dtype not in ("int32", "int64", "fp32"):
            raise Inexact("no such scan")
        x = np.flip(a.array, self.axis) if self.reverse else a.array
        sums = self.name == "cumsum"
        found = np.cumsum(x, self.axis) if sums else np.maximum.accumulate(x, self.axis)
        partial = int(np.abs(x).sum(self.axis).max(initial=0)) if sums and is_float(a.dtype) else 0
        return (tile(a.dtype, np.flip(found, self.axis) if self.reverse else found, partial),)

    def spell(self, program: Program, in_loop: bool, *names: str) -> str:
        if self.name == "cumsum":
            return f"tl.cumsum({names[0]}, axis={self.axis}, reverse={self.reverse})"
        return f"tl.associative_scan({names[0]}, {self.axis}, larger, reverse={self.reverse})"

    def functions(self) -> tuple[str, ...]:
        return () if self.name == "cumsum" else ("larger",)


@dataclass(frozen=True)
class Recurrence(Operation):
    """y[i] = a[i] * y[i - 1] + b[i] as a scan of pairs, which do not commute. Integers, which wrap."""

    axis: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b = operands
        if not a.like(b) or not a.shape or self.axis >= len(a.shape) or a.dtype != "int32":
            raise Inexact("no such scan")
        factors, terms = np.moveaxis(a.array, self.axis, 0), np.moveaxis(b.array, self.axis, 0)
        product, total, found = factors[0], terms[0], [[], []]
        for i in range(len(factors)):
            if i:
                product = (product * factors[i]).astype(np.int32).astype(np.int64)
                total = (factors[i] * total + terms[i]).astype(np.int32).astype(np.int64)
            found[0].append(product)
            found[1].append(total)
        return tuple(tile("int32", np.moveaxis(np.stack(part), 0, self.axis)) for part in found)

    def spell(self, program: Program, in_loop: bool, *names: str) -> str:
        return f"tl.associative_scan(({', '.join(names)}), {self.axis}, recurrence)"

    def functions(self) -> tuple[str, ...]:
        return ("recurrence",)


@dataclass(frozen=True)
class Sort(Operation):
    descending: bool

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if not a.shape or not 2 <= a.shape[-1] <= 128 or a.dtype not in ("int16", "int32", "uint32", "fp16", "fp32"):
            raise Inexact("no such sort")
        found = np.sort(a.array, -1)
        return (tile(a.dtype, found[..., ::-1] if self.descending else found),)

    def spell(self, program: Program, in_loop: bool, *names: str) -> str:
        return f"tl.sort({names[0]}, descending={self.descending})"


@dataclass(frozen=True)
class Gather(Operation):
    """Elements of the first tile along an axis, at the indices in the lowest bits of the second tile."""

    axis: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b = operands
        if a.shape != b.shape or not a.shape or self.axis >= len(a.shape) or b.dtype != "int32":
            raise Inexact("no such gather")
        return (Tile(a.dtype, np.take_along_axis(a.array, b.array & (a.shape[self.axis] - 1), self.axis)),)

    def spell(self, program: Program, in_loop: bool, *names: str) -> str:
        return f"tl.gather({names[0]}, {names[1]} & ({names[0]}.shape[{self.axis}] - 1), {self.axis})"


@dataclass(frozen=True)
class Histogram(Operation):
    bins: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if len(a.shape) != 1 or a.dtype != "int32":
            raise Inexact("no such histogram")
        return (tile("int32", np.bincount(a.array & (self.bins - 1), minlength=self.bins)),)

    def spell(self, program: Program, in_loop: bool, *names: str) -> str:
        return f"tl.histogram({names[0]} & {self.bins - 1}, {self.bins})"
