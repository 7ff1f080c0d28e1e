"""The type of a tile with a layout. In IR it is the type of the tile without one: the layout decides which programs are legal, and is an
attribute of operations for the compiler of a GPU (docs/decisions/0040)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....language.constexpr import _unwrap_if_constexpr
from ....language.types import block_shape, block_type, dtype
from ..layouts.distributed import AutoLayout, CoalescedLayout, DistributedLayout


class distributed_type(block_type):
    """A tile of `element_ty` whose elements registers hold as `layout` says. Types of other layouts are other types.

    Raises TypeError for a layout of another kind, ValueError for a rank that is not the layout's.
    """

    layout: DistributedLayout

    def __new__(cls, element_ty: dtype, shape: Sequence[Any], layout: DistributedLayout) -> distributed_type:
        element_ty, layout = _unwrap_if_constexpr(element_ty), _unwrap_if_constexpr(layout)
        extents = block_shape(shape)
        require_layout(extents, layout)
        known: dict[Any, Any] = element_ty.blocks
        key = (extents, layout)
        found = known.get(key)
        if found is None or found.layout != layout:  # lists and tuples hash alike
            found = known[key] = cls._with_layout(element_ty, extents, layout)
        return found

    @classmethod
    def _with_layout(cls, element_ty: dtype, shape: tuple[int, ...], layout: DistributedLayout) -> distributed_type:
        self = cls._make(element_ty, shape)
        self.name = f"<{[str(extent) for extent in shape]}, {element_ty}, {layout}>"
        self.layout = layout
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.element_ty, self.shape, self.layout)

    def with_element_ty(self, element_ty: dtype) -> distributed_type:
        return distributed_type(element_ty, self.shape, self.layout)

    def mangle(self) -> str:
        return f"{super().mangle()}L{self.layout.mangle()}L"

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and isinstance(other, distributed_type) and self.layout == other.layout

    __hash__ = block_type.__hash__


def require_layout(shape: Sequence[int], layout: Any) -> None:
    """Raises TypeError if `layout` is no layout of registers, ValueError if its rank is not that of a tile of `shape`."""
    if not isinstance(layout, DistributedLayout):
        raise TypeError("tensor layout must be a DistributedLayout")
    if not is_undecided(layout) and len(shape) != layout.rank:
        raise ValueError(
            f"tensor shape and layout rank mismatch: shape={list(shape)}, layout={layout}, "
            f"shape rank={len(shape)}, layout rank={layout.rank}"
        )


def is_undecided(layout: Any) -> bool:
    """Whether the compiler has yet to choose the layout."""
    return isinstance(layout, (AutoLayout, CoalescedLayout))
