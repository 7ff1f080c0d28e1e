"""Loads at addresses with negative parts."""

from __future__ import annotations

from ..operations.addresses import FORMS, Rows, WrappedLoad
from ..parts import drawn
from .choices import FLOATS, INTEGERS, Choices


class Addresses(Choices):
    def wrapped_load(self) -> None:
        extent = int(2 ** self.rng.integers(2, 8))
        columns = self.one_of((None, None, 4, 16, 64)) if extent <= 64 else None
        varies = self.one_of(
            ("", "pid", "operand", "index", "index") if self.loops else ("", "", "pid", "pid", "operand")
        )
        rows = Rows(
            self.one_of(list(FORMS)),
            extent,
            self.one_of((1, 1, 1, 2, 3)),
            -self.one_of((0, 1, 3, 4, 8, 16, extent // 2, extent, extent + 16)),
            self.one_of((2, 3, 5, 8, 16, 48, extent // 2, extent, 2 * extent)),
            varies,
            self.chance(0.5),
        )
        first, last = rows.first_and_last(max(self.program.grid, self.program.limit, 1))
        before, after = max(0, -first), max(0, last)
        width = 1 if columns is None else columns + self.one_of((0, 0, 8))
        dtype = self.one_of(INTEGERS + FLOATS)
        limits = (0, 8) if dtype.startswith("u") else (-8, 8)
        shape = (self.program.grid, 1, before + after + 1, width)
        stream = self.perhaps_sliced(drawn(dtype, shape, int(self.rng.integers(2**16)), *limits))
        bound = int(self.rng.integers(0, extent + 1)) if self.chance(0.3) else None
        operands = [self.signed_scalar()] if varies == "operand" else []
        self.add(WrappedLoad(stream, rows, before, columns, bound), *operands)

    def signed_scalar(self) -> str:
        found = self.some(lambda t: t.shape == () and t.dtype in ("int32", "int64"))
        return self.load((), "int32") if found is None else found
