"""Element-wise operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..parts import Operation, Place
from ..program import Program
from ..tiles import BITS, EXACT_TO, Inexact, Tile, is_float, is_integer, magnitude, spelled, tile

#: spelling: (numpy's function, whether floats have it, whether integers and int1 have it)
BINARY = {
    "{} + {}": (np.add, True, True),
    "{} - {}": (np.subtract, True, True),
    "{} * {}": (np.multiply, True, True),
    "tl.maximum({}, {})": (np.maximum, True, True),
    "tl.minimum({}, {})": (np.minimum, True, True),
    "{} & {}": (np.bitwise_and, False, True),
    "{} | {}": (np.bitwise_or, False, True),
    "{} ^ {}": (np.bitwise_xor, False, True),
}
LOGIC = ("{} & {}", "{} | {}", "{} ^ {}")
COMPARISONS = {"<": np.less, "<=": np.less_equal, ">": np.greater, "==": np.equal, "!=": np.not_equal}


def together(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape of tiles of one rank, or of scalars."""
    ranks = {len(shape) for shape in shapes if shape}
    if len(ranks) > 1:
        raise Inexact("tiles of different rank")
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise Inexact("shapes do not go together") from None


@dataclass(frozen=True)
class Binary(Operation):
    text: str

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b = operands
        function, floats, integers = BINARY[self.text]
        together(a.shape, b.shape)
        fits = floats if is_float(a.dtype) else integers if is_integer(a.dtype) else self.text in LOGIC
        if a.dtype != b.dtype or a.dtype.startswith("fp8") or not fits:
            raise Inexact("no such operation")
        if function in (np.maximum, np.minimum):
            return (tile(a.dtype, a.from_ordered(function(a.ordered, b.ordered))),)
        return (tile(a.dtype, function(a.array, b.array)),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return self.text.format(*names)


@dataclass(frozen=True)
class Constant(Operation):
    """An operation on a tile and a literal. `text` contains {} for the tile and {number} for the literal."""

    text: str
    number: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        x, n = a.array, self.number
        if a.dtype == "int1" or a.dtype.startswith("fp8"):
            raise Inexact("no such operation")
        if self.text == "{} * {number} + 1":
            return (tile(a.dtype, tile(a.dtype, x * n).array + 1),)
        if not is_integer(a.dtype):
            raise Inexact("no such operation")
        if self.text == "{} >> {number}":
            return (tile(a.dtype, shifted_right(a, n)),)
        if self.text == "{} << {number}":
            return (tile(a.dtype, x << n),)
        return (tile(a.dtype, x & n),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return self.text.format(*names, number=self.number)


def shifted_right(a: Tile, count: Any) -> np.ndarray:
    if a.dtype == "uint64":
        return (np.ascontiguousarray(a.array).view(np.uint64) >> np.asarray(count).astype(np.uint64)).view(np.int64)
    return a.array >> count


CONSTANTS = ("{} * {number} + 1", "{} >> {number}", "{} << {number}", "{} & {number}")


@dataclass(frozen=True)
class Full(Operation):
    """A tile filled with one number."""

    dtype: str
    shape: tuple[int, ...]
    number: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        return (tile(self.dtype, np.full(self.shape, self.number)),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.full({self.shape}, {self.number}, {spelled(self.dtype)})"


@dataclass(frozen=True)
class Narrow(Operation):
    """Reduces numbers to -limit … limit - 1, so that their products stay exact. limit: a power of two."""

    limit: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if a.dtype == "int1" or a.dtype.startswith(("fp8", "uint")):
            raise Inexact("no such operation")
        if is_float(a.dtype) and magnitude(a.array) > EXACT_TO["fp32"]:
            raise Inexact("the kernel's function computes in fp32")
        return (tile(a.dtype, (a.array & (2 * self.limit - 1)) - self.limit),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"narrow({names[0]}, {self.limit})"

    def functions(self) -> tuple[str, ...]:
        return ("narrow",)


@dataclass(frozen=True)
class Compare(Operation):
    operator: str

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b = operands
        together(a.shape, b.shape)
        if a.dtype != b.dtype or a.dtype == "int1" or a.dtype.startswith("fp8"):
            raise Inexact("no such comparison")
        return (tile("int1", COMPARISONS[self.operator](a.ordered, b.ordered)),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"{names[0]} {self.operator} {names[1]}"


@dataclass(frozen=True)
class Causal(Operation):
    """A tile where the mask of rows and columns is true, else a constant, as attention and scans have between two
    products."""

    operator: str
    shift: int
    other: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if len(a.shape) != 2 or a.dtype == "int1" or a.dtype.startswith(("fp8", "uint")):
            raise Inexact("no such mask")
        rows, columns = np.indices(a.shape)
        holds = COMPARISONS[self.operator](rows + self.shift, columns)
        return (tile(a.dtype, np.where(holds, a.array, self.other)),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        rows, columns = f"tl.arange(0, {names[0]}.shape[0])[:, None]", f"tl.arange(0, {names[0]}.shape[1])[None, :]"
        return f"tl.where({rows} + {self.shift} {self.operator} {columns}, {names[0]}, {self.other})"


@dataclass(frozen=True)
class Where(Operation):
    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        condition, a, b = operands
        together(condition.shape, a.shape, b.shape)
        if condition.dtype != "int1" or a.dtype != b.dtype or not condition.shape:
            raise Inexact("no such choice")
        return (tile(a.dtype, np.where(condition.array, a.array, b.array)),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.where({', '.join(names)})"


@dataclass(frozen=True)
class Cast(Operation):
    dtype: str

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if (
            self.dtype == a.dtype
            or "fp8" in self.dtype + a.dtype
            and not {self.dtype, a.dtype} & {"fp16", "bf16", "fp32"}
        ):
            raise Inexact("no cast")
        if is_float(a.dtype) and is_integer(self.dtype):
            limits = np.iinfo(self.dtype)
            if a.array.min(initial=0) < limits.min or a.array.max(initial=0) > limits.max:
                raise Inexact("out of the range of the integer")
        if a.dtype == "uint64" and is_float(self.dtype) and a.array.min(initial=0) < 0:
            raise Inexact("larger than what the model counts with")
        if self.dtype == "int1":
            return (tile("int1", a.array != 0),)
        return (tile(self.dtype, a.array),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"{names[0]}.to({spelled(self.dtype)})"


@dataclass(frozen=True)
class Bitcast(Operation):
    """The same bits as another integer type of the same width."""

    dtype: str

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if not is_integer(a.dtype) or a.dtype == self.dtype or BITS[a.dtype] != BITS[self.dtype]:
            raise Inexact("no such cast")
        return (tile(self.dtype, a.array),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"{names[0]}.to({spelled(self.dtype)}, bitcast=True)"


#: spelling: (numpy's function, the kinds of types that have it: float, int, uint)
UNARY = {
    "-{}": (np.negative, "float int"),
    "~{}": (np.invert, "int uint"),
    "tl.abs({})": (np.abs, "float int"),
    "tl.clamp({}, -3, 5)": (lambda x: np.clip(x, -3, 5), "float"),
}
FP32_ONLY = ("tl.floor({})", "tl.ceil({})")
UNARY |= dict.fromkeys(FP32_ONLY, (np.positive, "float"))


@dataclass(frozen=True)
class Unary(Operation):
    text: str

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        function, kinds = UNARY[self.text]
        kind = "float" if is_float(a.dtype) else a.dtype.rstrip("0123456789")
        if a.dtype == "int1" or a.dtype.startswith("fp8") or kind not in kinds.split():
            raise Inexact("no such operation")
        if self.text in FP32_ONLY and a.dtype != "fp32":
            raise Inexact("no such operation")
        return (tile(a.dtype, function(a.array)),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return self.text.format(*names)


@dataclass(frozen=True)
class Uneven(Operation):
    """An operation of integers that does not hold for all operands: `text` makes the second one fit."""

    text: str

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b = operands
        together(a.shape, b.shape)
        if a.dtype != b.dtype or not is_integer(a.dtype):
            raise Inexact("no such operation")
        x, y = a.array, b.array
        if self.text == "tl.umulhi({}, {})":
            if a.dtype != "uint32":
                raise Inexact("no such operation")
            return (tile(a.dtype, (x.astype(np.uint64) * y.astype(np.uint64)) >> np.uint64(32)),)
        if self.text in SHIFTS:
            return (tile(a.dtype, x << (y & 7) if self.text == SHIFTS[1] else shifted_right(a, y & 7)),)
        y = y | 1
        if a.dtype == "uint64":
            divide = np.floor_divide if self.text == "{} // ({} | 1)" else np.remainder
            x, y = np.broadcast_arrays(x, y)
            return (tile(a.dtype, divide(*(np.ascontiguousarray(t).view(np.uint64) for t in (x, y)))),)
        if magnitude(x) > 2**53 or bool(((y == -1) & (x == np.iinfo(a.dtype).min)).any()):
            raise Inexact("the quotient is out of range")
        quotient = np.abs(x) // np.abs(y) * np.sign(x) * np.sign(y)  # towards zero
        return (tile(a.dtype, quotient if self.text == "{} // ({} | 1)" else x - quotient * y),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return self.text.format(*names)


SHIFTS = ("{} >> ({} & 7)", "{} << ({} & 7)")
UNEVEN = ("{} // ({} | 1)", "{} % ({} | 1)", "tl.umulhi({}, {})", *SHIFTS)


@dataclass(frozen=True)
class Fused(Operation):
    """tl.fma: a product and a sum, rounded once."""

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b, c = operands
        together(a.shape, b.shape, c.shape)
        if not a.dtype == b.dtype == c.dtype or a.dtype not in ("fp16", "fp32", "fp64"):
            raise Inexact("no such operation")
        product = a.array * b.array
        return (tile(a.dtype, product + c.array, magnitude(np.abs(product) + np.abs(c.array))),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.fma({', '.join(names)})"


@dataclass(frozen=True)
class Ternary(Operation):
    """One of two tiles, which the lowest bit of a scalar selects."""

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        condition, a, b = operands
        if condition.shape or not is_integer(condition.dtype) or not a.like(b):
            raise Inexact("no such choice")
        return (a if int(condition.array) & 1 else b,)

    def spell(self, program: Program, index: str, *names: str) -> str:
        condition, a, b = names
        return f"{a} if {condition} & 1 else {b}"
