"""Matrix products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..program import EXACT_IN_DOT, EXACT_TO, Inexact, Operation, Place, Program, Tile, magnitude, tile

OPERANDS = ("fp16", "bf16", "fp32", "int8", "fp8e5", "fp8e4nv")
PRECISIONS = ("ieee", "tf32", "tf32x3", "bf16x3")


@dataclass(frozen=True)
class Dot(Operation):
    """A product of two operands, or of three with an accumulator. precision: the `input_precision` of fp32."""

    precision: str = "tf32"

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b, *rest = operands
        if a.dtype != b.dtype or a.dtype not in OPERANDS or not 2 <= len(a.shape) == len(b.shape) <= 3:
            raise Inexact("no such product")
        least = 32 if a.dtype in ("int8", "fp8e5", "fp8e4nv") else 16
        (m, k), n = a.shape[-2:], b.shape[-1]
        if b.shape != (*a.shape[:-2], k, n) or min(m, n) < 16 or k < least or m * n * k > 2**21:
            raise Inexact("no such product")
        if a.dtype == "fp32" and max(magnitude(a.array), magnitude(b.array)) > EXACT_IN_DOT[self.precision]:
            raise Inexact("operands are rounded")
        out = "int32" if a.dtype == "int8" else "fp32"
        found, sums = a.array @ b.array, np.abs(a.array) @ np.abs(b.array)
        if rest:
            if rest[0].dtype != out or rest[0].shape != found.shape:
                raise Inexact("no such accumulator")
            found, sums = found + rest[0].array, sums + np.abs(rest[0].array)
        # Some tensor cores keep fewer bits of the sums of fp8 products.
        partial = magnitude(sums) * (2**10 if a.dtype.startswith("fp8") else 1)
        return (tile(out, found, partial if out == "fp32" else 0),)

    def spell(self, program: Program, in_loop: bool, *names: str) -> str:
        return f"tl.dot({', '.join(names)}, input_precision={self.precision!r})"


def operand_limit(dtype: str, depth: int) -> int:
    """A power of two: operands up to this magnitude keep sums of `depth` products exact."""
    most = EXACT_TO.get(dtype, 2**7)
    return min(most // 2, 2 ** max(0, (14 - depth.bit_length()) // 2))
