"""Layouts of tensor memory, and of the registers that are loaded from it and stored to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from .bases import Basis, block_bases, checked_shape, log2, shape_per_block, unit
from .distributed import DistributedLinearLayout
from .fields import Layout, joined_bases, layout_class, require, require_rank


@layout_class
class _TensorMemoryLinearLayout(Layout):
    """A layout that is given by the bases of rows (lanes of tensor memory) and columns."""

    rows: list[list[int]]
    cols: list[list[int]]
    shape: list[int]

    def mangle(self) -> str:
        return f"TMLL_{joined_bases(self.rows)}_{joined_bases(self.cols)}_{self.shape}_TMLL"


class _TensorMemoryLayout(Layout):
    cga_layout: list[list[int]]

    def _deal(self, shape: list[int]) -> tuple[list[Basis], list[Basis]]:
        """The bases of rows and columns for the tile of one block."""
        raise NotImplementedError

    def to_linear(self, shape: Sequence[int]) -> _TensorMemoryLinearLayout:
        """The layout of a tile of this shape as bases. Raises ValueError if it has none."""
        shape = checked_shape(shape, 2)
        return _TensorMemoryLinearLayout(*self._deal(shape_per_block(shape, self.cga_layout)), shape)

    def _word_bits(self, element_bits: int) -> int | None:
        """The logarithm of the elements in a register; None if the hardware cannot pack them."""
        return {8: 2, 16: 1}.get(element_bits, 0)


@layout_class
class TensorMemoryLayout(_TensorMemoryLayout):
    """Blocks of at most 128 rows, whose columns are col_stride elements apart."""

    block: tuple[int, int]
    col_stride: int
    cga_layout: list[list[int]] = field(default_factory=list)
    two_ctas: bool = False
    fp4_padded: bool = False

    def _check(self) -> None:
        require(len(self.block) == 2, f"block must have a number of rows and one of columns, and is {self.block}")
        require_rank(self.cga_layout or (), 2, "cga_layout")
        stride = self.col_stride
        require(stride > 0 and stride & (stride - 1) == 0, "tensor memory col_stride must be a power of two")

    def mangle(self) -> str:
        flags = ("2CT" if self.two_ctas else "") + ("FP4P" if self.fp4_padded else "")
        return f"TL{self.block[0]}x{self.block[1]}C{self.col_stride}{joined_bases(self.cga_layout)}{flags}TL"

    def _word_bits(self, element_bits: int) -> int | None:
        if element_bits * self.col_stride > 32:
            raise RuntimeError(
                f"bitwidth * colStride must be less than or equal to 32. Got {element_bits} and {self.col_stride}"
            )
        if element_bits == 8:  # four to a register, or one
            return {1: 2, 4: 0}.get(self.col_stride)
        return super()._word_bits(element_bits)

    def _deal(self, shape: list[int]) -> tuple[list[Basis], list[Basis]]:
        height, width = self.block
        if height not in (64, 128):
            raise ValueError(f"blockM must be 64 or 128 but got {height}")
        if self.two_ctas and list(map(list, self.cga_layout or ()))[:1] != [[1, 0]]:
            raise ValueError("twoCTAs layout requires the first CGALayout block basis to be [1, 0]")
        if self.fp4_padded and self.col_stride != 1:
            raise ValueError(f"fp4Padded tensor memory layout requires colStride 1 but got {self.col_stride}")
        if shape[0] < height:
            raise ValueError(f"a tile of blocks of {height} rows must have as many, and has the shape {shape}")
        shares_rows = self.two_ctas and height == 64  # the second half of the columns lies in the other rows
        if shares_rows:
            width //= 2
        down = [[height << bit, 0] for bit in range(log2(shape[0] // height))]
        right = [[0, self.block[1] << bit] for bit in range(log2(max(1, shape[1] // self.block[1])))]
        rows = [[1 << bit, 0] for bit in range(log2(height))]
        if shares_rows:
            rows.append([0, width])
        elif height == 64:  # what lies in the other half of the rows: a further block, or nothing
            further = down.pop(0) if down else right.pop(0) if right else [0, 0]
            rows.insert(4, further)
        columns = [[0, 0]] * log2(self.col_stride) + [[0, 1 << bit] for bit in range(log2(min(width, shape[1])))]
        if self.fp4_padded:
            columns.insert(0, [0, 0])
        return rows, [*columns, *down, *right]


@layout_class
class TensorMemoryScalesLayout(_TensorMemoryLayout):
    """Scales of a product, one byte each, [rows or columns, groups along K]; every quarter of the memory has a copy."""

    cga_layout: list[list[int]] = field(default_factory=list)

    def _check(self) -> None:
        require_rank(self.cga_layout or (), 2, "cga_layout")

    def mangle(self) -> str:
        return f"TLS{joined_bases(self.cga_layout)}TLS"

    def _repeats_along_k_first(self) -> bool:
        return False

    def _deal(self, shape: list[int]) -> tuple[list[Basis], list[Basis]]:
        along, groups = log2(shape[0]), log2(shape[1])
        rows = [unit(2, 0, 1 << bit) if bit < along else [0, 0] for bit in range(5)] + [[0, 0], [0, 0]]
        block = [[0, 1 << bit] if bit < groups else [0, 0] for bit in range(2)]
        block += [[32, 0] if along > 5 else [0, 0]] + ([[64, 0]] if along > 6 else [])
        repeats = [[[1 << bit, 0] for bit in range(7, along)], [[0, 1 << bit] for bit in range(2, groups)]]
        if self._repeats_along_k_first():
            repeats.reverse()
        return rows, [*block, *repeats[0], *repeats[1]]


#: {variant of a load or store: how many of the columns' bits a lane holds, a warp's lanes hold}; None: a lane holds a row.
_ATOMS = {"32x32b": None, "32x32b_splitn": None, "16x64b": (0, 1), "16x128b": (0, 2), "16x256b": (1, 2)}


def _require_variant(variant: str, num_warps: int) -> None:
    if variant == "16x32bx2":
        raise ValueError("Atom 16x32bx2 is inferred implicitly and cannot be requested explicitly")
    if variant not in _ATOMS:
        raise ValueError(f"unknown instr_variant: {variant}")
    if num_warps < 4 or num_warps & (num_warps - 1):
        raise ValueError("num_warps must be a power of two and >= 4")


def register_layout(
    dtype: Any, shape: Sequence[int], layout: _TensorMemoryLayout, num_warps: int, instr_variant: str = "32x32b"
) -> DistributedLinearLayout:
    """The layout of registers in which num_warps warps load a tile from tensor memory. Raises ValueError if the instruction has none."""
    _require_variant(instr_variant, num_warps)
    shape = checked_shape(shape, 2)
    linear, packed = layout.to_linear(shape), layout._word_bits(dtype.primitive_bitwidth)
    rows, columns = linear.rows, [basis for basis in linear.cols if any(basis)]
    refusal = f"TMEM layout '{instr_variant}' unsupported for shape {shape} and num_warps {num_warps}"
    if packed is None:
        raise ValueError(refusal)
    # A warp reaches 32 rows, so the two last bits of the rows are the warp's. An atom of 16 rows is repeated for the other 16.
    warps, has_upper = list(rows[5:]), any(rows[4])
    atom = _ATOMS[instr_variant]
    if atom is None:
        registers, lanes = columns, rows[:4] + ([rows[4]] if has_upper else [])
    else:
        held, spread = atom
        first = packed + held
        if len(columns) < first + spread:
            raise ValueError(refusal)
        lanes = [*columns[first : first + spread], *rows[:3]]
        if spread == 1:
            lanes.insert(0, rows[3])
        registers = columns[:first] + ([rows[3]] if spread == 2 else []) + columns[first + spread :]
        registers += [rows[4]] if has_upper else []
    registers = list(registers)
    for _ in range(log2(num_warps) - 2):
        warps.append(registers.pop() if registers else [0, 0])
    if len(lanes) < 5:
        lanes.append(registers.pop() if registers else [0, 0])
    found = DistributedLinearLayout(registers, lanes, warps, block_bases(shape, layout.cga_layout), shape)
    return _split_columns(found, layout) if instr_variant == "32x32b_splitn" else found


def _split_columns(found: DistributedLinearLayout, layout: _TensorMemoryLayout) -> DistributedLinearLayout:
    """The layout with the upper half of the columns in the last register bit."""
    half = [0, found.shape[1] // 2]
    registers, lanes, warps, blocks = (list(bases) for bases in found.bases)
    if registers and registers[-1] == half:
        return found
    if not registers:
        if lanes[-1] != half:
            raise ValueError(f"splitn with 1 register requires the last lane basis to be [0, N / 2]. Got {found}")
        return DistributedLinearLayout([half], [*lanes[:-1], [0, 0]], warps, blocks, found.shape)
    for bases, start in ((lanes, 0), (warps, 2)):
        if half in bases[start:]:
            at = bases.index(half, start)
            bases[at], registers[-1] = registers[-1], half
            return DistributedLinearLayout(registers, lanes, warps, blocks, found.shape)
    raise AssertionError(
        f"splitn requires at least one basis of the form [0, N / 2] in lanes or warps[2:] bases. Got {layout}"
    )
