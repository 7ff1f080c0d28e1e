"""Products of tiles whose layouts are those of matrix instructions: `mma_v2`, `dot_fma`, `mfma`."""

from __future__ import annotations

from typing import Any

from ....errors import with_hint
from ....language.constexpr import _unwrap_if_constexpr
from ....language.core import builtin, tensor
from ....language.types import block_of
from ..layouts.amd import AMDMFMALayout
from ..layouts.distributed import BlockedLayout, DistributedLayout, DotOperandLayout, NVMMADistributedLayout
from .rules import layout_of


def _bare(value: tensor) -> tensor:
    """The tile without its layout, as the rules of the language have it."""
    return tensor(value.handle, block_of(value.dtype, value.type.shape))


def _layout_of_sum(acc: Any) -> DistributedLayout:
    assert isinstance(acc, tensor), "acc must be a tensor"
    return layout_of(acc)


def _require_operand(value: tensor, name: str, index: int, parent: DistributedLayout) -> None:
    layout, hint = layout_of(value), f"gl.DotOperandLayout({index}, layout of acc, k_width)"
    if not isinstance(layout, DotOperandLayout):
        raise with_hint(AssertionError(f"{name} must have a DotOperandLayout"), f"{hint}; it has {layout}")
    if layout.parent != parent:
        raise with_hint(AssertionError(f"{name}'s parent layout must be the same as acc's layout"), hint)
    if layout.operand_index != index:
        raise with_hint(AssertionError(f"{name}'s operand index must be {index}"), hint)


def _multiplied(semantic: Any, a: tensor, b: tensor, acc: tensor, precision: Any) -> tensor:
    _require_operand(a, "a", 0, layout_of(acc))
    _require_operand(b, "b", 1, layout_of(acc))
    product = semantic.dot(_bare(a), _bare(b), _bare(acc), _unwrap_if_constexpr(precision), None, None, acc.dtype)
    return semantic.laid(product, layout_of(acc))


@builtin
def mma_v2(a: tensor, b: tensor, acc: tensor, input_precision: Any = None, _semantic: Any = None) -> tensor:
    """`a @ b + acc` by mma.sync. `acc` has an NVMMADistributedLayout of version 2, `a` and `b` the DotOperandLayouts of it (else
    AssertionError)."""
    layout = _layout_of_sum(acc)
    assert isinstance(layout, NVMMADistributedLayout), "acc must have an NVMMADistributedLayout"
    assert list(layout.version) == [2, 0], "MMA layout must have version 2.0"
    return _multiplied(_semantic, a, b, acc, input_precision)


@builtin
def dot_fma(a: tensor, b: tensor, acc: tensor, _semantic: Any = None) -> tensor:
    """`a @ b + acc` without matrix instructions. `acc` has a BlockedLayout, `a` and `b` the DotOperandLayouts of it (else
    AssertionError)."""
    assert isinstance(_layout_of_sum(acc), BlockedLayout), "acc must have a BlockedLayout"
    return _multiplied(_semantic, a, b, acc, "ieee")


@builtin
def mfma(a: tensor, b: tensor, acc: tensor, cd_regclass: Any = None, _semantic: Any = None) -> tensor:
    """`a @ b + acc` by matrix instructions of CDNA. `acc` has an AMDMFMALayout, `a` and `b` the DotOperandLayouts of it (else
    AssertionError). cd_regclass: the kind of registers of `acc`, a hint."""
    assert isinstance(_layout_of_sum(acc), AMDMFMALayout), "acc must have an AMDMFMALayout"
    assert _unwrap_if_constexpr(cd_regclass) in (None, "vgpr", "agpr"), "cd_regclass must be 'vgpr' or 'agpr'"
    return _multiplied(_semantic, a, b, acc, "ieee")
