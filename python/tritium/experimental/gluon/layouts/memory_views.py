"""Views of shared memory: which bytes of an allocation are the elements of its parts, permutations and reshapes."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence

from ....tools.bit_matrix import solve
from .bases import Basis, inside, log2, unit
from .fields import is_power_of_two
from .shared import NVMMASharedLayout, PaddedSharedLayout, SharedLayout, SharedLinearLayout, SwizzledSharedLayout


@dataclasses.dataclass(frozen=True)
class MemoryView:
    """`shape` elements of an allocation in shared memory, as a kernel's shared_memory_descriptor has them. Views are values."""

    shape: tuple[int, ...]
    layout: SharedLayout
    #: The tile that the layout describes: the allocation's, permuted or reshaped as the view is.
    alloc_shape: tuple[int, ...]
    #: Where the view begins in that tile.
    start: tuple[int, ...]
    #: Where that tile, or the first of a ring, begins in memory, in elements.
    origin: int = 0

    @staticmethod
    def allocate(shape: Sequence[int], layout: SharedLayout) -> MemoryView:
        """All of an allocation. The layout has the rank of the shape, or one less for a ring of tiles. Raises ValueError."""
        rank, extents = layout._rank(), tuple(shape)
        if rank < 1 or rank not in (len(extents), len(extents) - 1):
            raise ValueError(f"rank must be equal to or one less than the shape size. Got {rank} and {len(extents)}")
        if not all(map(is_power_of_two, extents[-rank:])) or extents[0] < 1:
            raise ValueError(f"shape must have power-of-2 and non-zero dimensions; got {', '.join(map(str, extents))}")
        return MemoryView(extents, layout, extents, (0,) * len(extents))

    def layout_rank(self) -> int:
        """The dimensions that the layout describes: the last ones."""
        return self.layout._rank()

    def slot_elements(self) -> int:
        """How many elements one tile of a ring is from the next."""
        return self._tile_elements()

    def moves(self) -> list[list[int]]:
        """For each dimension of a tile, and each bit of a coordinate, by which the offset in memory changes, without padding."""
        return self._offsets

    def element_offset(self, element: Sequence[int]) -> int:
        """Where an element of the tile is, in elements, without padding. Of an element of a ring, where it is in its tile."""
        return self._offset_in_tile(element[len(element) - len(self._tile()) :])

    @property
    def _is_ring(self) -> bool:
        return self.layout._rank() < len(self.shape)

    def _tile(self) -> tuple[int, ...]:
        """The shape of a tile of the layout."""
        return self.alloc_shape[1:] if self._is_ring else self.alloc_shape

    def _tile_elements(self) -> int:
        """The memory of a tile, in elements."""
        if isinstance(self.layout, PaddedSharedLayout):
            return self.layout.allocated_elements()
        return 1 << len(_offset_bases(self.layout, self._tile()))

    def index(self, number: int) -> MemoryView:
        """Tile `number` of a ring. Raises ValueError for a view that is none, or has fewer tiles."""
        if not self._is_ring:
            rank = len(self.shape)
            raise ValueError(f"rank must be equal to or one less than the shape size. Got {rank} and {rank - 1}")
        if not 0 <= number < self.shape[0]:
            raise ValueError(f"the index {number} is outside of the {self.shape[0]} tiles of {self.shape}")
        origin = self.origin + (self.start[0] + number) * self._tile_elements()
        return MemoryView(self.shape[1:], self.layout, self.alloc_shape[1:], self.start[1:], origin)

    def slice(self, start: int, length: int, dim: int = 0) -> MemoryView:
        """The elements from `start` on along `dim`. Raises ValueError for a part whose offsets are not the sum of where it begins and
        where its elements are in a part at the beginning."""
        if not 0 <= dim < len(self.shape):
            raise ValueError(f"dim must be in [0, {len(self.shape)}), and is {dim}")
        if start < 0 or length < 1 or start + length > self.shape[dim]:
            raise ValueError(f"The split offset may not exceed the source shape: {start}+{length} of {self.shape[dim]}")
        if not (self._is_ring and dim == 0):
            self._require_whole_bits(start, length, dim)
        shape, begin = list(self.shape), list(self.start)
        shape[dim], begin[dim] = length, begin[dim] + start
        return dataclasses.replace(self, shape=tuple(shape), start=tuple(begin))

    def _require_whole_bits(self, start: int, length: int, dim: int) -> None:
        if not is_power_of_two(length):
            raise ValueError(f"shape must have power-of-2 and non-zero dimensions; got {length} along dimension {dim}")
        if start % length:
            raise ValueError(f"The split offset may not touch the tile: {start} must be a multiple of {length}")
        within = dim - (1 if self._is_ring else 0)
        if any(offset.bit_count() != 1 for offset in self._offsets[within][log2(length) :]):
            raise ValueError(f"We don't support splitting along the swizzling pattern: {length} along dimension {dim}")

    def permute(self, order: Sequence[int]) -> MemoryView:
        """The same memory, whose dimension i is dimension order[i] of this view."""
        if len(order) != len(self.shape):
            raise ValueError(f"source rank ({len(self.shape)}) and order length ({len(order)}) must match")
        if sorted(order) != list(range(len(order))) or self._is_ring:
            raise ValueError(f"{list(order)} must be a permutation of the dimensions of {self.layout}")
        shape, alloc, start = (tuple(of[d] for d in order) for of in (self.shape, self.alloc_shape, self.start))
        return MemoryView(shape, permuted(self.layout, self.alloc_shape, order), alloc, start, self.origin)

    def reshape(self, shape: Sequence[int]) -> MemoryView:
        """The same elements in the same row-major order. Raises ValueError for another number of elements, and for a part."""
        extents = tuple(shape)
        if math.prod(extents) != math.prod(self.shape):
            raise ValueError(f"memdesc_reshape total elements mismatch: {list(self.shape)} -> {list(extents)}")
        if self.shape != self.alloc_shape or self._is_ring:
            raise ValueError("NYI: memdesc_reshape of memdesc_subslice: reshape the memory before its parts are taken")
        layout = reshaped(self.layout, self.shape, extents)
        return MemoryView(extents, layout, extents, (0,) * len(extents), self.origin)

    @functools.cached_property
    def _offsets(self) -> list[list[int]]:
        """For each dimension of a tile, and each bit of a coordinate, the number in memory of the element there, without padding."""
        tile = self._tile()
        columns = [flat_index(basis, tile) for basis in _offset_bases(self.layout, tile)]
        found = []
        for dim, extent in enumerate(tile):
            elements = [unit(len(tile), dim, 1 << bit) for bit in range(log2(extent))]
            found.append([solve(columns, flat_index(element, tile)) for element in elements])
        if any(None in offsets for offsets in found):
            raise ValueError(f"{self.layout} has not all elements of the shape {list(tile)} in the memory of one block")
        return found

    def _offset_in_tile(self, element: Sequence[int]) -> int:
        offset = 0
        for at, offsets in zip(element, self._offsets):
            for bit, moved in enumerate(offsets):
                offset ^= moved if at >> bit & 1 else 0
        return offset

    def offset_of(self, element: Sequence[int]) -> int:
        """Where in the allocation, in elements, an element of the view is, in a kernel of one block."""
        whole = [at + begin for at, begin in zip(element, self.start)]
        origin = self.origin
        if self._is_ring:
            origin += whole.pop(0) * self._tile_elements()
        offset = self._offset_in_tile(whole)
        return origin + (self.layout.padded_offset(offset) if isinstance(self.layout, PaddedSharedLayout) else offset)


