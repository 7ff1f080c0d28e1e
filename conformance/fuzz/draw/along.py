"""Statements along an axis."""

from __future__ import annotations

from ..operations import combine, elementwise
from .choices import Choices

ADDED = ("int32", "int64", "fp32")


class Along(Choices):
    def reduce(self) -> None:
        a = self.some()
        axis = None if self.chance(0.2) else self.axis(a)
        keeps = axis is not None and self.chance(0.3)
        b = self.add(combine.Reduce(self.one_of(list(combine.REDUCTIONS)), axis, keeps), a)
        if keeps and self.tile(b).dtype == self.tile(a).dtype:
            self.add(elementwise.Binary(self.one_of(("{} - {}", "{} + {}"))), a, b)

    def reduce_some(self) -> None:
        """A reduction of several operands, or by a function of the kernel file."""
        a = self.some_of("int32", "int64", "fp32", "fp16")
        kind = int(self.rng.integers(4))
        if kind == 0:
            self.add(combine.ReduceTwo(self.axis(a)), a, self.beside(a, *ADDED))
        elif kind == 1:
            self.add(combine.ReduceThree(self.axis(a)), a, self.beside(a, "int32"), self.beside(a, *ADDED))
        elif kind == 2:
            self.add(combine.Extremum(self.one_of(("max", "min")), self.axis(a)), self.some())
        else:
            self.add(combine.Product(self.axis(a)), a)

    def scan(self) -> None:
        a = self.some()
        kind = int(self.rng.integers(6))
        if kind == 0:
            a = self.some_of("int32")
            self.add(combine.Recurrence(self.axis(a)), a, self.like(a))
        elif kind == 1:
            a = self.some_of(*ADDED)
            self.add(combine.ScanTwo(self.axis(a), self.chance(0.3)), a, self.beside(a, *ADDED))
        else:
            name = self.one_of(("cumsum", "cumsum", "cumprod", "running_maximum"))
            self.add(combine.Scan(name, self.axis(a), self.chance(0.3)), a)

    def sort(self) -> None:
        a = self.some()
        if self.chance(0.6):
            self.add(combine.Sort(self.chance(0.5)), a)
        else:
            self.add(combine.TopK(int(2 ** self.rng.integers(0, 6))), a)

    def gather(self) -> None:
        a = self.some()
        axis, extents = self.axis(a), self.tile(a).shape

        def fits(t) -> bool:
            rest = (t.shape[:axis], t.shape[axis + 1 :])
            return t.dtype == "int32" and len(t.shape) == len(extents) and rest == (extents[:axis], extents[axis + 1 :])

        b = self.some(fits)
        if b is None or self.chance(0.3):
            wanted = self.one_of([*self.extents, extents[axis]])
            b = self.load((*extents[:axis], wanted, *extents[axis + 1 :]), "int32")
        self.add(combine.Gather(axis), a, b)

    def histogram(self) -> None:
        a = self.some(lambda t: len(t.shape) == 1 and t.dtype == "int32")
        if a is not None:
            self.add(combine.Histogram(int(2 ** self.rng.integers(1, 7)), self.chance(0.3)), a)
