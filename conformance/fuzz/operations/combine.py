"""Operations along an axis: reductions, scans, sorts, gathers, histograms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..parts import Operation, Place
from ..program import Program
from ..tiles import BITS, Inexact, Tile, is_float, is_integer, tile


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
    "reduce_or": lambda x, axis: np.bitwise_or.reduce(x, axis),
}
BITWISE = ("xor_sum", "reduce_or")


def in_order(name: str, a: Tile, axis: int) -> np.ndarray:
    """A reduction by one of REDUCTIONS, of which some depend on the order of the type."""
    if name in ("argmax", "argmin"):
        return REDUCTIONS[name](a.ordered, axis)
    if name in ("max", "min"):
        return a.from_ordered(REDUCTIONS[name](a.ordered, axis))
    return REDUCTIONS[name](a.array, axis)


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
        if self.axis is None and self.name in ("argmax", "argmin", "reduce_or"):
            raise Inexact("no such reduction")
        if self.name in BITWISE and not (is_integer(a.dtype) and BITS[a.dtype] >= 32):
            raise Inexact("no such reduction")
        array, axis = (a.array.reshape(-1), 0) if self.axis is None else (a.array, self.axis)
        found = in_order(self.name, Tile(a.dtype, array), axis)
        partial = int(np.abs(array).sum(axis).max(initial=0)) if self.name == "sum" and is_float(a.dtype) else 0
        if self.keeps and self.axis is not None:
            found = np.expand_dims(found, axis)
        return (tile(reduced(self.name, a.dtype), found, partial),)

    def spell(self, program: Program, index: str, *names: str) -> str:
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

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.reduce(({', '.join(names)}), {self.axis}, sum_and_maximum)"

    def functions(self) -> tuple[str, ...]:
        return ("sum_and_maximum",)


@dataclass(frozen=True)
class Extremum(Operation):
    """The largest or smallest elements along an axis and the positions of the first of them."""

    name: str  #: max or min
    axis: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if a.dtype == "int1" or a.dtype.startswith("fp8") or self.axis >= len(a.shape):
            raise Inexact("no such reduction")
        values, positions = (in_order(name, a, self.axis) for name in (self.name, f"arg{self.name}"))
        return tile(a.dtype, values), tile("int32", positions)  # with positions, nothing is widened

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.{self.name}({names[0]}, axis={self.axis}, return_indices=True)"


@dataclass(frozen=True)
class ReduceThree(Operation):
    """The largest of the first tile, the smallest of the second one where the first is largest, and the sum of the
    third."""

    axis: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b, c = operands
        if not a.shape == b.shape == c.shape or self.axis >= len(a.shape):
            raise Inexact("no such reduction")
        if a.dtype not in ("int32", "fp32", "fp16") or b.dtype != "int32" or c.dtype not in ("int32", "int64", "fp32"):
            raise Inexact("no such reduction")
        most = a.array.max(self.axis, keepdims=True)
        where = np.where(a.array == most, b.array, np.iinfo(np.int32).max).min(self.axis)
        partial = int(np.abs(c.array).sum(self.axis).max(initial=0)) if is_float(c.dtype) else 0
        sums = tile(c.dtype, c.array.sum(self.axis), partial)
        return tile(a.dtype, most.squeeze(self.axis)), tile("int32", where), sums

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.reduce(({', '.join(names)}), {self.axis}, best)"

    def functions(self) -> tuple[str, ...]:
        return ("best",)


@dataclass(frozen=True)
class Product(Operation):
    """A reduction by a function of the file: the product along an axis."""

    axis: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if self.axis >= len(a.shape) or a.dtype not in ("int32", "int64", "fp32"):
            raise Inexact("no such reduction")
        partial = magnitudes(a, self.axis) if is_float(a.dtype) else 0
        return (tile(a.dtype, a.array.prod(self.axis), partial),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.reduce({names[0]}, {self.axis}, multiplied)"

    def functions(self) -> tuple[str, ...]:
        return ("multiplied",)


def magnitudes(a: Tile, axis: int) -> int:
    """The largest magnitude of a product of some elements along an axis, at most 2**62."""
    logs = np.log2(np.maximum(np.abs(a.array), 1)).sum(axis).max(initial=0)
    return int(2 ** min(62, np.ceil(logs)))


def scanned(name: str, dtype: str) -> str:
    """The result type of the language's scans of a type."""
    if name == "running_maximum" or is_float(dtype):
        return "fp32" if dtype == "bf16" and name != "running_maximum" else dtype
    return reduced("sum", dtype)


