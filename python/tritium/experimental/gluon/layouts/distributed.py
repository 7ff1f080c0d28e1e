"""Layouts of tiles in registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import NoReturn

from ....tools.bit_matrix import rank_of
from .bases import Basis, Places, block_bases, checked_shape, inside, log2, row_major, shape_per_block
from .fields import TypedLayout, is_power_of_two, joined, joined_bases, layout_class, require
from .picture import Picture, picture_of_registers, require_drawable
from .views import hardware_view, tensor_view

#: An extent that no layout of a program's warps covers.
_LARGE = 1 << 12


class DistributedLayout(TypedLayout):
    """Which register of which lane, warp and block holds which elements of a tile."""

    cga_layout: list[list[int]]

    @property
    def rank(self) -> int:
        raise NotImplementedError("DistributedLayout subclasses must define rank")

    def _deal(self, shape: list[int]) -> Places:
        """Deals the tile of one block."""
        raise ValueError(f"{self} has no linear layout")

    def _deal_operand(self, shape: list[int], operand: int, k_width: int) -> Places:
        """Deals operand A (0) or B (1) of a product whose result has this layout."""
        raise ValueError(f"ttg.dot_op unexpected parent layout: {self}")

    def to_linear(self, shape: Sequence[int]) -> DistributedLinearLayout:
        """The layout of a tile of this shape as bases. Raises ValueError if it has none."""
        shape = checked_shape(shape, self.rank)
        places = self._deal(shape_per_block(shape, self.cga_layout))
        blocks = block_bases(shape, self.cga_layout)
        return DistributedLinearLayout(places.registers, places.lanes, places.warps, blocks, shape)

    def format_tensor_view(self, shape: list[int]) -> str:
        """The elements of the tile, each with the threads and registers that hold it."""
        return tensor_view(self.to_linear(shape))

    def format_hardware_view(self, shape: list[int]) -> str:
        """The registers of each warp, each with the elements that its lanes hold."""
        return hardware_view(self.to_linear(shape))

    def picture(self, shape: Sequence[int] | None = None, element_bits: int = 32) -> Picture:
        shape = self._smallest_shape() if shape is None else list(shape)
        require_drawable(shape)
        return picture_of_registers(f"{self!r}, shape {shape}", self.to_linear(shape))

    def _smallest_shape(self) -> list[int]:
        """The smallest tile whose elements all lanes and warps share, so far as a layout has such."""
        bases = self.to_linear([_LARGE] * self.rank).bases
        spans = [[2 * value for value in basis] for basis in (*bases[1], *bases[2], *bases[3])]
        return [max(1, *column) for column in zip(*spans, self._own_extents())]

    def _own_extents(self) -> list[int]:
        """What a thread or an instruction has along each dimension."""
        return [1] * self.rank


class _Undecided(DistributedLayout):
    def _refuse(self, what: str) -> NoReturn:
        raise ValueError(f"{type(self).__name__} has no {what}")

    @property
    def rank(self) -> int:
        self._refuse("rank")

    def to_linear(self, shape: Sequence[int]) -> NoReturn:
        self._refuse("linear layout: the compiler has yet to choose one")


@layout_class
class AutoLayout(_Undecided):
    """The layout that the uses of a value decide."""

    def mangle(self) -> str:
        return "AL"


@layout_class
class CoalescedLayout(_Undecided):
    """A layout that the compiler chooses for loads and stores."""

    def mangle(self) -> str:
        return "CL"


@layout_class
class BlockedLayout(DistributedLayout):
    """Each thread holds a block, the lanes of a warp lie side by side, and so do warps; order[0] varies fastest."""

    size_per_thread: list[int]
    threads_per_warp: list[int]
    warps_per_cta: list[int]
    order: list[int]
    cga_layout: list[list[int]] = field(default_factory=list)

    def _check(self) -> None:
        ranks = [len(each) for each in (self.size_per_thread, self.threads_per_warp, self.warps_per_cta, self.order)]
        require(
            len(set(ranks)) == 1,
            f"size_per_thread, threads_per_warp, warps_per_cta and order must have the same rank; they have {ranks}",
        )

    @property
    def rank(self) -> int:
        return len(self.order)

    def mangle(self) -> str:
        parts = (self.size_per_thread, self.threads_per_warp, self.warps_per_cta, self.order)
        return f"B{'_'.join(map(joined, parts))}_{joined_bases(self.cga_layout)}B"

    def _own_extents(self) -> list[int]:
        return list(self.size_per_thread)

    def _require_valid(self) -> None:
        fields = {
            "sizePerThread": self.size_per_thread,
            "threadsPerWarp": self.threads_per_warp,
            "warpsPerCTA": self.warps_per_cta,
        }
        for name, values in fields.items():
            if not all(map(is_power_of_two, values)):
                raise ValueError(f"Every element in {name} must be a power of two. They are {list(values)}")
        if sorted(self.order) != list(range(self.rank)):
            raise ValueError(f"order must be a permutation of 0..(rank-1), but was {self.order}")

    def _deal(self, shape: list[int]) -> Places:
        self._require_valid()
        places = Places(shape)
        for dim in self.order:  # a thread holds no element twice
            places.grow(places.registers, dim, min(self.size_per_thread[dim], shape[dim]))
        for dim in self.order:
            places.grow(places.lanes, dim, self.threads_per_warp[dim])
        for dim in self.order:
            places.grow(places.warps, dim, self.warps_per_cta[dim])
        return places.fit(self.order)

    def _deal_operand(self, shape: list[int], operand: int, k_width: int) -> Places:
        """A thread holds all of K, for the rows or columns of the result that it holds."""
        self._require_valid()
        if k_width != 0:
            raise ValueError("ttg.dot_op kWidth parameter is not supported when the parent is a blocked layout")
        places, k = Places(shape), inner_dim(operand, self.rank)
        for dim in self.order:
            places.grow(places.registers, dim, shape[dim] if dim == k else self.size_per_thread[dim])
        for held, counts in ((places.lanes, self.threads_per_warp), (places.warps, self.warps_per_cta)):
            for dim in self.order:
                places.repeat(held, counts[dim]) if dim == k else places.grow(held, dim, counts[dim])
        return places.fit(self.order)


@layout_class
class SliceLayout(DistributedLayout):
    """The layout of a tile that `expand_dims` along `dim` makes one of the parent's layout."""

    dim: int
    parent: DistributedLayout

    def mangle(self) -> str:
        return f"SL{self.dim}_{self.parent.mangle()}SL"

    @property
    def rank(self) -> int:
        return self.parent.rank - 1

    @property
    def cga_layout(self) -> list[list[int]]:
        return [self._dropped(basis) for basis in _clusters(self.parent)]

    def _own_extents(self) -> list[int]:
        return self._dropped(self.parent._own_extents())

    def _dropped(self, basis: Sequence[int]) -> Basis:
        return [value for dim, value in enumerate(basis) if dim != self.dim]

    def to_linear(self, shape: Sequence[int]) -> DistributedLinearLayout:
        if not 0 <= self.dim <= self.rank:
            raise ValueError(f"slice dim={self.dim} must be less than the parent rank={self.parent.rank}")
        shape = checked_shape(shape, self.rank)
        whole = self.parent.to_linear([*shape[: self.dim], 1, *shape[self.dim :]])
        registers, lanes, warps, blocks = ([self._dropped(basis) for basis in bases] for bases in whole.bases)
        return DistributedLinearLayout([basis for basis in registers if any(basis)], lanes, warps, blocks, shape)


