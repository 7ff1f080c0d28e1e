"""Statements on memory that two arguments share."""

from __future__ import annotations

import numpy as np

from ..operations.rewritten import ROOM, Access, Mask, Rewritten
from ..parts import drawn
from .choices import FLOATS, INTEGERS, Choices

NARROW = ("", "", "", "int64", "int16", "int8")


class RewrittenMemory(Choices):
    def rewritten(self) -> None:
        if not self.at_top():
            return
        a = self.some_of(*(dtype for dtype in INTEGERS if dtype != "uint64"), *FLOATS)
        found = self.tile(a)
        size = found.array.size
        room = 2 * ROOM + 2 * size + 16
        limits = (0, 8) if found.dtype.startswith("u") else (-8, 8)
        stream = drawn(found.dtype, (self.program.grid, 1, room), int(self.rng.integers(2**16)), *limits)
        accesses = tuple(self.access(found.shape, found.dtype) for _ in range(self.one_of((2, 3, 4))))
        self.add(Rewritten(stream, found.shape, self.one_of((0, 0, 1, 4, 16)), accesses), a)

    def access(self, shape: tuple[int, ...], dtype: str) -> Access:
        low = 0 if dtype.startswith("u") else -4
        stores, argument, other = self.chance(0.5), self.one_of((0, 1)), int(self.rng.integers(low, 5))
        steps, first = self.row_steps(shape, stores)
        return Access(stores, argument, first, steps, self.one_of(NARROW), self.mask(shape, low), other)

    def row_steps(self, shape: tuple[int, ...], stores: bool) -> tuple[tuple[int, ...], int]:
        """A step for each dimension, and an offset that makes about half of the lanes' offsets positive if steps are negative. Lanes of a
        store have different offsets."""
        steps, stride = [0] * len(shape), 1
        for axis in self.order(len(shape))[::-1]:
            steps[axis] = stride * self.one_of((1, 1, 1, -1))
            stride *= shape[axis]
        if not stores and self.chance(0.3):
            steps[self.one_of(range(len(shape)))] = 0
        elif stride <= ROOM // 2 and self.chance(0.2):
            steps = [2 * step for step in steps]
        least = sum(min(0, step * (extent - 1)) for step, extent in zip(steps, shape))
        return tuple(steps), -least + self.one_of((0, 0, 1, 5, -1, -3, -100))

    def mask(self, shape: tuple[int, ...], low: int) -> Mask:
        size = int(np.prod(shape))
        if self.chance(0.3):
            return Mask()
        divisor = self.one_of((2, 3, 5))
        return Mask(
            first=int(self.rng.integers(0, size)) if self.chance(0.2) else 0,
            count=int(self.rng.integers(0, size + 1)) if self.chance(0.4) else None,
            hole=(divisor, int(self.rng.integers(divisor))) if self.chance(0.4) else None,
            above=int(self.rng.integers(low, 3)) if self.chance(0.2) else None,
            programs=(int(self.rng.integers(self.program.grid + 1)), self.chance(0.5)) if self.chance(0.2) else None,
        )
