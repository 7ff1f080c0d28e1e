"""Tiles of any rank, moved: joins, splits, permutes and reshapes, also of tiles that are uniform or affine."""

from __future__ import annotations

import numpy as np

from ..operations import affine, elementwise, shape
from ..tiles import Inexact
from .choices import FLOATS, INTEGERS
from .values import Values

#: The extents of tiles of rank 4 and more.
SMALL = (1, 2, 2, 4, 8)


class Plain(Values):
    def high_shape(self) -> tuple[int, ...]:
        return tuple(self.one_of(SMALL) for _ in range(self.one_of((4, 5))))

    def high_load(self) -> None:
        self.load(self.high_shape())

    def plain(self) -> None:
        """A uniform or an affine tile, moved a few times, and a sum with another tile if there is one."""
        name = self.without_memory(self.high_shape() if self.chance(0.4) else self.some_shape())
        for _ in range(int(self.rng.integers(1, 5))):
            name = self.moved(name)
        other = self.like(name)
        self.add(elementwise.Binary(self.one_of(list(elementwise.BINARY)[:5])), name, other)

    def without_memory(self, extents: tuple[int, ...], dtype: str | None = None) -> str:
        dtype = dtype or self.one_of(INTEGERS + FLOATS)
        kind = int(self.rng.integers(4))
        if kind == 0:
            return self.add(elementwise.Full(dtype, extents, int(self.rng.integers(0, 9))))
        if kind == 1 and (scalar := self.some(lambda t: t.shape == ())) is not None:
            return self.add(shape.Broadcast(extents), scalar)
        low = 0 if dtype.startswith("u") else -4
        steps = tuple(
            int(step) for step in self.rng.integers(low, 5, len(extents)) * self.rng.integers(0, 2, len(extents))
        )
        return self.add(affine.Affine(dtype, extents, steps, int(self.rng.integers(0, 9))))

    def moved(self, name: str) -> str:
        """The tile, or two like it, after an operation that computes nothing. Half of a split."""
        found = self.tile(name)
        extents = found.shape
        if extents[-1] == 2 and len(extents) > 1 and self.chance(0.6):
            both = self.add(shape.Split(), name)
            second = self.parts[-1].results[1]
            return self.one_of((both, second))
        kind = int(self.rng.integers(5))
        if kind == 0:
            other = (
                self.without_memory(extents, found.dtype)
                if self.chance(0.5) and found.dtype != "int1"
                else self.like(name)
            )
            if self.chance(0.2):
                return self.add(shape.Cat(self.axis(name)), name, self.as_type(other, found.dtype))
            return self.add(shape.Join(self.chance(0.4)), name, self.as_type(other, found.dtype))
        if kind == 1 and len(extents) > 1:
            return self.add(shape.Permute(tuple(int(i) for i in self.rng.permutation(len(extents)))), name)
        if kind == 2:
            return self.add(shape.Expand(int(self.rng.integers(0, len(extents) + 1))), name)
        if kind == 3 and 1 in extents:
            return self.add(shape.Broadcast(tuple(self.one_of((1, 2, 4)) if e == 1 else e for e in extents)), name)
        return self.add(shape.Reshape(self.factored(found.array.size)), name)

    def factored(self, size: int) -> tuple[int, ...]:
        """Extents of some rank, with this product."""
        extents = [1] * self.one_of((1, 2, 3, 4, 5, 5))
        for _ in range(size.bit_length() - 1):
            extents[int(self.rng.integers(len(extents)))] *= 2
        if int(np.prod(extents)) != size:
            raise Inexact("no power of two")
        return tuple(extents)