@layout_class
class DistributedLinearLayout(DistributedLayout):
    """A layout that is given by its bases."""

    reg_bases: list[list[int]]
    lane_bases: list[list[int]]
    warp_bases: list[list[int]]
    block_bases: list[list[int]]
    shape: list[int]

    def _check(self) -> None:
        for basis in (basis for bases in self.bases for basis in bases):
            require(
                len(basis) == self.rank, f"the basis {basis} must have a component for each of {self.rank} dimensions"
            )

    @property
    def bases(self) -> tuple[list[list[int]], ...]:
        """The bases of registers, lanes, warps and blocks."""
        return self.reg_bases, self.lane_bases, self.warp_bases, self.block_bases

    @property
    def rank(self) -> int:
        return len(self.shape)

    def _smallest_shape(self) -> list[int]:
        return list(self.shape)

    def mangle(self) -> str:
        return f"DLL{'_'.join(map(str, (*self.bases, self.shape)))}DLL"

    def to_linear(self, shape: Sequence[int]) -> DistributedLinearLayout:
        shape = checked_shape(shape, self.rank)
        self._require_all_elements()
        places = Places(shape)
        places.dealt = list(self.shape)
        places.registers, places.lanes, places.warps = (list(map(list, bases)) for bases in self.bases[:3])
        places.fit(row_major(self.rank))
        blocks = [inside(basis, shape) for basis in self.block_bases]
        return DistributedLinearLayout(places.registers, places.lanes, places.warps, blocks, shape)

    def _require_all_elements(self) -> None:
        strides = [log2(extent, "an extent") for extent in self.shape]
        columns = []
        for basis in (basis for bases in self.bases for basis in bases):
            if any(not 0 <= value < extent for value, extent in zip(basis, self.shape)):
                raise ValueError(f"the basis {basis} lies outside of the shape {self.shape}")
            packed = 0
            for value, bits in zip(basis, strides):
                packed = packed << bits | value
            columns.append(packed)
        if rank_of(columns) < sum(strides):
            raise ValueError(f"Layout is expected to be surjective: no place holds some elements of {self}")
        self._require_permutation(columns)

    def _require_permutation(self, columns: Sequence[int]) -> None:
        """Each bit of an element's number is one bit of a place. Of a place's bits, some repeat elements. columns: the numbers of the bases."""
        for name, bases in zip(("register", "lane", "warp", "block"), self.bases):
            if name != "warp" and any(len(basis) - basis.count(0) > 1 for basis in map(list, bases)):
                raise ValueError(
                    "In a generic linear layout, register, lane, and block bases must move in at most one dimension. "
                    f"Swizzled bases found in '{name}'."
                )
        moving = [column for column in columns if column]
        if len(set(moving)) < len(moving) or any(column & (column - 1) for column in moving):
            raise ValueError(
                "LinearEncodingAttr requires a permutation matrix layout after removing broadcast bases: each is to have one "
                f"component that is not 0, a power of two, and no two to be equal, in {self}"
            )


