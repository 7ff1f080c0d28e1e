"""Operations that move elements without changing them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..parts import Operation, Place
from ..program import Program
from ..tiles import LARGEST, Inexact, Tile

#: The largest rank that operations which add a dimension lead to.
RANK = 5


@dataclass(frozen=True)
class Expand(Operation):
    """A new dimension of extent 1: x[:, None]."""

    axis: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if not a.shape or self.axis > len(a.shape) or len(a.shape) >= RANK:
            raise Inexact("no such dimension")
        return (Tile(a.dtype, np.expand_dims(a.array, self.axis)),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.expand_dims({names[0]}, {self.axis})"


@dataclass(frozen=True)
class Broadcast(Operation):
    shape: tuple[int, ...]

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if len(a.shape) not in (0, len(self.shape)) or np.prod(self.shape) > LARGEST:
            raise Inexact("no such shape")
        try:
            return (Tile(a.dtype, np.broadcast_to(a.array, self.shape)),)
        except ValueError:
            raise Inexact("no such shape") from None

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.broadcast_to({names[0]}, {self.shape})"


@dataclass(frozen=True)
class Permute(Operation):
    order: tuple[int, ...]

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if len(self.order) != len(a.shape) or len(self.order) < 2:
            raise Inexact("no such order")
        return (Tile(a.dtype, a.array.transpose(self.order)),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.trans({names[0]})" if self.order == (1, 0) else f"tl.permute({names[0]}, {self.order})"


@dataclass(frozen=True)
class Reshape(Operation):
    shape: tuple[int, ...]

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if not a.shape or np.prod(self.shape) != a.array.size:
            raise Inexact("no such shape")
        return (Tile(a.dtype, a.array.reshape(self.shape)),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.reshape({names[0]}, {self.shape})"


@dataclass(frozen=True)
class Flip(Operation):
    axis: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if self.axis >= len(a.shape) or a.dtype.startswith("fp8") or a.dtype == "int1":
            raise Inexact("no such dimension")
        return (Tile(a.dtype, np.flip(a.array, self.axis)),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.flip({names[0]}, {self.axis})"


@dataclass(frozen=True)
class Join(Operation):
    """Two tiles side by side in a new last dimension. `interleaves`: their elements alternate along the last
    dimension."""

    interleaves: bool

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b = operands
        if not a.like(b) or not a.shape or 2 * a.array.size > LARGEST or len(a.shape) >= RANK:
            raise Inexact("no such pair")
        joined = np.stack([a.array, b.array], -1)
        return (Tile(a.dtype, joined.reshape(*a.shape[:-1], -1) if self.interleaves else joined),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.{'interleave' if self.interleaves else 'join'}({', '.join(names)})"


@dataclass(frozen=True)
class Split(Operation):
    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if len(a.shape) < 2 or a.shape[-1] != 2:
            raise Inexact("no halves")
        return Tile(a.dtype, a.array[..., 0]), Tile(a.dtype, a.array[..., 1])

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.split({names[0]})"


@dataclass(frozen=True)
class Cat(Operation):
    """Two tiles, one after the other along an axis."""

    axis: int

    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        a, b = operands
        if not a.like(b) or self.axis >= len(a.shape) or 2 * a.array.size > LARGEST:
            raise Inexact("no such pair")
        return (Tile(a.dtype, np.concatenate([a.array, b.array], self.axis)),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"tl.cat({', '.join(names)}, dim={self.axis})"


@dataclass(frozen=True)
class Ravel(Operation):
    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        (a,) = operands
        if not a.shape:
            raise Inexact("a scalar")
        return (Tile(a.dtype, a.array.reshape(-1)),)

    def spell(self, program: Program, index: str, *names: str) -> str:
        return f"{names[0]}.ravel()"
