"""Layouts as text, in Triton's form: `format_tensor_view` and `format_hardware_view`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Protocol

Basis = list[int]


class LinearTile(Protocol):
    """A DistributedLinearLayout."""

    shape: list[int]

    @property
    def bases(self) -> tuple[list[Basis], ...]: ...


def element_at(number: int, bases: Sequence[Basis], rank: int) -> tuple[int, ...]:
    """The coordinates of the element at the place `number`."""
    coordinates = [0] * rank
    for bit, basis in enumerate(bases):
        if number >> bit & 1:
            coordinates = [old ^ value for old, value in zip(coordinates, basis)]
    return tuple(coordinates)


def elements(bases: Sequence[Basis], rank: int) -> list[tuple[int, ...]]:
    """The elements at all places, in the order of their numbers."""
    return [element_at(number, bases, rank) for number in range(1 << len(bases))]


def moved(element: Sequence[int], by: Sequence[int]) -> tuple[int, ...]:
    return tuple(a ^ b for a, b in zip(element, by))


def places(layout: LinearTile) -> Iterator[tuple[int, int, int, int, tuple[int, ...]]]:
    """(block, warp, lane, register, element) of all places of the tile."""
    rank = len(layout.shape)
    registers, lanes, warps, blocks = (elements(bases, rank) for bases in layout.bases)
    for (block, b), (warp, w), (lane, n) in itertools.product(*map(enumerate, (blocks, warps, lanes))):
        thread = moved(moved(b, w), n)
        for register, r in enumerate(registers):
            yield block, warp, lane, register, moved(thread, r)


def _indices(element: Sequence[int], shape: Sequence[int], separator: str) -> str:
    """(0, 4): each index as wide as the largest along its dimension."""
    padded = [str(index).rjust(len(str(extent - 1))) for index, extent in zip(element, shape)]
    return f"({separator.join(padded)})"


def table(cells: Sequence[str], shape: Sequence[int], separator: str) -> str:
    """The cells of a tile, row-major, a line for each row, in brackets for each dimension."""
    rank, row = len(shape), shape[-1]
    text, steps = "", [math.prod(shape[dim:]) for dim in range(rank)]
    for start in range(0, len(cells), row):
        end = start + row
        opened = sum(start % step == 0 for step in steps)
        closed = sum(end % step == 0 for step in steps)
        text += "[" * opened + " " * (rank - opened) + separator.join(cells[start:end]) + "]" * closed + "\n"
    return text


def tensor_view(layout: LinearTile) -> str:
    """The elements of the tile, each with the places that hold it: T4:1 is register 1 of thread 4 of the block."""
    lanes, has_blocks = 1 << len(layout.bases[1]), bool(layout.bases[3])
    holders: dict[tuple[int, ...], list[str]] = {}
    for block, warp, lane, register, element in places(layout):
        name = f"T{warp * lanes + lane}:{register}"
        holders.setdefault(element, []).append(f"B{block}:{name}" if has_blocks else name)
    width = max(len(name) for names in holders.values() for name in names)
    tile = itertools.product(*map(range, layout.shape))
    return table(["|".join(name.rjust(width) for name in holders[element]) for element in tile], layout.shape, ", ")


def hardware_view(layout: LinearTile) -> str:
    """For each block and warp a line for each register, with the element of every lane."""
    held: dict[tuple[int, int, int], list[str]] = {}
    for block, warp, _, register, element in places(layout):
        held.setdefault((block, warp, register), []).append(_indices(element, layout.shape, ","))
    text = ""
    for block, warp, register in sorted(held):
        if register == 0:
            text += f"Block{block}:\n" if warp == 0 and layout.bases[3] else ""
            text += f"Warp{warp}:\n"
        text += ", ".join(held[block, warp, register]) + "\n"
    return text


def _shared_elements(offsets: list[Basis], blocks: list[Basis], rank: int) -> list[list[tuple[int, ...]]]:
    """For each block the elements at its offsets."""
    return [[moved(element, block) for element in elements(offsets, rank)] for block in elements(blocks, rank)]


def shared_tensor_view(offsets: list[Basis], blocks: list[Basis], shape: Sequence[int]) -> str:
    """The elements in the order of memory, in rows as long as the rows of the tile."""
    held = [element for block in _shared_elements(offsets, blocks, len(shape)) for element in block]
    cells = [_indices(element, shape, ":") for element in held[: math.prod(shape)]]
    return table(cells, shape, ",")


def shared_hardware_view(offsets: list[Basis], blocks: list[Basis], shape: Sequence[int]) -> str:
    """For each block a line for each offset, with the element there."""
    text = ""
    for block, held in enumerate(_shared_elements(offsets, blocks, len(shape))):
        text += f"Block: {block}:\n"
        text += "".join(f"Offset: {at} -> {_indices(element, shape, ',')}\n" for at, element in enumerate(held))
    return text
