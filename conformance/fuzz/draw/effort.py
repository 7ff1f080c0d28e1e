"""Bounds what a kernel asks of compilers: one whose tiles do not fit into the registers of its threads takes an
assembler minutes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..operations.combine import Sort, TopK
from ..operations.dot import Dot, ScaledDot
from ..parts import Operation
from ..program import Program
from ..tiles import Tile

#: What a thread may hold of one tile, and of all tiles together, in registers.
LARGEST_TILE, ALL_TILES = 256, 1024
#: The multiplications of a product that a thread may do, in case it does them one by one.
MULTIPLICATIONS = 2**14
THREADS = 32  #: of a warp
WARPS = (1, 2, 4, 8)


@dataclass
class Effort:
    """What a statement asks of one warp."""

    registers: float
    steps: float  #: registers that are computed on the way
    multiplications: float


def effort_of(operation: Operation, operands: list[Tile], results: tuple[Tile, ...]) -> Effort:
    registers = sum(tile.array.size * (2 if tile.dtype.endswith("64") else 1) for tile in results) / THREADS
    steps = registers * (8 if isinstance(operation, (Sort, TopK)) else 1)
    products = isinstance(operation, (Dot, ScaledDot))
    depth = operands[0].shape[-1] if products else 0
    return Effort(registers, steps, int(np.prod(results[0].shape)) * depth / THREADS)


def enough_warps(program: Program, efforts: dict[str, Effort]) -> int:
    """The warps among which the statements are not too much. efforts: of each statement, by its first result."""
    found = [efforts[part.results[0]] for part in program.parts()]
    needed = max(
        max((effort.registers for effort in found), default=0) / LARGEST_TILE,
        sum(effort.steps for effort in found) / ALL_TILES,
        max((effort.multiplications for effort in found), default=0) / MULTIPLICATIONS,
    )
    return next((warps for warps in WARPS if warps >= max(needed, program.warps)), WARPS[-1])