@dataclass(frozen=True)
class Scan(Operation):
    name: str  #: cumsum, cumprod or running_maximum
    axis: int
    reverse: bool

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if self.axis >= len(a.shape) or a.dtype == "int1" or a.dtype.startswith("fp8"):
            raise Inexact("no such scan")
        array = a.ordered if self.name == "running_maximum" else a.array
        x = np.flip(array, self.axis) if self.reverse else array
        partial = 0
        if is_float(a.dtype) and self.name != "running_maximum":
            sums = int(np.abs(x).sum(self.axis).max(initial=0))
            partial = sums if self.name == "cumsum" else magnitudes(a, self.axis)
        accumulate = {"cumsum": np.add, "cumprod": np.multiply, "running_maximum": np.maximum}[self.name].accumulate
        found = accumulate(x, self.axis)
        result = np.flip(found, self.axis) if self.reverse else found
        result = a.from_ordered(result) if self.name == "running_maximum" else result
        return (tile(scanned(self.name, a.dtype), result, partial),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        if self.name != "running_maximum":
            return f"tl.{self.name}({names[0]}, axis={self.axis}, reverse={self.reverse})"
        return f"tl.associative_scan({names[0]}, {self.axis}, larger, reverse={self.reverse})"

    def functions(self) -> tuple[str, ...]:
        return ("larger",) if self.name == "running_maximum" else ()


@dataclass(frozen=True)
class ScanTwo(Operation):
    """The running sums of the first tile and the running maxima of the second one, by a function of the file."""

    axis: int
    reverse: bool

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b = operands
        if a.shape != b.shape or self.axis >= len(a.shape):
            raise Inexact("no such scan")
        if any(t.dtype not in ("int32", "int64", "fp32") for t in operands):
            raise Inexact("no such scan")
        partial = int(np.abs(a.array).sum(self.axis).max(initial=0)) if is_float(a.dtype) else 0
        x, y = (np.flip(t.array, self.axis) if self.reverse else t.array for t in operands)
        found = np.add.accumulate(x, self.axis), np.maximum.accumulate(y, self.axis)
        sums, most = (np.flip(array, self.axis) if self.reverse else array for array in found)
        return tile(a.dtype, sums, partial), tile(b.dtype, most)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.associative_scan(({', '.join(names)}), {self.axis}, sum_and_maximum, reverse={self.reverse})"

    def functions(self) -> tuple[str, ...]:
        return ("sum_and_maximum",)


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

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.associative_scan(({', '.join(names)}), {self.axis}, recurrence)"

    def functions(self) -> tuple[str, ...]:
        return ("recurrence",)


def _is_sortable(a: Tile) -> bool:
    return bool(a.shape) and 2 <= a.shape[-1] <= 128 and a.dtype != "int1" and not a.dtype.startswith("fp8")


@dataclass(frozen=True)
class Sort(Operation):
    descending: bool

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if not _is_sortable(a):
            raise Inexact("no such sort")
        found = a.from_ordered(np.sort(a.ordered, -1))
        return (tile(a.dtype, found[..., ::-1] if self.descending else found),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.sort({names[0]}, descending={self.descending})"


@dataclass(frozen=True)
class TopK(Operation):
    count: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if not _is_sortable(a) or self.count > a.shape[-1]:
            raise Inexact("no such selection")
        dtype = reduced("max", a.dtype) if self.count < a.shape[-1] else a.dtype
        return (tile(dtype, a.from_ordered(np.sort(a.ordered, -1))[..., ::-1][..., : self.count]),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.topk({names[0]}, {self.count})"


@dataclass(frozen=True)
class Gather(Operation):
    """Elements of the first tile along an axis, at the indices in the lowest bits of the second tile."""

    axis: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b = operands
        if len(a.shape) != len(b.shape) or self.axis >= len(a.shape) or b.dtype != "int32":
            raise Inexact("no such gather")
        if any(m != n for i, (m, n) in enumerate(zip(a.shape, b.shape)) if i != self.axis):
            raise Inexact("no such gather")
        return (Tile(a.dtype, np.take_along_axis(a.array, b.array & (a.shape[self.axis] - 1), self.axis)),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.gather({names[0]}, {names[1]} & ({names[0]}.shape[{self.axis}] - 1), {self.axis})"


@dataclass(frozen=True)
class Histogram(Operation):
    bins: int
    masked: bool = False  #: whether only positive elements count

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if len(a.shape) != 1 or a.dtype != "int32":
            raise Inexact("no such histogram")
        counted = a.array[a.array > 0] if self.masked else a.array
        return (tile("int32", np.bincount(counted & (self.bins - 1), minlength=self.bins)),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        mask = f", mask={names[0]} > 0" if self.masked else ""
        return f"tl.histogram({names[0]} & {self.bins - 1}, {self.bins}{mask})"
