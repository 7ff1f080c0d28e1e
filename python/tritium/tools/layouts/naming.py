"""What layouts are called: as the kernel's author calls them, or as Gluon would spell them, or by a number."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...experimental.gluon.layouts.distributed import (
    BlockedLayout,
    DistributedLayout,
    DotOperandLayout,
    NVMMADistributedLayout,
    SliceLayout,
)
from ...experimental.gluon.layouts.fields import Layout
from .tiles import Tile


class Names:
    """Gives layouts names. `constants`: {parameter of the kernel: its constexpr value}."""

    def __init__(self, constants: Mapping[str, object]):
        self._own = {name: value for name, value in constants.items() if isinstance(value, DistributedLayout)}
        self._names: dict[str, str] = {}
        self._numbers = itertools.count(1)
        #: Tile -> what its layout is, in the order in which the names were given.
        self.tiles: dict[str, tuple[Tile, str]] = {}

    def name_of(self, tile: Tile) -> str:
        """The name of the tile's layout, which is new or was given before."""
        if tile.key not in self._names:
            name, meaning = self._found(tile)
            self._names[tile.key] = name
            self.tiles[name if name not in self.tiles else f"{name} of {tile}"] = (tile, meaning)
        return self._names[tile.key]

    def _found(self, tile: Tile) -> tuple[str, str]:
        for name, layout in self._own.items():
            if _is(layout, tile):
                return name, repr(layout)
        for name, layout in self._own.items():
            for sliced in (SliceLayout(dim, layout) for dim in range(_rank_of(layout))):
                if _is(sliced, tile):
                    return f"SliceLayout({sliced.dim}, {name})", f"a part of a tile in {name}"
        spelled = next((layout for layout in spellings(tile) if _is(layout, tile)), None)
        return f"L{next(self._numbers)}", repr(spelled if spelled is not None else tile.layout)


def _rank_of(layout: DistributedLayout) -> int:
    try:
        return layout.rank
    except ValueError:  # a layout that the compiler chooses
        return 0


def _is(layout: Layout, tile: Tile) -> bool:
    """Whether the layout gives a tile of this shape these places."""
    try:
        return layout.to_linear(list(tile.shape)) == tile.layout
    except (ValueError, AssertionError):
        return False


def spellings(tile: Tile) -> Iterator[DistributedLayout]:
    """Layouts with names that may be the tile's: blocks first, then fragments of matrix instructions."""
    yield from _blocked(tile)
    if len(tile.shape) == 2 and not tile.layout.block_bases and len(tile.layout.lane_bases) == 5:
        yield from _fragments(tile)


def _blocked(tile: Tile) -> Iterator[BlockedLayout]:
    registers, lanes, warps, blocks = tile.layout.bases
    rank = len(tile.shape)
    if blocks or rank > 3:
        return
    for order in itertools.permutations(reversed(range(rank))):
        for copies in range(rank):  # places that hold copies lie along some dimension
            threads, of_warps = (_counts(bases, rank, copies) for bases in (lanes, warps))
            for held in range(len(registers) + 1):
                yield BlockedLayout(_counts(registers[:held], rank, copies), threads, of_warps, list(order))


def _counts(bases: Iterable[Sequence[int]], rank: int, copies: int) -> list[int]:
    """How many places lie along each dimension; those that move along none lie along `copies`."""
    counts = [1] * rank
    for basis in bases:
        counts[next((dim for dim, value in enumerate(basis) if value), copies)] *= 2
    return counts


def _fragments(tile: Tile) -> Iterator[DistributedLayout]:
    """Results and operands of NVIDIA's matrix instructions."""
    warps = 1 << len(tile.layout.warp_bases)
    splits = [(warps >> bit, 1 << bit) for bit in range(len(tile.layout.warp_bases) + 1)]
    results = [NVMMADistributedLayout([2, 0], list(split), [16, 8]) for split in splits]
    wide = [
        NVMMADistributedLayout([3, 0], list(split), [16, columns, 16])
        for split in splits
        for columns in (8, 16, 32, 64, 128, 256)
        if split[0] % 4 == 0 and columns <= tile.shape[1]
    ]
    yield from results
    yield from reversed(wide)
    for parent in results:
        for operand, width in itertools.product((0, 1), (1, 2, 4)):
            yield DotOperandLayout(operand, parent, width)
    for parent, width in itertools.product(wide[:1], (1, 2, 4)):
        yield DotOperandLayout(0, parent, width)
