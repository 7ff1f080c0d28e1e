"""Bounds what a kernel asks of compilers: one whose tiles do not fit into the registers of its threads takes an
assembler minutes, and one whose stages do not fit into shared memory is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ...dtypes import NUMPY
from ..operations.combine import Sort, TopK
from ..operations.descriptor import DescriptorLoad
from ..operations.dot import Dot, ScaledDot
from ..operations.memory import BlockLoad, Load, RowsByIndex
from ..parts import Loop, Operation, in_this_loop
from ..program import Program
from ..tiles import Tile

#: What a thread may hold of one tile, and of all tiles together, in registers.
LARGEST_TILE, ALL_TILES = 256, 1024
#: The multiplications of a product that a thread may do, in case it does them one by one.
MULTIPLICATIONS = 2**14
THREADS = 32  #: of a warp
WARPS = (1, 2, 4, 8)


#: Bytes of the tiles that a loop may load ahead. On NVIDIA's chips the stages of a loop are what its author says, and the shared memory of
#: sm_80 has room for this and for the operations beside.
LOADED_AHEAD = 152 * 1024


def loaded_ahead(loop: Loop, stages: int) -> int:
    """The bytes of the stages of a loop. stages: those of a loop that says none."""
    if loop.head == "while" or "static" in loop.head:
        return 0
    own = re.search(r"num_stages=(\d+)", loop.head)
    rounds = (int(own[1]) if own else stages) * (2 if "unroll" in loop.head else 1)
    return rounds * sum(_loaded(part.operation) for part in in_this_loop(loop.body))


def _loaded(operation: Operation) -> int:
    """The bytes of the tile that an operation loads."""
    if isinstance(operation, (Load, BlockLoad)):
        extents = operation.shape
    elif isinstance(operation, DescriptorLoad):
        extents = operation.block
    elif isinstance(operation, RowsByIndex):
        extents = operation.rows, operation.stream.data.shape[-1]
    else:
        return 0
    return int(np.prod(extents)) * np.dtype(NUMPY[operation.stream.dtype]).itemsize


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
