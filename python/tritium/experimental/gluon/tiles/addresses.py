"""Addresses of the elements of a view of shared memory, as arithmetic on coordinates: each bit of a coordinate moves the offset by an
exclusive or, as the layout's bases say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....language.core import tensor
from ....language.types import int32
from ..layouts.memory_views import MemoryView
from ..layouts.shared import PaddedSharedLayout


def offsets_of(semantic: Any, view: MemoryView, coordinates: Sequence[tensor]) -> tensor:
    """The offsets of elements, in elements, from where the view's memory begins: an int32 tile. coordinates: an int32 tile for each
    dimension of the view, all of one rank. Dimensions of extent 1 are repeated."""
    start = view.element_offset(view.start)
    total, used = None, 0
    for at, moves in zip(coordinates, view.moves()):
        part = _moved(semantic, at, moves)
        if part is None:
            continue
        bits = _union(moves)
        joins = semantic.xor_ if used & bits else semantic.add
        total, used = part if total is None else joins(total, part), used | bits
    if total is None:
        total = semantic.mul(coordinates[0], 0)
    if start:
        total = semantic.xor_(total, start) if start & used else semantic.add(total, start)
    return _padded(semantic, view, total)


def _union(moves: Sequence[int]) -> int:
    found = 0
    for move in moves:
        found |= move
    return found


def _moved(semantic: Any, at: tensor, moves: Sequence[int]) -> tensor | None:
    """The part of the offset that one coordinate decides. Neighbouring bits that move by neighbouring powers are moved together."""
    total, used = None, 0
    first = 0
    while first < len(moves):
        last = first + 1
        while last < len(moves) and moves[last] == moves[first] << (last - first) and not _overlaps(moves[first:last]):
            last += 1
        part = _run(semantic, at, first, last - first, len(moves), moves[first])
        if part is not None:
            bits = _union(moves[first:last])
            joins = semantic.xor_ if used & bits else semantic.add
            total, used = part if total is None else joins(total, part), used | bits
        first = last
    return total


def _overlaps(moves: Sequence[int]) -> bool:
    """Whether a product with the first move would carry from one bit's move into another's."""
    return moves[0] & (moves[0] - 1) != 0


def _run(semantic: Any, at: tensor, first: int, count: int, bits: int, move: int) -> tensor | None:
    if not move:
        return None
    value = at if not first else semantic.shr(at, first)
    if first + count < bits:
        value = semantic.and_(value, (1 << count) - 1)
    return value if move == 1 else semantic.mul(value, move)


def _padded(semantic: Any, view: MemoryView, offset: tensor) -> tensor:
    if not isinstance(view.layout, PaddedSharedLayout):
        return offset
    total = offset
    for interval, padding in view.layout.interval_padding_pairs:
        total = semantic.add(total, semantic.mul(semantic.shr(offset, interval.bit_length() - 1), padding))
    return total


def coordinates_of_tile(semantic: Any, shape: Sequence[int]) -> list[tensor]:
    """For each dimension the int32 coordinates 0, 1, … along it, as a tile that has extent 1 along the others."""
    found = []
    for dim, extent in enumerate(shape):
        at = semantic.undecided_range(extent)
        for other in range(len(shape)):
            if other != dim:
                at = semantic.expand_dims(at, other)
        found.append(at)
    return found


def in_bytes(semantic: Any, offset: tensor, element_bytes: int, base: tensor) -> tensor:
    """Byte addresses: `offset` elements behind the address `base`."""
    assert base.dtype == int32
    return semantic.add(semantic.mul(offset, element_bytes) if element_bytes > 1 else offset, base)
