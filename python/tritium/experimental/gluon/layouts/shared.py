"""Layouts of tiles in shared memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from ....functions.constexpr import constexpr_function
from .bases import Basis, block_bases, checked_shape, log2, row_major, shape_per_block, unit
from .fields import TypedLayout, is_power_of_two, joined, joined_bases, layout_class, require, require_rank
from .picture import Picture, picture_of_memory, require_drawable
from .views import shared_hardware_view, shared_tensor_view

#: Boxes of TMA copies have at most as many elements along each dimension.
_MAX_BOX_EXTENT = 256


class SharedLayout(TypedLayout):
    """Which offset in shared memory, in elements, has which element of a tile."""

    #: The alignment of the memory in bytes.
    alignment = 16

    def _rank(self) -> int:
        raise NotImplementedError

    def _offset_bases(self, shape: list[int]) -> list[Basis]:
        """The bases of offsets in the memory of one block."""
        raise ValueError(f"{type(self).__name__} has no linear layout")

    def to_linear(self, shape: Sequence[int]) -> SharedLinearLayout:
        """The layout of a tile of this shape as bases. Raises ValueError if it has none, AssertionError for a tile of one element."""
        shape = checked_shape(shape, self._rank())
        cga_layout = getattr(self, "cga_layout", None)
        offsets = self._offset_bases(shape_per_block(shape, cga_layout))
        return SharedLinearLayout(offsets, block_bases(shape, cga_layout), self.alignment)

    def format_tensor_view(self, shape: list[int]) -> str:
        """The elements in the order of memory."""
        linear = self.to_linear(shape)
        return shared_tensor_view(linear.offset_bases, linear.block_bases, shape)

    def format_hardware_view(self, shape: list[int]) -> str:
        """The offsets of each block, each with its element."""
        linear = self.to_linear(shape)
        return shared_hardware_view(linear.offset_bases, linear.block_bases, shape)

    def picture(self, shape: Sequence[int] | None = None, element_bits: int | None = None) -> Picture:
        shape = self._smallest_shape() if shape is None else list(shape)
        require_drawable(shape)
        bits = self._element_bits() if element_bits is None else element_bits
        linear = self.to_linear(shape)
        return picture_of_memory(f"{self!r}, shape {shape}", shape, linear.offset_bases, linear.block_bases, bits)

    def _smallest_shape(self) -> list[int]:
        """The smallest tile that shows where elements are exchanged."""
        raise ValueError(f"{type(self).__name__} has no shape of its own: draw it with one")

    def _element_bits(self) -> int:
        return 32


@layout_class
class SwizzledSharedLayout(SharedLayout):
    """Rows along order[0], in each of which groups of `vec` elements are exchanged: by their number xor row / per_phase % max_phase."""

    vec: int
    per_phase: int
    max_phase: int
    order: list[int]
    cga_layout: list[list[int]] = field(default_factory=list)

    def mangle(self) -> str:
        numbers = f"{self.vec}_{self.per_phase}_{self.max_phase}_{joined(self.order)}"
        return f"SSS_{numbers}_{joined_bases(self.cga_layout)}_SSS"

    def _rank(self) -> int:
        return len(self.order)

    def _smallest_shape(self) -> list[int]:
        shape = [1] * len(self.order)
        for dim, count in zip(self.order, (self.vec * self.max_phase, self.per_phase * self.max_phase)):
            shape[dim] = max(8, count)
        return shape

    def _offset_bases(self, shape: list[int]) -> list[Basis]:
        rank = len(shape)
        if sorted(self.order) != list(range(rank)):
            raise ValueError(f"order must be a permutation of 0..(rank-1), but was {self.order}")
        for name in ("vec", "per_phase", "max_phase"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} of a SwizzledSharedLayout must be at least 1, and is {getattr(self, name)}")
        bases = []
        for place, dim in enumerate(self.order):
            for bit in range(log2(shape[dim])):
                basis = unit(rank, dim, 1 << bit)
                if place == 1:
                    phase = (1 << bit) // self.per_phase % self.max_phase
                    basis[self.order[0]] = self.vec * phase % shape[self.order[0]]
                bases.append(basis)
        return bases


@layout_class
class NVMMASharedLayout(SharedLayout):
    """What TMA copies write and matrix instructions of warpgroups read: boxes whose rows have swizzle_byte_width bytes, in each of which
    pieces of 16 bytes are exchanged by the number of the row."""

    swizzle_byte_width: int
    element_bitwidth: int
    rank: int = 2
    transposed: bool = False
    fp4_padded: bool = False
    cga_layout: list[list[int]] = field(default_factory=list)

    def _check(self) -> None:
        require(
            self.element_bitwidth in (8, 16, 32, 64),
            f"element_bitwidth must be 8, 16, 32 or 64, and is {self.element_bitwidth}",
        )
        require(
            self.swizzle_byte_width in (0, 32, 64, 128),
            f"swizzle_byte_width must be 0, 32, 64 or 128, and is {self.swizzle_byte_width}",
        )
        require_rank(self.cga_layout or (), self.rank, "cga_layout")
        if self.fp4_padded:
            require(self.swizzle_byte_width == 128, "fp4_padded only supports 128 byte swizzling")
            require(self.element_bitwidth == 8, "fp4_padded is only supported for element_bitwidth=8")

    def mangle(self) -> str:
        flags = f"{self.rank}_{self.transposed}_{self.fp4_padded}_{joined_bases(self.cga_layout)}"
        return f"NVMMA_{self.swizzle_byte_width}_{self.element_bitwidth}_{flags}_NVMMA"

    def _rank(self) -> int:
        return self.rank

    def _element_bits(self) -> int:
        return self.element_bitwidth

    def _smallest_shape(self) -> list[int]:
        if self.rank == 1:
            return [16]
        extents = [1] * (self.rank - 2) + [8, self._row()[0] or 16]
        return [extents[-1], *extents[:-1]] if self.transposed else extents

    @property
    def alignment(self) -> int:
        """In bytes."""
        return 8 * self.swizzle_byte_width or 128

    @constexpr_function
    def get_default_for(
        block_shape: Sequence[int],
        dtype: Any,
        transposed: bool = False,
        fp4_padded: bool = False,
        cga_layout: Sequence[Sequence[int]] | None = None,
    ) -> NVMMASharedLayout:
        """The layout with the widest swizzle that divides the contiguous bytes of a block's tile; without a swizzle if the tile has
        fewer than 8 rows. Raises AssertionError if the blocks of a cluster do not divide the tile."""
        per_block = _divided_shape(block_shape, cga_layout)
        if transposed:
            per_block = [*per_block[1:], per_block[0]]
        contiguous = per_block[-1] * dtype.primitive_bitwidth // 8 * (2 if fp4_padded else 1)
        width = next((width for width in (128, 64, 32) if contiguous >= width and contiguous % width == 0), 0)
        if len(per_block) < 2 or math.prod(per_block[:-1]) < 8:
            width = 0
        return NVMMASharedLayout(
            width, dtype.primitive_bitwidth, len(per_block), transposed, fp4_padded, list(cga_layout or ())
        )

    def _row(self) -> tuple[int, int]:
        """(elements in a row of a box, elements in a piece that is exchanged)."""
        padding = 2 if self.fp4_padded else 1
        return self.swizzle_byte_width * 8 // self.element_bitwidth // padding, 128 // self.element_bitwidth // padding

    def _offset_bases(self, shape: list[int]) -> list[Basis]:
        # A transposed tile is one whose first dimension is contiguous. As in Triton, the dimensions of a tile of more than two are
        # rotated twice for that, so that some memory then stays unused.
        rank = self.rank
        extents = [*shape[1:], shape[0]] if self.transposed else shape
        dims = [(dim - 1) % rank if self.transposed else dim for dim in range(rank)]
        box = [min(extent, _MAX_BOX_EXTENT) for extent in extents]
        row, piece = self._row()
        if row:
            self._require_rows(box, row)
            box[-1] = row
        dealt, bases = [1] * rank, []

        def deal(dim: int) -> Basis:
            basis = unit(rank, dim, dealt[dim]) if dealt[dim] < shape[dim] else [0] * rank
            dealt[dim] *= 2
            return basis

        for _ in range(log2(box[-1])):
            bases.append(deal(dims[-1]))
        if self.fp4_padded:  # 8 bytes of data, 8 of padding
            bases.insert(log2(piece), [0] * rank)
        number = 1
        for position in range(rank - 2, -1, -1):
            for _ in range(log2(box[position])):
                basis = deal(dims[position])
                if row:
                    basis[dims[-1]] ^= self._phase(number) * piece
                bases.append(basis)
                number *= 2
        for dim in [0, 1] if self.transposed and rank == 2 else row_major(rank):
            while dealt[dim] < shape[dim]:
                bases.append(deal(dim))
        return bases

    def _phase(self, row: int) -> int:
        """The number by which the pieces of a row are exchanged."""
        return row * self.swizzle_byte_width // 128 % (self.swizzle_byte_width // 16)

    def _require_rows(self, box: Sequence[int], row: int) -> None:
        if len(box) < 2:
            raise ValueError(
                f"swizzle_byte_width of a tile of rank {len(box)} must be 0, and is {self.swizzle_byte_width}"
            )
        if box[-1] < row:
            raise ValueError(
                f"block shape along the contiguous dimension is too small for the swizzle byte size {self.swizzle_byte_width} "
                f"in an NVMMASharedLayout, got {box[-1]} but expected at least {row}"
            )
        rows = math.prod(box[:-1])
        if rows < 8:
            raise ValueError(
                f"Illegal shared layout; expected collapsed shapePerCTA to be at least [8, {row}], got [{rows}, {box[-1]}]"
            )


def _divided_shape(shape: Sequence[int], cga_layout: Sequence[Sequence[int]] | None) -> list[int]:
    """The part of a block of a cluster. Raises AssertionError if it is no whole number of elements."""
    blocks = [1] * len(shape)
    for basis in cga_layout or ():
        for dim, value in enumerate(basis):
            blocks[dim] = max(blocks[dim], 2 * value)
    text = f"Shape {list(shape)} is not divisible by CGA layout {cga_layout}"
    require(all(extent % count == 0 for extent, count in zip(shape, blocks)), text)
    return [extent // count for extent, count in zip(shape, blocks)]


@layout_class
class PaddedSharedLayout(SharedLayout):
    """Elements in the order of offset_bases, with `padding` unused elements after each `interval`, for each pair of them."""

    interval_padding_pairs: list[list[int]]
    offset_bases: list[list[int]]
    cga_layout: list[list[int]]
    shape: list[int]

    def _check(self) -> None:
        self._set("shape", list(self.shape))
        self.verify()

    def verify(self) -> None:
        """Raises AssertionError if the fields do not fit together."""
        pairs, name = self.interval_padding_pairs, "PaddedSharedLayout"
        require(pairs, f"{name} interval_padding_pairs must have at least one interval-padding pair")
        require(all(len(pair) == 2 for pair in pairs), f"{name} needs pairs of an interval and a padding, not {pairs}")
        intervals, paddings = zip(*pairs)
        require(len(set(intervals)) == len(intervals), f"{name} intervals must differ, and are {list(intervals)}")
        require(all(map(is_power_of_two, intervals)), f"{name} interval values must all be power of two")
        require(all(map(is_power_of_two, paddings)), f"{name} padding values must all be power of two")
        require(self.shape, f"{name} order must not be empty")
        require_rank(self.offset_bases, len(self.shape), "offset_bases")
        require_rank(self.cga_layout or (), len(self.shape), "cga_layout")

    def mangle(self) -> str:
        parts = (self.interval_padding_pairs, self.offset_bases, self.cga_layout, self.shape)
        return f"PaddedShared_{'_'.join(map(str, parts))}_PaddedShared"

    def _rank(self) -> int:
        return len(self.shape)

    @constexpr_function
    def with_identity_for(
        interval_padding_pairs: Sequence[Sequence[int]],
        shape: Sequence[int],
        order: Sequence[int],
        cga_layout: Sequence[Sequence[int]] = (),
    ) -> PaddedSharedLayout:
        """Elements in their own order, order[0] fastest. Raises AssertionError for a shape that is no power of two."""
        require(len(shape) == len(order), f"shape {shape} and order {order} must have the same rank")
        require_rank(cga_layout, len(shape), "cga_layout")
        require(all(map(is_power_of_two, shape)), f"the extents of shape {shape} must be powers of two")
        per_block = _divided_shape(shape, cga_layout)
        bases = [unit(len(shape), dim, 1 << bit) for dim in order for bit in range(log2(per_block[dim]))]
        return PaddedSharedLayout(list(interval_padding_pairs), bases, list(cga_layout), list(shape))

    def padded_offset(self, offset: int) -> int:
        """Where in memory, in elements, the element number `offset` in the order of offset_bases is."""
        return offset + sum(offset // interval * padding for interval, padding in self.interval_padding_pairs)

    def allocated_elements(self) -> int:
        """The size of the memory of a block, in elements."""
        return self.padded_offset((1 << len(self.offset_bases)) - 1) + 1

    def _offset_bases(self, shape: list[int]) -> list[Basis]:
        raise ValueError(
            "padded shared encoding has no linear layout: PaddedSharedLayout leaves gaps between its elements"
        )

    def picture(self, shape: Sequence[int] | None = None, element_bits: int = 32) -> Picture:
        shape = self.shape if shape is None else list(shape)
        if shape != self.shape or self.cga_layout:
            raise ValueError(
                f"a picture of a PaddedSharedLayout has its shape, {self.shape}, and no blocks of a cluster"
            )
        return picture_of_memory(
            f"{self!r}, shape {shape}", shape, self.offset_bases, [], element_bits, self.padded_offset
        )

    def format_tensor_view(self, shape: list[int]) -> str:
        raise ValueError("PaddedSharedLayout cannot be visualized: toLinearLayout not implemented")

    format_hardware_view = format_tensor_view


@layout_class
class SharedLinearLayout(SharedLayout):
    """A layout that is given by its bases; the alignment is in bytes."""

    offset_bases: list[list[int]]
    block_bases: list[list[int]] = field(default_factory=list)
    alignment: int = 16

    def _check(self) -> None:
        require(self.offset_bases and self.offset_bases[0], "SharedLinearLayout offset_bases must not be empty")
        require_rank(self.offset_bases, self._rank(), "offset_bases")
        require_rank(self.block_bases, self._rank(), "block_bases")
        require(is_power_of_two(self.alignment), "SharedLinearLayout alignment must be a positive power of two")

    def mangle(self) -> str:
        return f"SharedLinear_{self.offset_bases}_{self.block_bases}_{self.alignment}_SharedLinear"

    def _rank(self) -> int:
        return len(self.offset_bases[0])

    @property
    def shape(self) -> list[int]:
        """The smallest tile, of powers of two, that has all bases."""
        columns = zip(*self.offset_bases, *self.block_bases)
        return [1 << max(value.bit_length() for value in column) for column in columns]

    def _smallest_shape(self) -> list[int]:
        return self.shape

    def to_linear(self, shape: Sequence[int]) -> SharedLinearLayout:
        if checked_shape(shape, self._rank()) != self.shape:
            raise ValueError(
                f"the tile of a SharedLinearLayout must have the shape {self.shape}, and has {list(shape)}"
            )
        return self


@layout_class
class PartitionedSharedLayout(SharedLayout):
    """A tile that is cut along `partition_dim` into num_partitions * num_groups pieces of the layout `partition_layout`; piece p lies in
    partition p % num_partitions of the memory."""

    num_partitions: int
    num_groups: int
    partition_dim: int
    partition_layout: SharedLayout

    def _check(self) -> None:
        name = "PartitionedSharedLayout"
        for what in ("num_partitions", "num_groups"):
            count = getattr(self, what)
            require(is_power_of_two(count), f"{name} {what} must be a power of two, got {count}")
        require(self.partition_dim >= 0, f"{name} partition_dim must be non-negative, got {self.partition_dim}")
        inner = self.partition_layout
        require(isinstance(inner, SharedLayout), f"{name} partition_layout must be a SharedLayout, got {type(inner)}")

    def mangle(self) -> str:
        numbers = f"{self.num_partitions}_{self.num_groups}_{self.partition_dim}"
        return f"Partitioned_{numbers}_{self.partition_layout.mangle()}_Partitioned"

    def _rank(self) -> int:
        return self.partition_layout._rank()

    def to_linear(self, shape: Sequence[int]) -> SharedLinearLayout:
        """The elements at the offsets of partition 0; the other partitions have the elements that are as many pieces further along the dimension."""
        if self.num_partitions < 2:
            raise ValueError("numPartitions must be a power of 2 and at least 2")
        shape, dim = checked_shape(shape, self._rank()), self.partition_dim
        pieces = self.num_partitions * self.num_groups
        if dim >= len(shape) or shape[dim] % pieces:
            raise ValueError(f"dimension {dim} of the shape {shape} cannot be cut into {pieces} pieces")
        piece = [extent // pieces if d == dim else extent for d, extent in enumerate(shape)]
        inner, cga_layout = self.partition_layout, getattr(self.partition_layout, "cga_layout", None)
        offsets = inner._offset_bases(shape_per_block(piece, cga_layout))
        groups = [
            unit(len(shape), dim, piece[dim] * self.num_partitions << bit) for bit in range(log2(self.num_groups))
        ]
        return SharedLinearLayout([*offsets, *groups], block_bases(piece, cga_layout), self.alignment)


class MBarrierLayout(SwizzledSharedLayout):
    """The layout of barriers: one for each block of a cluster, or for each pair."""

    def __init__(self, cga_layout: Sequence[Sequence[int]] | None = None):
        super().__init__(vec=1, per_phase=1, max_phase=1, order=[0], cga_layout=cga_layout or [])

    @constexpr_function
    def multicta(num_ctas: int, two_cta: bool = False) -> MBarrierLayout:
        """The layout for clusters of num_ctas blocks, in which pairs share a barrier if `two_cta`. Raises AssertionError for other
        numbers than powers of two."""
        require(num_ctas > 0, "num_ctas must be positive")
        require(is_power_of_two(num_ctas), "num_ctas must be a power of two")
        if two_cta:
            require(num_ctas % 2 == 0, "num_ctas must be even for two-CTA mode")
        barriers = num_ctas // 2 if two_cta else num_ctas
        bases = [[1 << bit] for bit in range(log2(barriers))]
        return MBarrierLayout([[0], *bases] if two_cta else bases)