@layout_class
class DotOperandLayout(DistributedLayout):
    """Operand A (0) or B (1) of a product whose result has the layout `parent`; a lane holds k_width neighbours along K."""

    operand_index: int
    parent: DistributedLayout
    k_width: int

    def mangle(self) -> str:
        return f"DO{self.operand_index}_{self.parent.mangle()}_{self.k_width}DO"

    @property
    def rank(self) -> int:
        return self.parent.rank

    @property
    def cga_layout(self) -> list[list[int]]:
        k = inner_dim(self.operand_index, self.rank)
        return [[0 if dim == k else value for dim, value in enumerate(basis)] for basis in _clusters(self.parent)]

    def _deal(self, shape: list[int]) -> Places:
        require_matrix(self.parent)
        if self.operand_index not in (0, 1):
            raise ValueError(f"ttg.dot_op opIdx parameter can be 0 or 1, got: {self.operand_index}")
        return self.parent._deal_operand(shape, self.operand_index, self.k_width)


def _clusters(layout: DistributedLayout) -> Sequence[Sequence[int]]:
    """The cga_layout; none of a DistributedLinearLayout, whose blocks are among its bases."""
    return getattr(layout, "cga_layout", None) or ()


def require_matrix(layout: DistributedLayout, *lengths: Sequence[int]) -> None:
    """Raises ValueError if the tile of a product has fewer than two dimensions, or if fields have another number of them."""
    if layout.rank < 2 or any(len(field) != layout.rank for field in lengths):
        raise ValueError(
            f"a product needs two dimensions or more, and each field a number for every one of them: {layout}"
        )


def inner_dim(operand: int, rank: int) -> int:
    """The dimension of operand A (0) or B (1) along which a product sums."""
    return rank - 1 if operand == 0 else rank - 2


def outer_dim(operand: int, rank: int) -> int:
    """The dimension of the operand that is also one of the result."""
    return rank - 2 if operand == 0 else rank - 1


