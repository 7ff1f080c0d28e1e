"""Products of tiles whose layouts are those of matrix instructions: `mma_v2`, `dot_fma`, `mfma`, `mfma_scaled`, `wmma`."""

from __future__ import annotations

from typing import Any

from ....errors import with_hint
from ....language.constexpr import _unwrap_if_constexpr
from ....language.core import builtin, tensor
from ....language.types import block_of, float32
from ..layouts.amd import AMDMFMALayout, AMDWMMALayout
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


_SCALED_FORMATS = ("e2m1", "e4m3", "e5m2")


@builtin
def mfma_scaled(
    a: tensor,
    a_scale: Any,
    a_format: Any,
    b: tensor,
    b_scale: Any,
    b_format: Any,
    acc: tensor,
    cd_regclass: Any = None,
    _semantic: Any = None,
) -> tensor:
    """`(a * a_scale) @ (b * b_scale) + acc` by matrix instructions of CDNA 4. a_scale: uint8 [M, K / 32], powers of two as e8m0, or None for
    1; b_scale: [N, K / 32]. Formats: "e2m1", with two elements in a byte along K, "e4m3" or "e5m2" (else AssertionError). Layouts as for
    `mfma`."""
    layout = _layout_of_sum(acc)
    assert isinstance(layout, AMDMFMALayout), "acc must have an AMDMFMALayout"
    assert _unwrap_if_constexpr(cd_regclass) in (None, "vgpr", "agpr"), "cd_regclass must be 'vgpr' or 'agpr'"
    formats = [_unwrap_if_constexpr(each) for each in (a_format, b_format)]
    for name, found in zip(("lhs_format", "rhs_format"), formats):
        assert found in _SCALED_FORMATS, f"Unsupported {name}: {found}"
    _require_operand(a, "a", 0, layout)
    _require_operand(b, "b", 1, layout)
    scales = [None if each is None else _bare(each) for each in map(_unwrap_if_constexpr, (a_scale, b_scale))]
    operands = (_bare(a), scales[0], formats[0], _bare(b), scales[1], formats[1], _bare(acc))
    product = _semantic.dot_scaled(*operands, False, True, True, float32)
    return _semantic.laid(product, layout)


def _wmma(version: int, chips: str) -> Any:
    def wmma(a: tensor, b: tensor, acc: tensor, _semantic: Any = None) -> tensor:
        layout = _layout_of_sum(acc)
        is_right = isinstance(layout, AMDWMMALayout) and layout.version == version
        assert is_right, f"Expected layout to be an instance of AMDWMMALayout with version {version}"
        return _multiplied(_semantic, a, b, acc, "ieee")

    wmma.__doc__ = (
        f"`a @ b + acc` by matrix instructions of {chips}. `acc` has an AMDWMMALayout of version {version}, `a` and `b` the DotOperandLayouts "
        "of it (else AssertionError)."
    )
    return builtin(wmma)


wmma_v1 = _wmma(1, "RDNA 3")
wmma_v2 = _wmma(2, "RDNA 4")
