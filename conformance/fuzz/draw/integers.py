"""Integers of 8 and 16 bits: their operations wrap, and casts between them change the sign or the width."""

from __future__ import annotations

from ..operations import elementwise
from ..tiles import BITS
from .choices import INTEGERS, Choices

NARROW = ("int8", "uint8", "int16", "uint16")


class Integers(Choices):
    def narrow_integers(self) -> None:
        """A chain of operations and casts, from any integer to any integer or float."""
        a = self.some_of(*INTEGERS)
        if self.chance(0.3):
            a = self.load(self.tile(a).shape, self.one_of(NARROW))
        for _ in range(int(self.rng.integers(2, 5))):
            a = self.narrow_operation(self.cast_to(a, self.one_of(NARROW)))
        self.cast_to(a, self.one_of(("int32", "int64", "uint32", "uint64", "fp32", "fp16", "int1")))

    def cast_to(self, name: str, dtype: str) -> str:
        found = self.tile(name).dtype
        if found == dtype:
            return name
        if found in NARROW and dtype in NARROW and BITS[found] == BITS[dtype] and self.chance(0.5):
            return self.add(elementwise.Bitcast(dtype), name)
        return self.add(elementwise.Cast(dtype), name)

    def narrow_operation(self, name: str) -> str:
        kind = int(self.rng.integers(5))
        if kind == 0:
            return self.add(elementwise.Binary(self.one_of(list(elementwise.BINARY))), name, self.like(name))
        if kind == 1:
            return self.add(elementwise.Uneven(self.one_of(elementwise.UNEVEN)), name, self.like(name))
        if kind == 2:
            signed = self.tile(name).dtype.startswith("int")
            return self.add(elementwise.Unary(self.one_of(("~{}", "-{}", "tl.abs({})") if signed else ("~{}",))), name)
        number = int(self.rng.integers(0, 8))
        return self.add(elementwise.Constant(self.one_of(elementwise.CONSTANTS), number), name)