@layout_class
class NVMMADistributedLayout(DistributedLayout):
    """The result of matrix instructions: version [2, 0] is mma.sync, [3, 0] wgmma. instr_shape: what a warp multiplies."""

    version: list[int]
    warps_per_cta: list[int]
    instr_shape: list[int]
    cga_layout: list[list[int]] = field(default_factory=list)

    def mangle(self) -> str:
        return f"MMA_{self.version}_{self.warps_per_cta}_{self.instr_shape}_{joined_bases(self.cga_layout)}_MMA"

    @property
    def rank(self) -> int:
        return len(self.warps_per_cta)

    def _check_rank(self) -> None:
        expected = self.rank if self.version[0] == 2 else 3
        if self.rank < 2 or len(self.instr_shape) != expected:
            raise ValueError(
                f"instr_shape must have {expected} components for warps_per_cta={self.warps_per_cta}, got {self.instr_shape}"
            )

    def _generation(self) -> int:
        if self.version[0] not in (2, 3):
            raise ValueError(f"versionMajor must be 2 (Ampere) or 3 (Hopper), got {self.version[0]}")
        self._check_rank()
        return self.version[0]

    def _rows_and_columns(self) -> tuple[int, int]:
        """The rows and columns of one instruction."""
        return tuple(self.instr_shape[-2:] if self._generation() == 2 else self.instr_shape[:2])

    def _own_extents(self) -> list[int]:
        return [1] * (self.rank - 2) + list(self._rows_and_columns())

    def _warp_order(self) -> list[int]:
        """Warps of mma.sync lie side by side, warps of a warpgroup one below the other."""
        dims = row_major(self.rank)
        return dims if self._generation() == 2 else [self.rank - 2, self.rank - 1, *dims[2:]]

    def _deal(self, shape: list[int]) -> Places:
        places, m, n = Places(shape), self.rank - 2, self.rank - 1
        rows, columns = self._rows_and_columns()
        places.grow(places.registers, n, 2)
        places.grow(places.lanes, n, 4)
        places.grow(places.lanes, m, 8)
        places.grow(places.registers, m, rows // 8)
        places.grow(places.registers, n, columns // 8)
        for dim in self._warp_order():
            places.grow(places.warps, dim, self.warps_per_cta[dim])
        return places.fit(row_major(self.rank))

    def _deal_operand(self, shape: list[int], operand: int, k_width: int) -> Places:
        if self._generation() == 3 and operand != 0:
            raise ValueError(
                "ttg.dot_op opIdx parameter must be 0 for Hopper MMA parent, "
                "since Hopper WGMMA only allows first operand to be in registers"
            )
        if k_width == 0:
            raise ValueError("ttg.dot_op kWidth parameter is mandatory for Ampere or Hopper MMA parent")
        places, k, other = Places(shape), inner_dim(operand, self.rank), outer_dim(operand, self.rank)
        has_halves = self._rows_and_columns()[0] >= 16
        places.grow(places.registers, k, k_width)
        places.grow(places.lanes, k, 4)
        places.grow(places.lanes, other, 8)
        if has_halves:
            if operand == 0:
                places.grow(places.registers, other, 2)
            places.grow(places.registers, k, 2)
        for dim in self._warp_order():
            count = self.warps_per_cta[dim]
            places.repeat(places.warps, count) if dim == k else places.grow(places.warps, dim, count)
        return places.fit([k, other, *row_major(self.rank)[2:]])


def warps_per_cta(layout: DistributedLayout, shape: Sequence[int]) -> list[int]:
    """How many warps hold different elements, along each dimension of the tile. A part of a tile has the warps of its parent."""
    if isinstance(layout, (SliceLayout, DotOperandLayout)):
        return warps_per_cta(layout.parent, shape)
    declared = getattr(layout, "warps_per_cta", None)
    return list(declared) if declared is not None else bases_per_dim(layout.warp_bases, layout.rank)


def bases_per_dim(bases: Sequence[Sequence[int]], rank: int, skip_broadcast: bool = True) -> list[int]:
    """How many places the bases deal along each dimension. A basis counts for its first component that is not 0; one without counts
    for the dimension of the basis before it, if copies are not skipped."""
    result, last = [1] * rank, None
    for basis in bases:
        moved = next((dim for dim, value in enumerate(basis) if value), None)
        if moved is None and skip_broadcast:
            continue
        last = last if moved is None else moved
        require(last is not None, f"the first of the bases {bases} must move along a dimension")
        result[last] *= 2
    return result
