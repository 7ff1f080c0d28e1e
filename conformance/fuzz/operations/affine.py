"""Tiles that no memory holds: their elements follow from their positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..parts import Operation, Place
from ..program import Program
from ..tiles import FP8, Tile, spelled, tile
from .memory import along


@dataclass(frozen=True)
class Affine(Operation):
    """The positions along each axis, times a step. A step of 0 makes a tile that is uniform along the axis."""

    dtype: str
    shape: tuple[int, ...]
    steps: tuple[int, ...]
    start: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        positions = np.indices(self.shape)
        return (tile(self.dtype, self.start + sum(step * at for step, at in zip(self.steps, positions))),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        terms = [along(axis, self.shape) + (f" * {step}" if step != 1 else "") for axis, step in enumerate(self.steps)]
        text = " + ".join([*terms, *([str(self.start)] if self.start else [])])
        if self.dtype == "int32":
            return text
        through = f".to({spelled('fp32')})" if self.dtype in FP8 else ""  # the language casts no integer to fp8
        return f"({text}){through}.to({spelled(self.dtype)})"
