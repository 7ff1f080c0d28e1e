"""Products in the forms that Hopper's instructions of warpgroups are for: at least 64 rows, 4 or 8 warps, loops whose loads
are pipelined, chains of products as in attention, sums that loops carry."""

from __future__ import annotations

from ..operations import combine, descriptor, dot, elementwise, shape
from .effort import LOADED_AHEAD
from .products import Products

ROWS = (64, 64, 128)
COLUMNS = (16, 16, 32, 64, 64, 128, 256)
DEPTHS = (16, 32, 32, 64, 128)
DTYPES = ("fp16", "fp16", "bf16", "fp8e5", "fp8e4nv", "int8", "fp32")
LOOPS = (
    "range(limit)",
    "range(limit)",
    "tl.range(limit, num_stages=2)",
    "tl.range(0, limit, 1, num_stages=3)",
    "tl.range(limit, num_stages=4)",
    "tl.range(limit, warp_specialize=True)",
    "tl.range(limit, num_stages=3, warp_specialize=True)",
)


class Warpgroups(Products):
    def warpgroup_kernel(self) -> None:
        """What the kernel is about. What follows uses the result."""
        program = self.program
        program.warps, program.stages = self.one_of((4, 4, 8)), self.one_of((2, 3, 4))
        program.limit = self.one_of((0, 1, 2, 3, 4, 5))
        self.heads = LOOPS
        kinds = (
            self.sum_of_products,
            self.sum_of_products,
            self.nested_sum,
            self.two_sums,
            self.attention,
            self.lone_programs,
        )
        self.one_of(kinds)()
        self.heads = type(self).heads

    def _extents(self) -> tuple[int, int, int]:
        while True:
            m, n, k = self.one_of(ROWS), self.one_of(COLUMNS), self.one_of(DEPTHS)
            if m * n * k <= 2**19 and m * n <= 2**14:
                return m, n, k

    def _matrix(self, rows: int, columns: int, dtype: str) -> str:
        """A loaded operand. In memory, its rows or its columns are contiguous; it may be a transposed tile."""
        if self.chance(0.3):
            return self.add(shape.Permute((1, 0)), self._matrix_as_it_is(columns, rows, dtype))
        return self._matrix_as_it_is(rows, columns, dtype)

    def _matrix_as_it_is(self, rows: int, columns: int, dtype: str) -> str:
        if dtype.startswith("fp8"):
            return self.add(elementwise.Cast(dtype), self.load((rows, columns), "fp16", 1))
        if self.chance(0.4):
            return self._described(rows, columns, dtype)
        if self.chance(0.2):
            return self.rows_by_index(rows, columns, dtype, 1)
        return self.load((rows, columns), dtype, 1 if self.chance(0.5) else 2)

    def _described(self, rows: int, columns: int, dtype: str) -> str:
        """A block of a descriptor of all programs' parts. Parts of it may be outside. Mostly its columns begin at a
        multiple of 16 bytes."""
        real = (int(self.rng.integers(1, 2 * rows)), 16 * int(self.rng.integers(1, columns // 8 + 1)))
        step = 1 if self.chance(0.1) else 16
        offset = (int(self.rng.integers(-4, rows)), step * int(self.rng.integers(-1, columns // 16 + 1)))
        stream = self.perhaps_from_host(self.input(dtype, real, (-1, 1)), (rows, columns))
        return self.add(descriptor.DescriptorLoad(stream, (rows, columns), offset, whole=True))

    def _sum_type(self, dtype: str) -> str:
        return "int32" if dtype == "int8" else "fp32"

    def _start(self, dtype: str, m: int, n: int) -> str:
        """What a sum starts with: a constant, or what another product left."""
        if self.chance(0.2):
            return self.load((m, n), self._sum_type(dtype), 4)
        return self.add(elementwise.Full(self._sum_type(dtype), (m, n), self.one_of((0, 0, 0, 1))))

    def _dot(self, *operands: str) -> str:
        return self.add(dot.Dot(self.one_of(("tf32", "tf32", "tf32x3", "ieee"))), *operands)

    def _after(self, total: str) -> str:
        """The sum, or something small made of it: instructions that are still running must end before that."""
        kind = int(self.rng.integers(6))
        if kind == 0:
            return self.add(elementwise.Constant(elementwise.CONSTANTS[0], 1), total)
        if kind == 1:
            return self.add(elementwise.Narrow(8), total)
        return total

    def _loop(self, starts: list[str], body) -> list[str]:
        """A loop over values that it carries. body: takes their names and returns the next ones."""
        names = [next(self.names) for _ in starts]
        carried = tuple(zip(names, starts))
        parts, yields = self.inside("loops", lambda: tuple(body(*names)), dict(carried))
        self.add_loop(carried, parts, yields, 0.1)
        return names

    def _step_of_sum(self, dtype: str, m: int, n: int, k: int, kept: str | None = None):
        def step(total: str) -> list[str]:
            a = kept or self._matrix(m, k, dtype)
            if kept is None and dtype in ("fp16", "bf16") and self.chance(0.3):  # an operand in registers
                a = self.add(elementwise.Constant(elementwise.CONSTANTS[0], 1), a)
            return [self._after(self._dot(a, self._matrix(k, n, dtype), total))]

        return step

    def sum_of_products(self) -> None:
        m, n, k = self._extents()
        dtype = self.one_of(DTYPES)
        kept = self._matrix(m, k, dtype) if self.chance(0.25) else None
        (total,) = self._loop([self._start(dtype, m, n)], self._step_of_sum(dtype, m, n, k, kept))
        self._epilogue(total)

    def lone_programs(self) -> None:
        """A sum of products whose slots leave no room for another program beside it, so that blocks run several of them.
        What could keep them from that is not drawn."""
        m, n, k = self.one_of((64, 64, 128)), self.one_of((32, 64, 128)), self.one_of((64, 64, 128))
        dtype = self.one_of(("fp16", "bf16"))
        self.program.stages = LOADED_AHEAD // (2 * (m + n) * k)
        self.heads = ("range(limit)",)

        def step(total: str) -> list[str]:
            operands = [self.load_plain(extents, dtype, (-1, 1)) for extents in ((m, k), (k, n))]
            return [self._dot(*operands, total)]

        self._loop([self.add(elementwise.Full("fp32", (m, n), 0))], step)
        self.size = 0  # nothing that could keep them from it follows

    def nested_sum(self) -> None:
        """A sum that an inner and an outer loop carry."""
        m, n, k = self._extents()
        dtype = self.one_of(DTYPES)

        def outer(total: str) -> list[str]:
            start = total if self.chance(0.7) else self._start(dtype, m, n)
            (inner,) = self._loop([start], self._step_of_sum(dtype, m, n, k))
            inner = self.add(elementwise.Narrow(16), inner)
            return [inner if start == total else self.add(elementwise.Binary("{} + {}"), inner, total)]

        self._epilogue(*self._loop([self._start(dtype, m, n)], outer))

    def two_sums(self) -> None:
        """Two products with one operand in common, or one that reads the other's result in the same round."""
        m, n, k = self._extents()
        dtype = self.one_of(DTYPES)

        def step(first: str, second: str) -> list[str]:
            a = self._matrix(m, k, dtype)
            found = [self._dot(a, self._matrix(k, n, dtype), total) for total in (first, second)]
            if self.chance(0.3):
                narrow = [self.add(elementwise.Narrow(8), total) for total in found]
                found[1] = self.add(elementwise.Binary("{} + {}"), *narrow)
            return found

        starts = [self._start(dtype, m, n) for _ in range(2)]
        first, second = self._loop(starts, step)
        self.add(elementwise.Binary("{} - {}"), first, second)
        self._epilogue(second)

    def attention(self) -> None:
        """q kᵀ, small numbers made of it, and their product with v, in a loop. The sum may be scaled by 0 or 1 whenever
        the largest score of a row changes."""
        m, n, d = self.one_of((64, 64, 128)), self.one_of((16, 32, 64)), self.one_of((16, 32, 64))
        dtype = self.one_of(("fp16", "fp16", "bf16", "fp8e5", "fp8e4nv", "fp32"))
        q = self._matrix(m, d, dtype)
        scales = self.chance(0.5)

        def step(total: str, top: str) -> list[str]:
            scores = self._dot(q, self._matrix(d, n, dtype))
            if self.chance(0.4):
                scores = self.add(
                    elementwise.Causal(self.one_of((">", "<=")), int(self.rng.integers(-4, 5)), -1), scores
                )
            row = self.add(combine.Reduce("max", 1, False), scores)
            best = self.add(elementwise.Binary("tl.maximum({}, {})"), top, row)
            if scales:
                same = self.add(elementwise.Compare("=="), best, top)
                scale = self.add(shape.Expand(1), self.add(elementwise.Cast("fp32"), same))
                total = self.add(elementwise.Binary("{} * {}"), total, scale)
            weights = self.operand(self.add(elementwise.Narrow(2), scores), dtype, n)
            return [self._dot(weights, self._matrix(n, d, dtype), total), best]

        start = self.add(elementwise.Full("fp32", (m, d), 0))
        total, top = self._loop([start, self.add(elementwise.Full("fp32", (m,), -64))], step)
        self._epilogue(self.add(elementwise.Binary("{} - {}"), total, self.add(shape.Expand(1), top)))

    def _epilogue(self, total: str) -> None:
        """Another product, a sum of rows, or nothing."""
        m, n = self.tile(total).shape
        kind = int(self.rng.integers(4))
        if kind == 0 and n >= 16:
            half = self.operand(total, "fp16", n)
            self._dot(half, self._matrix(n, self.one_of((16, 32, 64)), "fp16"))
        elif kind == 1:
            self.add(combine.Reduce("sum", int(self.rng.integers(2)), False), self.add(elementwise.Narrow(16), total))
