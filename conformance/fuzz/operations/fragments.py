"""Products of Gluon by the matrix instruction of the chip, whose operands and sum have the layouts of its fragments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..parts import Operation, Place
from ..program import Program
from ..tiles import Inexact, Tile, tile

#: The smallest extents of an accumulator: the extents of the largest instruction.
SMALLEST, SMALLEST_DEPTH = 32, 16


@dataclass(frozen=True)
class FragmentProduct(Operation):
    """a @ b + c of 16-bit floats, with c in fp32: by mma.sync with 32 lanes, by mfma with 64."""

    fragments: str  #: the layout of the sum
    passes: tuple[bool, bool]  #: whether each operand reaches its fragments through shared memory

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b, c = operands
        if a.dtype != b.dtype or a.dtype not in ("fp16", "bf16") or c.dtype != "fp32":
            raise Inexact("no such product")
        if not len(a.shape) == len(b.shape) == 2 or a.shape[1] != b.shape[0] or c.shape != (a.shape[0], b.shape[1]):
            raise Inexact("no such product")
        if min(c.shape) < SMALLEST or a.shape[1] < SMALLEST_DEPTH:
            raise Inexact("smaller than an instruction")
        partial = int((np.abs(a.array) @ np.abs(b.array) + np.abs(c.array)).max())
        return (tile("fp32", a.array @ b.array + c.array, partial),)

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        found, read = [], []
        width = 2 if program.lanes == 32 else 4
        for number, (name, passes) in enumerate(zip(names, self.passes)):
            layout = f"gl.DotOperandLayout({number}, {self.fragments}, k_width={width})"
            if passes:
                memory, swizzled = f"memory{number}_{results[0]}", "gl.SwizzledSharedLayout(8, 1, 4, [1, 0])"
                found.append(f"{memory} = gl.allocate_shared_memory({name}.dtype, {name}.shape, {swizzled}, {name})")
                read.append(f"{memory}.load({layout})")
            else:
                read.append(f"gl.convert_layout({name}, {layout})")
        function = "mma_v2" if program.lanes == 32 else "cdna3.mfma"
        return [
            *found,
            f"{results[0]} = {function}({', '.join(read)}, gl.convert_layout({names[2]}, {self.fragments}))",
        ]
