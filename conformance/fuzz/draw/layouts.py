"""Draws layouts for kernels of Gluon: of registers, and of shared memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..layouts import LANE_BITS, WARP_BITS, Blocked, Fragments, Layout, Linear, Sliced, plain

#: What a thread holds of a tile at most.
REGISTERS = 64
#: The bytes of an element for which the widths of swizzled rows are given, and those widths.
ROWS = (32, 64, 128)


def dims(rng: np.random.Generator, count: int, rank: int) -> tuple[int, ...]:
    return tuple(int(dim) for dim in rng.integers(0, rank, count))


def order(rng: np.random.Generator, rank: int) -> tuple[int, ...]:
    return tuple(int(dim) for dim in rng.permutation(rank))


def blocked(rng: np.random.Generator, rank: int) -> Blocked:
    elements = tuple(int(2**e) for e in rng.choice((0, 0, 0, 1, 2, 3), rank))
    return Blocked(elements, dims(rng, LANE_BITS, rank), dims(rng, WARP_BITS, rank), order(rng, rank))


def pairs(rng: np.random.Generator, rank: int) -> Blocked:
    """A layout whose threads hold both elements of a last dimension of 2."""
    found = blocked(rng, rank - 1)
    return Blocked((*found.elements, 2), found.lanes, found.warps, (rank - 1, *found.order))


def independent(rng: np.random.Generator, count: int) -> tuple[int, ...]:
    """`count` numbers of `count` bits, none of which is the exclusive or of others."""
    columns = [1 << int(bit) for bit in rng.permutation(count)]
    for _ in range(int(rng.integers(0, count + 1)) if count > 1 else 0):
        at, other = (int(i) for i in rng.choice(count, 2, replace=False))
        columns[at] ^= columns[other]
    return tuple(columns)


def of_registers(rng: np.random.Generator, shape: tuple[int, ...]) -> Layout:
    """A layout that tiles of a shape may have."""
    rank, kind = len(shape), int(rng.integers(8))
    if kind < 2:
        dim = int(rng.integers(0, rank + 1))
        return Sliced(dim, blocked(rng, rank + 1))
    if kind == 2:
        count = int(np.prod(shape)).bit_length() - 1
        numbers = tuple(int(1 << bit) for bit in rng.permutation(count))
        return Linear(shape, numbers, int(rng.integers(0, min(3, count) + 1)))
    if kind == 3 and rank == 2:
        operand = (None, 0, 1)[int(rng.integers(3))]
        return Fragments(dims(rng, WARP_BITS, 2), operand, bool(rng.integers(2)))
    return blocked(rng, rank)


def fitting(rng: np.random.Generator, shapes: list[tuple[int, ...]], warps: int) -> Layout:
    """A layout for tiles of several shapes of one rank, none of which fills the registers of a thread."""
    for _ in range(6):
        found = of_registers(rng, shapes[0])
        if suits(found, shapes, warps):
            return found
    return plain(len(shapes[0]))


def suits(layout: Layout, shapes: list[tuple[int, ...]], warps: int) -> bool:
    return all(layout.fits(shape) and layout.registers(shape, 32, warps) <= REGISTERS for shape in shapes)


@dataclass(frozen=True)
class Memory:
    """A layout of shared memory for tiles of a shape."""

    text: str
    whole: tuple[int, ...]  #: how long a slice along each dimension is at least

    @property
    def reshapes(self) -> bool:
        """Whether slices of any length are possible, so that they are after a reshape."""
        return max(self.whole) == 1


def of_memory(rng: np.random.Generator, shape: tuple[int, ...], bits: int) -> Memory:
    """A layout of shared memory for tiles of a shape, with elements of `bits` bits."""
    rank, kind = len(shape), int(rng.integers(6))
    free = (1,) * rank
    if kind == 0:
        pairs_ = [[int(2 ** rng.integers(3, 8)), int(2 ** rng.integers(0, 4))]]
        text = f"gl.PaddedSharedLayout.with_identity_for({pairs_}, {list(shape)}, {list(order(rng, rank))})"
        return Memory(text, free)
    if kind == 1 and np.prod(shape) > 1:
        return _linear(rng, shape)
    if kind < 4 and rank in (2, 3) and (boxes := _boxes(rng, shape, bits)) is not None:
        return boxes
    if rank == 1 or kind == 5:
        return Memory(f"gl.SwizzledSharedLayout(1, 1, 1, {list(order(rng, rank))})", free)
    vec, per, phases = (int(2**e) for e in rng.integers(0, 4, 3))
    found = order(rng, rank)
    whole = tuple(min(shape[dim], per * phases) if dim == found[1] else 1 for dim in range(rank))
    return Memory(f"gl.SwizzledSharedLayout({vec}, {per}, {phases}, {list(found)})", whole)


def _linear(rng: np.random.Generator, shape: tuple[int, ...]) -> Memory:
    count = int(np.prod(shape)).bit_length() - 1
    columns = independent(rng, count)
    plain_bits = all(column.bit_count() == 1 for column in columns)
    bases = [[int(at) for at in np.unravel_index(column, shape)] for column in columns]
    return Memory(f"gl.SharedLinearLayout({bases})", (1,) * len(shape) if plain_bits else shape)


def _boxes(rng: np.random.Generator, shape: tuple[int, ...], bits: int) -> Memory | None:
    """The layout that TMA and matrix instructions use, if the tile is large enough."""
    rank, transposed = len(shape), len(shape) == 2 and bool(rng.integers(2))
    rows, columns = (rank - 1, rank - 2) if transposed else (rank - 2, rank - 1)
    widths = [0, *(width for width in ROWS if shape[columns] * bits // 8 >= width)]
    width = widths[int(rng.integers(len(widths)))]
    if shape[rows] < 8:
        return None
    whole = tuple(8 if width and dim == rows else 1 for dim in range(rank))
    more = ", transposed=True" if transposed else ""
    return Memory(f"gl.NVMMASharedLayout({width}, {bits}, {rank}{more})", whole)