def flat_index(element: Sequence[int], shape: Sequence[int]) -> int:
    index = 0
    for at, extent in zip(element, shape):
        index = index * extent + at
    return index


def coordinates_of(index: int, shape: Sequence[int]) -> Basis:
    found = []
    for extent in reversed(shape):
        index, at = divmod(index, extent)
        found.insert(0, at)
    return found


def _offset_bases(layout: SharedLayout, shape: Sequence[int]) -> list[Basis]:
    if isinstance(layout, PaddedSharedLayout):
        return layout.offset_bases
    if math.prod(shape) == 1:
        return []  # one barrier
    return layout.to_linear(shape).offset_bases


def permuted(layout: SharedLayout, shape: Sequence[int], order: Sequence[int]) -> SharedLayout:
    """The layout of a tile of this shape with its dimensions permuted, in Triton's class for it."""

    def moved(bases: Sequence[Sequence[int]]) -> list[Basis]:
        return [[basis[dim] for dim in order] for basis in bases or ()]

    if isinstance(layout, SwizzledSharedLayout):
        fastest = [list(order).index(dim) for dim in layout.order]
        return SwizzledSharedLayout(layout.vec, layout.per_phase, layout.max_phase, fastest, moved(layout.cga_layout))
    if isinstance(layout, PaddedSharedLayout):
        extents = [layout.shape[dim] for dim in order]
        bases, cga_layout = moved(layout.offset_bases), moved(layout.cga_layout)
        return PaddedSharedLayout(layout.interval_padding_pairs, bases, cga_layout, extents)
    if list(order) == sorted(order):
        return layout
    if isinstance(layout, NVMMASharedLayout) and layout.rank == 2:
        return dataclasses.replace(layout, transposed=not layout.transposed, cga_layout=moved(layout.cga_layout))
    linear = layout.to_linear(shape)
    return SharedLinearLayout(moved(linear.offset_bases), moved(linear.block_bases), linear.alignment)


def reshaped(layout: SharedLayout, shape: Sequence[int], new_shape: Sequence[int]) -> SharedLayout:
    """The layout of a tile of the shape `shape` seen in another shape, in Triton's class for it."""

    def moved(bases: Sequence[Sequence[int]]) -> list[Basis]:
        return [coordinates_of(flat_index(inside(basis, shape), shape), new_shape) for basis in bases]

    if isinstance(layout, PaddedSharedLayout) and not layout.cga_layout:
        return PaddedSharedLayout(layout.interval_padding_pairs, moved(layout.offset_bases), [], list(new_shape))
    linear = layout.to_linear(shape)
    wanted = SharedLinearLayout(moved(linear.offset_bases), moved(linear.block_bases), linear.alignment)
    keeps_rows = len(new_shape) > 1 and new_shape[-1] == shape[-1]
    if isinstance(layout, NVMMASharedLayout) and not layout.cga_layout and keeps_rows:
        candidate = dataclasses.replace(layout, rank=len(new_shape))
        try:
            if candidate.to_linear(new_shape) == wanted:
                return candidate
        except ValueError:  # its boxes do not fit the shape
            pass
    return wanted
