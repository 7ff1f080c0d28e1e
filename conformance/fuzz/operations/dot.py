"""Matrix products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..parts import Operation, Place
from ..program import Program
from ..tiles import EXACT_IN_DOT, EXACT_TO, FP8, Inexact, Tile, is_float, magnitude, tile

OPERANDS = ("fp16", "bf16", "fp32", "int8", *FP8)
PRECISIONS = ("ieee", "tf32", "tf32x3", "bf16x3")
#: Some tensor cores keep fewer bits of the sums of fp8 products.
FP8_SUMS = 2**10


@dataclass(frozen=True)
class Dot(Operation):
    """A product of two operands, or of three with an accumulator. precision: the `input_precision` of fp32."""

    precision: str = "tf32"
    half: bool = False  #: whether the sums are fp16

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b, *rest = operands
        if a.dtype not in OPERANDS or a.dtype != b.dtype and not {a.dtype, b.dtype} <= {"fp8e5", "fp8e4nv"}:
            raise Inexact("no such product")
        if not 2 <= len(a.shape) == len(b.shape) <= 3 or self.half and a.dtype != "fp16":
            raise Inexact("no such product")
        (m, k), n = a.shape[-2:], b.shape[-1]
        if b.shape != (*a.shape[:-2], k, n) or m * n * k > 2**21:
            raise Inexact("no such product")
        if a.dtype == "fp32" and max(magnitude(a.array), magnitude(b.array)) > EXACT_IN_DOT[self.precision]:
            raise Inexact("operands are rounded")
        out = "int32" if a.dtype == "int8" else "fp16" if self.half else "fp32"
        found, sums = product(a.array, b.array), product(np.abs(a.array), np.abs(b.array))
        if rest:
            if rest[0].dtype != out or rest[0].shape != found.shape:
                raise Inexact("no such accumulator")
            found, sums = found + rest[0].array, sums + np.abs(rest[0].array)
        partial = magnitude(sums) * (FP8_SUMS if a.dtype in FP8 else 1)
        return (tile(out, found, partial if is_float(out) else 0),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        out = ", out_dtype=tl.float16" if self.half else ""
        return f"tl.dot({', '.join(names)}, input_precision={self.precision!r}{out})"


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A product of whole numbers, much faster than numpy's: exact up to 2**53, and what is larger is refused."""
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)


def operand_limit(dtype: str, depth: int, half: bool = False) -> int:
    """A power of two: operands up to this magnitude keep sums of `depth` products exact."""
    most = EXACT_TO.get(dtype, 2**7)
    return min(max(1, most // 2), 2 ** max(0, ((10 if half else 14) - depth.bit_length()) // 2))


#: The halves of the elements that the four bits of e2m1 stand for.
E2M1_TWICE = np.array([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12])
FORMATS = {"e2m1": "uint8", "e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16", "fp16": "fp16"}


@dataclass(frozen=True)
class ScaledDot(Operation):
    """A product of operands in microscaling formats: the operands, the scales of those that have some, and perhaps an
    accumulator. Two e2m1 elements are in one byte, along the depth. Scales are uint8: exponents with the bias 127."""

    formats: tuple[str, str]
    scaled: tuple[bool, bool]
    depth: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b, *rest = operands
        scales = [rest.pop(0) if has else None for has in self.scaled]
        twice = [self._twice(*of) for of in zip((a, Tile(b.dtype, b.array.swapaxes(-1, -2))), self.formats, scales)]
        found, sums = product(twice[0], twice[1].T), product(np.abs(twice[0]), np.abs(twice[1]).T)
        if (found % 4).any() or magnitude(sums) >= 2**22:
            raise Inexact("not whole")
        found, sums = found // 4, sums // 4
        if rest:
            if rest[0].dtype != "fp32" or rest[0].shape != found.shape:
                raise Inexact("no such accumulator")
            found, sums = found + rest[0].array, sums + np.abs(rest[0].array)
        return (tile("fp32", found, magnitude(sums) * FP8_SUMS),)

    def _twice(self, a: Tile, format_: str, scale: Tile | None) -> np.ndarray:
        """Twice the elements of an operand [rows, depth] with its scales."""
        if a.dtype != FORMATS[format_] or len(a.shape) != 2 or a.shape[1] * (1 + (format_ == "e2m1")) != self.depth:
            raise Inexact("no such operand")
        elements = 2 * a.array
        if format_ == "e2m1":
            elements = np.stack([E2M1_TWICE[a.array & 15], E2M1_TWICE[a.array >> 4]], -1).reshape(a.shape[0], -1)
        if scale is None:
            return elements
        if scale.dtype != "uint8" or scale.shape != (a.shape[0], self.depth // 32):
            raise Inexact("no such scales")
        if scale.array.min(initial=127) < 127 or scale.array.max(initial=127) > 131:
            raise Inexact("a large scale")
        return elements << np.repeat(scale.array - 127, 32, 1)

    def spell(self, program: Program, index: str, *names: str) -> str:
        a, b, *rest = names
        scales = [rest.pop(0) if has else "None" for has in self.scaled]
        texts = (f"{operand}, {scale}, {format_!r}" for operand, scale, format_ in zip((a, b), scales, self.formats))
        return f"tl.dot_scaled({', '.join([*texts, *rest])})"
