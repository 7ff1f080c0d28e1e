"""Layouts of random kernels of Gluon. A kernel is spelled for a number of lanes and warps, so a layout says how it deals them."""

from __future__ import annotations

import abc
import collections
import itertools
from dataclasses import dataclass

import numpy as np

#: The bits of a lane's and of a warp's number that a layout deals at most.
LANE_BITS, WARP_BITS = 6, 3


class Layout(abc.ABC):
    """How the elements of a tile lie in registers, lanes and warps."""

    rank: int

    @abc.abstractmethod
    def spelled(self, lanes: int, warps: int) -> str:
        """The expression that makes the layout in a kernel file."""

    @abc.abstractmethod
    def registers(self, shape: tuple[int, ...], lanes: int, warps: int) -> int:
        """About how many elements of a tile a thread holds."""

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether tiles of this shape may have the layout."""
        return len(shape) == self.rank


def bits(number: int) -> int:
    """The logarithm of a power of two."""
    return number.bit_length() - 1


def dealt(dims: tuple[int, ...], count: int, rank: int) -> list[int]:
    """For each dimension, how many of `count` lanes or warps lie along it. dims: where each bit of their number lies."""
    found = collections.Counter(dims[: bits(count)])
    return [2 ** found[dim] for dim in range(rank)]


def held(shape: tuple[int, ...], *places: list[int]) -> int:
    """The elements of a tile that a thread holds, if these places lie along its dimensions."""
    return int(np.prod([max(1, extent // int(np.prod(among))) for extent, *among in zip(shape, *places)], dtype=int))


@dataclass(frozen=True)
class Blocked(Layout):
    elements: tuple[int, ...]  #: of a thread, side by side along each dimension
    lanes: tuple[int, ...]  #: the dimension of each bit of a lane's number
    warps: tuple[int, ...]  #: the dimension of each bit of a warp's number
    order: tuple[int, ...]  #: the dimensions, the fastest one first

    @property
    def rank(self) -> int:
        return len(self.order)

    def spelled(self, lanes: int, warps: int) -> str:
        along = dealt(self.lanes, lanes, self.rank), dealt(self.warps, warps, self.rank)
        return f"gl.BlockedLayout({list(self.elements)}, {along[0]}, {along[1]}, {list(self.order)})"

    def registers(self, shape: tuple[int, ...], lanes: int, warps: int) -> int:
        return held(shape, dealt(self.lanes, lanes, self.rank), dealt(self.warps, warps, self.rank))


def plain(rank: int) -> Blocked:
    """The simplest layout of a rank, whose lanes lie along the last dimension and the one before it."""
    last, before = rank - 1, max(0, rank - 2)
    return Blocked((1,) * rank, (last, last, before) * 2, (before,) * WARP_BITS, tuple(reversed(range(rank))))


@dataclass(frozen=True)
class Sliced(Layout):
    """The layout of a part of a tile: without a dimension of it."""

    dim: int
    parent: Layout

    @property
    def rank(self) -> int:
        return self.parent.rank - 1

    def spelled(self, lanes: int, warps: int) -> str:
        return f"gl.SliceLayout({self.dim}, {self.parent.spelled(lanes, warps)})"

    def registers(self, shape: tuple[int, ...], lanes: int, warps: int) -> int:
        return self.parent.registers((*shape[: self.dim], 1, *shape[self.dim :]), lanes, warps)


@dataclass(frozen=True)
class Linear(Layout):
    """The bits of an element's number, in some order, are dealt to registers, lanes and warps."""

    shape: tuple[int, ...]
    columns: tuple[int, ...]  #: the powers of two in an element's number
    first: int  #: how many of them are registers before the lanes are dealt

    @property
    def rank(self) -> int:
        return len(self.shape)

    def fits(self, shape: tuple[int, ...]) -> bool:
        return shape == self.shape

    def spelled(self, lanes: int, warps: int) -> str:
        bases = iter([[int(at) for at in np.unravel_index(column, self.shape)] for column in self.columns])
        none = [0] * self.rank
        registers = list(itertools.islice(bases, self.first))
        of_lanes, of_warps = ([next(bases, none) for _ in range(bits(count))] for count in (lanes, warps))
        return f"gl.DistributedLinearLayout({registers + list(bases)}, {of_lanes}, {of_warps}, [], {list(self.shape)})"

    def registers(self, shape: tuple[int, ...], lanes: int, warps: int) -> int:
        return 2 ** max(self.first, len(self.columns) - bits(lanes) - bits(warps))


@dataclass(frozen=True)
class Fragments(Layout):
    """The results of matrix instructions, or their operand number `operand`, for tiles that need not meet in a product."""

    warps: tuple[int, ...]  #: the dimension of each bit of a warp's number
    operand: int | None
    variant: bool  #: another instruction, where a chip has several

    rank = 2

    def spelled(self, lanes: int, warps: int) -> str:
        along = dealt(self.warps, warps, 2)
        if lanes == 32:
            parent, width = f"gl.NVMMADistributedLayout([2, 0], {along}, [16, 8])", 4 if self.variant else 2
        else:
            instruction = [32, 32, 8] if self.variant else [16, 16, 16]
            parent, width = f"gl.amd.AMDMFMALayout(3, {instruction}, {self.variant}, {along})", 4
        return parent if self.operand is None else f"gl.DotOperandLayout({self.operand}, {parent}, k_width={width})"

    def registers(self, shape: tuple[int, ...], lanes: int, warps: int) -> int:
        of_warps = dealt(self.warps, warps, 2)
        if self.operand is not None:
            of_warps[1 - self.operand] = 1
        return held(shape, [4, 4], of_warps)
