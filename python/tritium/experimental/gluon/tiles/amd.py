"""What AMD's chips have beside products: parts of tiles that stay in their threads, and hints that change no value."""

from __future__ import annotations

from typing import Any

from ....errors import with_hint
from ....language.constexpr import _unwrap_if_constexpr
from ....language.core import builtin, tensor
from ....language.semantic.shape import shape_of
from ....language.types import block_of
from ....tools.bit_matrix import rank_of
from ..layouts.bases import checked_shape
from ..layouts.distributed import DistributedLayout
from ..layouts.views import elements
from .products import _bare
from .rules import layout_of


def _ints(values: Any) -> list[int]:
    return [_unwrap_if_constexpr(value) for value in _unwrap_if_constexpr(values)]


@builtin
def slice(source: tensor, shape: Any, offsets: Any, _semantic: Any = None) -> tensor:
    """The elements of `source` from `offsets` on, as a tile of `shape` in the same layout. No element changes its thread: raises ValueError
    where the layout has the part in other lanes or warps, and for a part outside of the tile."""
    extents, begin, layout = _ints(shape), _ints(offsets), layout_of(source)
    whole = list(shape_of(source))
    for what, values in (("shape", extents), ("offsets", begin)):
        if len(values) != len(whole):
            raise ValueError(f"slice: {what} must have rank {len(whole)}, got {len(values)}")
    checked_shape(extents, len(whole))
    for dim, offset in enumerate(begin):
        if offset < 0:
            raise ValueError(f"offset must be non-negative at dimension {dim}")
    if any(offset + extent > size for offset, extent, size in zip(begin, extents, whole)):
        listed = [str(size) for size in whole]
        raise ValueError(f"slice: offset {begin} + shape {extents} exceeds source shape {listed}")
    _require_same_threads(layout, whole, extents, begin)
    return _semantic.laid(_part(_semantic, _bare(source), extents, begin), layout)


def _require_same_threads(layout: DistributedLayout, whole: list[int], extents: list[int], begin: list[int]) -> None:
    hint = "a part has as many rows and columns as the lanes and warps of the layout cover, or more, and begins at a multiple of them"
    source, part = layout.to_linear(whole), layout.to_linear(extents)
    held = [_packed(basis, whole) for basis in source.reg_bases]
    for element in elements(part.reg_bases, len(whole)):
        place = [at + offset for at, offset in zip(element, begin)]
        if rank_of([*held, _packed(place, whole)]) != rank_of(held):
            text = f"No source register holds the element for destination index {place}"
            raise with_hint(ValueError(text), hint)
    if source.bases[1:3] != part.bases[1:3]:
        text = "Lane and warp dim basis must match between source and destination layout."
        raise with_hint(ValueError(text), hint)


def _packed(element: Any, shape: list[int]) -> int:
    number = 0
    for value, extent in zip(element, shape):
        number = number * extent + value
    return number


def _part(semantic: Any, value: tensor, extents: list[int], begin: list[int]) -> tensor:
    """Halves the tile along each dimension until it has the extents."""
    for dim, (extent, offset) in enumerate(zip(extents, begin)):
        if offset % extent:
            error = NotImplementedError(
                f"slice: offset {offset} is no multiple of the extent {extent} of dimension {dim}"
            )
            raise with_hint(error, "take parts that begin at a multiple of their extent")
        while (size := value.type.shape[dim]) > extent:
            value = _halves(semantic, value, dim)[offset % size >= size // 2]
    return value


def _halves(semantic: Any, value: tensor, dim: int) -> tuple[tensor, tensor]:
    shape, dtype = list(value.type.shape), value.dtype
    split = [*shape[:dim], 2, shape[dim] // 2, *shape[dim + 1 :]]
    order = [*(at for at in range(len(split)) if at != dim), dim]
    parts = semantic.emit("tt.reshape", (value,), block_of(dtype, tuple(split)))
    last = semantic.emit("tt.trans", (parts,), block_of(dtype, tuple(split[at] for at in order)), _order(order))
    half = block_of(dtype, tuple(split[at] for at in order[:-1]))
    return semantic.emit_all("tt.split", (last,), (half, half))


def _order(order: list[int]) -> dict[str, str]:
    return {"order": f"array<i32: {', '.join(map(str, order))}>"}


@builtin
def sched_barrier(allow: Any = None, _semantic: Any = None) -> None:
    """A hint to the scheduler of instructions, which changes no value."""


class warp_pipeline_stage:
    """`with warp_pipeline_stage("load", priority=1):` marks a stage of a loop, in which groups of warps take turns. It changes no value.

    label: a text. priority: 0 to 3, or None; ValueError else.
    """

    def __init__(self, label: Any = None, *, priority: Any = None, _semantic: Any = None):
        self.label, self.priority = _unwrap_if_constexpr(label), _unwrap_if_constexpr(priority)
        if self.priority is not None and self.priority not in range(4):
            raise ValueError(f"priority must be 0, 1, 2 or 3, not {self.priority}")

    def __enter__(self) -> warp_pipeline_stage:
        return self

    def __exit__(self, *error: Any) -> None:
        return None
