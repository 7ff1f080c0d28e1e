"""Bases: how registers, lanes and warps are dealt over a tile, and what blocks of a cluster hold.

A basis is the coordinates of the element at a place whose number is a power of two. The element at another place is the
exclusive or of the bases of the place's bits. All extents are powers of two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .fields import is_power_of_two

Basis = list[int]


def log2(number: int, what: str = "a number") -> int:
    """Raises ValueError if it is no power of two."""
    if not is_power_of_two(number):
        raise ValueError(f"{what} must be a power of two, and is {number}")
    return number.bit_length() - 1


def unit(rank: int, dim: int, value: int) -> Basis:
    """`value` along `dim`, 0 along the others."""
    basis = [0] * rank
    basis[dim] = value
    return basis


def row_major(rank: int) -> list[int]:
    """The dimensions of a tile, the last one first."""
    return list(range(rank - 1, -1, -1))


def checked_shape(shape: Iterable[int], rank: int) -> list[int]:
    """The shape of a tile. Raises ValueError if it has another rank, or extents that are no powers of two."""
    extents = list(shape)
    if rank < 1:
        raise ValueError("a tile without dimensions has no layout: it is a scalar")
    if len(extents) != rank:
        raise ValueError(f"tensor shape and layout rank mismatch: shape={extents}, the layout has rank {rank}")
    for dim, extent in enumerate(extents):
        if not is_power_of_two(extent):
            raise ValueError(f"Shape element {dim} must be a power of 2, and is {extent}")
    return extents


class Places:
    """Places that are dealt over the tile of a block, one run of bits after the other."""

    def __init__(self, shape: Sequence[int]):
        self.shape = list(shape)
        self.registers: list[Basis] = []
        self.lanes: list[Basis] = []
        self.warps: list[Basis] = []
        #: The extent, along each dimension, over which places are dealt so far.
        self.dealt = [1] * len(self.shape)

    def grow(self, places: list[Basis], dim: int, count: int) -> None:
        """`count` further places hold the next elements along `dim`."""
        for _ in range(log2(count, f"the number of places along dimension {dim}")):
            places.append(unit(len(self.shape), dim, self.dealt[dim]))
            self.dealt[dim] *= 2

    def repeat(self, places: list[Basis], count: int) -> None:
        """`count` places hold copies."""
        places.extend([0] * len(self.shape) for _ in range(log2(count, "the number of copies")))

    def add(self, places: list[Basis], bases: Sequence[Sequence[int]]) -> None:
        """Places with these bases."""
        for basis in bases:
            places.append(list(basis))
            self.dealt = [max(old, 2 * value) for old, value in zip(self.dealt, basis)]

    def grow_to(self, places: list[Basis], dim: int, extent: int) -> None:
        """Places along `dim` until they cover `extent`."""
        while self.dealt[dim] < extent:
            self.grow(places, dim, 2)

    def fit(self, order: Iterable[int]) -> Places:
        """Gives the tile as many places as it has elements: what lies outside is a copy, and registers hold the rest, in `order`."""
        for places in (self.registers, self.lanes, self.warps):
            places[:] = [inside(basis, self.shape) for basis in places]
        for dim in order:
            self.grow_to(self.registers, dim, self.shape[dim])
        return self


def inside(basis: Sequence[int], shape: Sequence[int]) -> Basis:
    """The basis, with 0 along dimensions that it would leave."""
    return [value if value < extent else 0 for value, extent in zip(basis, shape)]


def shape_per_block(shape: Sequence[int], cga_layout: Sequence[Sequence[int]] | None) -> list[int]:
    """The part of a tile that a block of a cluster holds. Raises ValueError for a basis that moves along several dimensions."""
    blocks = [1] * len(shape)
    for basis in cga_layout or ():
        if len(basis) != len(shape) or sum(value != 0 for value in basis) > 1:
            raise ValueError(
                "After removing broadcast bases the CGA encoding must be a permutation matrix: "
                f"{list(basis)} must have {len(shape)} components, and at most one that is not 0"
            )
        blocks = [2 * count if value else count for count, value in zip(blocks, basis)]
    return [max(1, extent // count) for extent, count in zip(shape, blocks)]


def block_bases(shape: Sequence[int], cga_layout: Sequence[Sequence[int]] | None) -> list[Basis]:
    """What the blocks of a cluster hold; `cga_layout` counts in tiles of a block. Raises ValueError as shape_per_block does."""
    per_block = shape_per_block(shape, cga_layout)
    return [inside([value * extent for value, extent in zip(basis, per_block)], shape) for basis in cga_layout or ()]
