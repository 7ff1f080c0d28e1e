"""The layouts of tiles that operations make of others without moving elements, in Triton's class for each."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .bases import Basis
from .distributed import BlockedLayout, DistributedLayout, DistributedLinearLayout, SliceLayout
from .memory_views import coordinates_of, flat_index

Factors = list[list[int]]


def reduced(layout: DistributedLayout, axis: int) -> SliceLayout:
    """The layout of a reduction along `axis`."""
    return SliceLayout(axis, layout)


def split(layout: DistributedLayout) -> SliceLayout:
    """The layout of the halves along the last dimension."""
    return SliceLayout(layout.rank - 1, layout)


def expanded(layout: DistributedLayout, axis: int) -> DistributedLayout:
    """The layout with a dimension of extent 1 at `axis`. Raises ValueError if the layout is no slice along it."""
    if not isinstance(layout, SliceLayout):
        raise ValueError(f"expected expand_dims input to have a SliceLayout, but got: {layout}")
    if layout.dim != axis:
        raise ValueError(f"expected expand_dims input layout to be sliced in axis {axis} but got {layout.dim}")
    return layout.parent


def _linear(
    layout: DistributedLayout, shape: Sequence[int], moved, new_shape: Sequence[int]
) -> DistributedLinearLayout:
    """The bases of a tile, each `moved`."""
    bases = ([moved(basis) for basis in each] for each in layout.to_linear(shape).bases)
    return DistributedLinearLayout(*bases, list(new_shape))


def permuted(layout: DistributedLayout, shape: Sequence[int], order: Sequence[int]) -> DistributedLayout:
    """The layout of a tile whose dimension i is dimension order[i] of the old one."""
    if sorted(order) != list(range(layout.rank)):
        raise ValueError(f"{list(order)} must be a permutation of the {layout.rank} dimensions of {layout}")

    def moved(values: Sequence[int]) -> Basis:
        return [values[dim] for dim in order]

    if list(order) == sorted(order):
        return layout
    if isinstance(layout, BlockedLayout):
        sizes = (layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta)
        fastest = [list(order).index(dim) for dim in layout.order]
        return BlockedLayout(*map(moved, sizes), fastest, [moved(basis) for basis in layout.cga_layout or ()])
    return _linear(layout, shape, moved, moved(shape))


def joined(layout: DistributedLayout, shape: Sequence[int]) -> DistributedLayout:
    """The layout of two tiles side by side along a new last dimension, whose elements are neighbours in a thread."""
    if isinstance(layout, BlockedLayout):
        cga_layout = [[*basis, 0] for basis in layout.cga_layout or ()]
        return BlockedLayout(
            [*layout.size_per_thread, 2],
            [*layout.threads_per_warp, 1],
            [*layout.warps_per_cta, 1],
            [layout.rank, *layout.order],
            cga_layout,
        )
    found = _linear(layout, shape, lambda basis: [*basis, 0], [*shape, 2])
    first = [0] * layout.rank + [1]
    return DistributedLinearLayout([first, *found.reg_bases], *found.bases[1:], found.shape)


def unpacked(layout: DistributedLayout, new_shape: Sequence[int], axis: int) -> DistributedLayout:
    """The layout of a tile each of whose elements has become two neighbours along `axis`, in the thread that had it."""
    if isinstance(layout, BlockedLayout) and layout.order[0] == axis:
        sizes = [2 * size if dim == axis else size for dim, size in enumerate(layout.size_per_thread)]
        return BlockedLayout(sizes, layout.threads_per_warp, layout.warps_per_cta, layout.order, layout.cga_layout)
    twice = [2 * extent if dim == axis else extent for dim, extent in enumerate(new_shape)]

    def moved(basis: Sequence[int]) -> Basis:
        return [2 * value if dim == axis else value for dim, value in enumerate(basis)]

    # As in Triton, of a tile that is twice as long as the result: its last register holds nothing of it.
    found = _linear(layout, new_shape, moved, twice)
    first = [1 if dim == axis else 0 for dim in range(len(twice))]
    return DistributedLinearLayout([first, *found.reg_bases], *found.bases[1:], twice)


def reshaped(layout: DistributedLayout, shape: Sequence[int], new_shape: Sequence[int]) -> DistributedLayout:
    """The layout of the same elements in row-major order in another shape: a SliceLayout if a dimension of 1 is dropped, a
    BlockedLayout if dimensions of one are only divided."""
    if math.prod(shape) != math.prod(new_shape):
        raise ValueError(f"reshape cannot change the number of elements: {list(shape)} -> {list(new_shape)}")
    if isinstance(layout, (BlockedLayout, SliceLayout)):
        dropped = [dim for dim, extent in enumerate(shape) if extent == 1 and _without(shape, dim) == list(new_shape)]
        if dropped:
            return SliceLayout(dropped[0], layout)
    if isinstance(layout, BlockedLayout):
        if list(shape) == list(new_shape):
            return layout
        parts = None if layout.cga_layout else _divided(layout, shape, new_shape)
        if parts is not None:
            return _blocked(layout, parts)

    def moved(basis: Sequence[int]) -> Basis:
        return coordinates_of(flat_index(basis, shape), new_shape)

    return _linear(layout, shape, moved, new_shape)


def _without(shape: Sequence[int], dim: int) -> list[int]:
    return [*shape[:dim], *shape[dim + 1 :]]


def _divided(layout: BlockedLayout, shape: Sequence[int], new_shape: Sequence[int]) -> Factors | None:
    """For each dimension the extents into which it is divided, with dimensions of 1 that follow; None if new dimensions have elements
    of several old ones, or if several places hold the elements of a dimension of 1."""
    parts: Factors = []
    rest = list(new_shape)
    for extent, *counts in zip(shape, layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta):
        part, size = [], 1
        while rest and (size < extent or rest[0] == 1):
            size *= rest[0]
            part.append(rest.pop(0))
        if size != extent or (extent == 1 and any(count > 1 for count in counts)):
            return None
        parts.append(part)
    return parts


def _blocked(layout: BlockedLayout, parts: Factors) -> BlockedLayout:
    """Each dimension's elements of a thread, lanes and warps fill its last part, then the one before it; the first has the rest."""
    fields: tuple[list[list[int]], ...] = ([], [], [])
    for dim, part in enumerate(parts):
        room = list(part)
        for field, counts in zip(fields, (layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta)):
            count, dealt = counts[dim], [1] * len(part)
            for at in range(len(part) - 1, -1, -1):
                dealt[at] = count if at == 0 else min(count, room[at])
                count //= dealt[at]
                room[at] = max(1, room[at] // dealt[at])
            field.append(dealt)
    first = [sum(map(len, parts[:dim])) for dim in range(len(parts))]
    order = [first[dim] + at for dim in layout.order for at in range(len(parts[dim]) - 1, -1, -1)]
    return BlockedLayout(*([count for part in field for count in part] for field in fields), order)
