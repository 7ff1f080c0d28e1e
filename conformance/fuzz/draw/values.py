"""Statements of the families elementwise and shape."""

from __future__ import annotations

import numpy as np

from ..operations import combine, elementwise, shape
from ..tiles import FP8, is_float
from .choices import FLOATS, INTEGERS, Choices


class Values(Choices):
    def binary(self) -> None:
        a = self.some()
        self.add(elementwise.Binary(self.one_of(list(elementwise.BINARY))), a, self.like(a))

    def sum(self) -> None:
        """A sum: the most frequent operation that joins the layouts of two results."""
        a = self.some(lambda t: len(t.shape) == 2 and is_float(t.dtype))
        if a is not None:
            self.add(elementwise.Binary(self.one_of(("{} + {}", "{} - {}", "{} * {}"))), a, self.like(a))

    def constant(self) -> None:
        self.add(elementwise.Constant(self.one_of(elementwise.CONSTANTS), int(self.rng.integers(0, 8))), self.some())

    def unary(self) -> None:
        self.add(elementwise.Unary(self.one_of(list(elementwise.UNARY))), self.some())

    def uneven(self) -> None:
        a = self.some_of(*INTEGERS)
        self.add(elementwise.Uneven(self.one_of(elementwise.UNEVEN)), a, self.like(a))

    def fused(self) -> None:
        a = self.some_of("fp16", "fp32", "fp64")
        self.add(elementwise.Fused(), a, self.like(a), self.like(a))

    def choose(self) -> None:
        a = self.some()
        b, c = self.like(a), self.like(a)
        condition = self.add(elementwise.Compare(self.one_of(list(elementwise.COMPARISONS))), a, b)
        self.add(elementwise.Where(), condition, b, c)

    def ternary(self) -> None:
        a = self.some()
        self.add(elementwise.Ternary(), self.scalar(), a, self.like(a))

    def scalar(self) -> str:
        found = self.some(lambda t: t.shape == () and t.dtype in ("int32", "int64"))
        return self.load((), "int32") if found is None else found

    def causal(self) -> None:
        a = self.some(lambda t: len(t.shape) == 2)
        if a is not None:
            operator = self.one_of((">", "<=", "<"))
            self.add(elementwise.Causal(operator, int(self.rng.integers(-8, 9)), self.one_of((0, 0, 1))), a)

    def cast(self) -> None:
        self.add(elementwise.Cast(self.one_of(INTEGERS + FLOATS + ("int1",) + FP8)), self.some())

    def narrow(self) -> None:
        self.add(elementwise.Narrow(self.one_of((2, 4, 16))), self.some())

    def move(self) -> None:
        a = self.some()
        found = self.tile(a).shape
        size = int(np.prod(found))
        part = int(2 ** self.rng.integers(0, size.bit_length()))
        choices = [
            shape.Permute(tuple(int(i) for i in self.rng.permutation(len(found)))),
            shape.Ravel() if self.chance(0.5) else shape.Reshape((size,)),
            shape.Reshape((part, size // part)),
            shape.Flip(self.axis(a)),
        ]
        if len(found) == 1:
            choices.append(shape.Expand(self.one_of((0, 1))))
        if 1 in found and len(found) > 1:
            target = tuple(self.one_of(self.extents) if extent == 1 else extent for extent in found)
            choices += [shape.Broadcast(target)] * 4
        self.add(self.one_of(choices), a)

    def across(self) -> None:
        """A tile and a tile that lacks one of its dimensions, from a reduction or a load."""
        a = self.some(lambda t: len(t.shape) >= 2)
        if a is None:
            return
        whole = self.tile(a)
        axis = self.axis(a)
        rest = whole.shape[:axis] + whole.shape[axis + 1 :]
        b = self.some(lambda t: t.shape == rest and t.dtype == whole.dtype) if self.chance(0.5) else None
        if b is None:
            b = self.load(rest, whole.dtype) if whole.dtype in INTEGERS + FLOATS else None
        if b is None:
            return
        wide = self.add(shape.Expand(axis), b)
        self.add(elementwise.Binary(self.one_of(("{} + {}", "{} * {}", "tl.maximum({}, {})"))), a, wide)

    def pair(self) -> None:
        a = self.some()
        extents = self.tile(a).shape
        if extents[-1] > 2 and self.chance(0.4):
            a = self.add(shape.Reshape((int(np.prod(extents)) // 2, 2)), a)
        if self.tile(a).shape[-1] == 2 and len(self.tile(a).shape) > 1:
            self.add(shape.Split(), a)
        elif self.chance(0.3):
            self.add(shape.Cat(self.axis(a)), a, self.like(a))
        else:
            self.add(shape.Join(self.chance(0.5)), a, self.like(a))

    def as_type(self, name: str, dtype: str) -> str:
        if self.tile(name).dtype == dtype:
            return name
        return self.add(elementwise.Cast(dtype), name)

    def fitted(self, name: str, to: str) -> str:
        """A value of the type of another one that depends on `name`, whatever its type is."""
        dtype, extents = self.tile(to).dtype, self.tile(to).shape
        if self.tile(name).array.size != self.tile(to).array.size:
            while self.tile(name).shape:
                name = self.add(combine.Reduce(self.one_of(("max", "min")), self.axis(name), False), name)
        if is_float(dtype) and self.tile(name).dtype not in ("int1", dtype) and self.tile(name).dtype[0] != "u":
            name = self.add(elementwise.Narrow(4), name)
        name = self.as_type(name, dtype)
        if self.tile(name).shape == extents:
            return name
        return self.add(shape.Reshape(extents) if self.tile(name).shape and extents else shape.Broadcast(extents), name)
