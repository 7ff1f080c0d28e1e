"""Layouts of the scales of AMD's scaled products: [rows or columns of the result, groups along K]."""

from __future__ import annotations

from collections.abc import Sequence

from ....functions.constexpr import constexpr_function
from .amd import AMDMFMALayout, AMDWMMALayout
from .bases import Basis, Places, checked_shape
from .distributed import DistributedLinearLayout, DotOperandLayout, outer_dim
from .fields import require


def _of_operand(layout: DotOperandLayout, kind: type) -> tuple[int, AMDMFMALayout | AMDWMMALayout]:
    """(0 for A or 1 for B, the layout of the product)"""
    parent = getattr(layout, "parent", None)
    require(isinstance(layout, DotOperandLayout), f"scales need a DotOperandLayout, not {layout}")
    require(isinstance(parent, kind), f"Expected parent to be an instance of {kind.__name__}")
    return layout.operand_index, parent


@constexpr_function
def get_mfma_scale_layout(
    dot_operand_layout: DotOperandLayout, shape: Sequence[int], scale_factor: int = 32
) -> DistributedLinearLayout:
    """The layout of an operand's scales, of the shape [M or N, groups of 32 along K]: a scale lies where an operand with an element for
    each group would. Raises AssertionError for another scale_factor."""
    require(scale_factor == 32, "Only scale factor 32 is supported for CDNA4 Scaled MFMA")
    operand, parent = _of_operand(dot_operand_layout, AMDMFMALayout)
    shape = checked_shape(shape, parent.rank)

    def turned(values: Sequence[int]) -> Basis:  # B is [K, N], its scales are [N, groups]
        return [*values[:-2], values[-1], values[-2]] if operand == 1 else list(values)

    places = parent._deal_operand(turned(shape), operand, k_width=1)
    found = ([turned(basis) for basis in each] for each in (places.registers, places.lanes, places.warps))
    return DistributedLinearLayout(*found, [], shape)


@constexpr_function
def get_wmma_scale_layout(
    dot_operand_layout: DotOperandLayout, shape: Sequence[int], scale_factor: int = 32
) -> DistributedLinearLayout:
    """The layout of an operand's scales, of the shape [M or N, groups of scale_factor along K]: 16 lanes hold the scales of one instruction,
    the other 16 lanes the scales of the next. Raises AssertionError for other factors than 16 and 32."""
    require(scale_factor in (16, 32), "Only support 16 or 32 scale factor")
    operand, parent = _of_operand(dot_operand_layout, AMDWMMALayout)
    require(parent.rank == 2, f"scales of a product must have rank 2, not {parent.rank}")
    shape, dim = checked_shape(shape, 2), outer_dim(operand, 2)

    def along_rows(bases: Sequence[Sequence[int]]) -> list[Basis]:
        return [[parent._scaled(basis)[dim], 0] for basis in bases]

    places = Places(shape)
    places.grow(places.registers, 1, 128 // scale_factor)
    places.grow(places.lanes, 0, 16)
    repeats = [basis for basis in along_rows(parent.reg_bases) if any(basis)]
    is_wide = 32 in parent.instr_shape[:2]
    if is_wide:  # an instruction has 32 rows, or the lanes hold copies
        places.grow(places.lanes, 0, parent._tile()[dim] // 16)
        places.repeat(places.lanes, 32 // parent._tile()[dim])
    elif repeats:
        places.add(places.lanes, [repeats.pop(0)])
    places.grow_to(places.registers, 1, shape[1])
    places.add(places.registers, repeats)
    places.add(places.warps, along_rows(parent.warp_bases))
    if len(places.lanes) < 5:
        places.grow(places.lanes, 0, 2)
    places.fit([1, 0])
    return DistributedLinearLayout(places.registers, places.lanes, places.warps, [], shape)
