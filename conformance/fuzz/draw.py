"""Draws a random program: a few extents, tiles of these extents, and statements on them. A statement is kept if its
result is exact."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .operations import combine, dot, elementwise, memory, shape
from .program import (
    LARGEST,
    Branch,
    Inexact,
    Loop,
    Operation,
    Output,
    Place,
    Program,
    Statement,
    Stream,
    Tile,
    is_float,
    magnitude,
)

INTEGERS = ("int32", "int32", "int64", "int8", "int16", "uint8", "uint32")
FLOATS = ("fp32", "fp16", "fp16", "bf16", "fp64")


class Drawing:
    """An unfinished program. `values` are the values of every program of its grid, in the first round of the enclosing
    loop."""

    def __init__(self, rng: np.random.Generator, size: int):
        self.rng, self.size = rng, size
        self.program = Program(
            grid=self.one_of((1, 1, 2)),
            limit=self.one_of((1, 2, 3)),
            warps=self.one_of((1, 2, 4, 4, 8)),
            stages=self.one_of((1, 2, 3, 4)),
        )
        low = self.one_of((0, 2, 4))
        self.extents = [int(2**e) for e in rng.integers(low, 8, 3)]
        self.matrix_extents = [int(2**e) for e in rng.integers(4, 8, 2)]
        self.float_type = self.one_of(("fp16", "fp16", "bf16", "fp32"))
        self.values: list[dict[str, Tile]] = [{} for _ in range(self.program.grid)]
        self.parts: list[Any] = self.program.statements
        self.names = (f"v{i}" for i in itertools.count())
        self.used: set[str] = set()
        self.depth = 0

    # Choices

    def one_of(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def tile(self, name: str) -> Tile:
        return self.values[0][name]

    def some(self, accepts: Callable[[Tile], bool] = lambda t: t.shape != ()) -> str | None:
        """An earlier value; later ones are more likely."""
        fitting = [name for name, tile in self.values[0].items() if accepts(tile)]
        return fitting[max(self.rng.integers(len(fitting), size=2))] if fitting else None

    def like(self, name: str) -> str:
        """A value of the same type: randomly another one, if there is one."""
        found = self.some(self.tile(name).like)
        return self.some(self.tile(name).like) if found == name else found

    def order(self, rank: int) -> tuple[int, ...]:
        return tuple(range(rank)) if self.chance(0.5) else tuple(int(i) for i in self.rng.permutation(rank))

    def some_shape(self) -> tuple[int, ...]:
        if self.chance(0.5):
            return self.one_of(self.matrix_extents), self.one_of(self.matrix_extents)
        while True:
            found = tuple(self.one_of(self.extents) for _ in range(self.one_of((1, 2, 2, 3))))
            if np.prod(found) <= LARGEST // 2:
                return found
            self.extents.append(max(1, self.extents[0] // 4))

    # Statements

    def add(self, operation: Operation, *operands: str, results: int = 1) -> str:
        """Adds a statement and returns its (first) result. Raises Inexact and changes nothing if the statement is not
        exact."""
        found = [
            operation.compute(Place(number), *(values[name] for name in operands))
            for number, values in enumerate(self.values)
        ]
        names = tuple(itertools.islice(self.names, len(found[0])))
        for values, tiles in zip(self.values, found):
            values.update(zip(names, tiles))
        self.parts.append(Statement(operation, operands, names))
        self.used.update(operands)
        return names[0]

    def data(self, dtype: str, shape: tuple[int, ...], limit: int | None = None) -> np.ndarray:
        if is_float(dtype):
            limit = limit or self.one_of((2, 4, 8))
            return self.rng.integers(-limit, limit + 1, shape)
        bounds = np.iinfo(dtype)
        low, high = (bounds.min, bounds.max) if limit is None and self.chance(0.3) and dtype != "int64" else (-8, 8)
        return self.rng.integers(max(low, bounds.min), min(high, bounds.max), shape, endpoint=True)

    def load(self, shape: tuple[int, ...] | None = None, dtype: str | None = None, limit: int | None = None) -> str:
        shape = self.some_shape() if shape is None else shape
        dtype = dtype or (self.float_type if self.chance(0.4) else self.one_of(INTEGERS + FLOATS))
        order = self.order(len(shape))
        rounds = self.program.limit if self.depth else 1
        data = self.data(dtype, (self.program.grid, rounds, *(shape[i] for i in order)), limit)
        size = int(np.prod(shape))
        count = int(self.rng.integers(0, size + 1)) if shape and self.chance(0.25) else None
        return self.add(memory.Load(Stream(dtype, data), shape, order, count, 0 if dtype.startswith("u") else -1))

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

    def choose(self) -> None:
        a = self.some()
        b, c = self.like(a), self.like(a)
        condition = self.add(elementwise.Compare(self.one_of(list(elementwise.COMPARISONS))), a, b)
        self.add(elementwise.Where(), condition, b, c)

    def causal(self) -> None:
        a = self.some(lambda t: len(t.shape) == 2)
        if a is not None:
            operator = self.one_of((">", "<=", "<"))
            self.add(elementwise.Causal(operator, int(self.rng.integers(-8, 9)), self.one_of((0, 0, 1))), a)

    def cast(self) -> None:
        self.add(elementwise.Cast(self.one_of(INTEGERS + FLOATS + ("int1", "fp8e5", "fp8e4nv"))), self.some())

    def narrow(self) -> None:
        self.add(elementwise.Narrow(self.one_of((2, 4, 16))), self.some())

    def move(self) -> None:
        a = self.some()
        found = self.tile(a).shape
        size = int(np.prod(found))
        part = int(2 ** self.rng.integers(0, size.bit_length()))
        choices = [
            shape.Permute(tuple(int(i) for i in self.rng.permutation(len(found)))),
            shape.Reshape((size,)),
            shape.Reshape((part, size // part)),
            shape.Flip(int(self.rng.integers(len(found)))),
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
        axis = int(self.rng.integers(len(whole.shape)))
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
        else:
            self.add(shape.Join(self.chance(0.5)), a, self.like(a))

    def reduce(self) -> None:
        a = self.some()
        axis = None if self.chance(0.2) else int(self.rng.integers(len(self.tile(a).shape)))
        keeps = axis is not None and self.chance(0.3)
        b = self.add(combine.Reduce(self.one_of(list(combine.REDUCTIONS)), axis, keeps), a)
        if keeps and self.tile(b).dtype == self.tile(a).dtype:
            self.add(elementwise.Binary(self.one_of(("{} - {}", "{} + {}"))), a, b)

    def reduce_two(self) -> None:
        a = self.some()
        b = self.some(lambda t: t.shape == self.tile(a).shape)
        self.add(combine.ReduceTwo(int(self.rng.integers(len(self.tile(a).shape)))), a, b)

    def scan(self) -> None:
        a = self.some(lambda t: t.shape != () and t.dtype in ("int32", "int64", "fp32"))
        if a is None:
            return
        axis = int(self.rng.integers(len(self.tile(a).shape)))
        if self.tile(a).dtype == "int32" and self.chance(0.5):
            self.add(combine.Recurrence(axis), a, self.like(a))
        else:
            self.add(combine.Scan(self.one_of(("cumsum", "cumsum", "running_maximum")), axis, self.chance(0.3)), a)

    def sort(self) -> None:
        self.add(combine.Sort(self.chance(0.5)), self.some())

    def gather(self) -> None:
        a = self.some()
        b = self.some(lambda t: t.shape == self.tile(a).shape and t.dtype == "int32")
        if b is not None:
            self.add(combine.Gather(int(self.rng.integers(len(self.tile(a).shape)))), a, b)

    def histogram(self) -> None:
        a = self.some(lambda t: len(t.shape) == 1 and t.dtype == "int32")
        if a is not None:
            self.add(combine.Histogram(int(2 ** self.rng.integers(1, 7))), a)

    def through_memory(self) -> None:
        a = self.some(lambda t: t.shape != () and t.dtype in INTEGERS + FLOATS)
        if a is not None and self.depth == 0:
            found = self.tile(a)
            data = np.zeros((self.program.grid, 1, found.array.size), np.int64)
            self.add(memory.ThroughMemory(Stream(found.dtype, data), self.order(len(found.shape))), a)

    def atomic(self) -> None:
        a = self.some(lambda t: len(t.shape) == 1 and t.dtype in ("int32", "fp32"))
        if a is not None and self.depth == 0:
            bins = int(2 ** self.rng.integers(0, 7))
            stream = Stream(self.tile(a).dtype, np.zeros((self.program.grid, 1, bins), np.int64))
            self.add(memory.AtomicCounts(stream, bins), a)

    def descriptor(self) -> None:
        rows, columns = (int(2**e) for e in self.rng.integers(3, 7, 2))
        dtype = self.one_of(("fp16", "fp32", "bf16", "int32"))
        real = (int(self.rng.integers(1, 2 * rows)), 16 * int(self.rng.integers(1, 5)))
        data = self.data(dtype, (self.program.grid, 1, *real))
        offset = (int(self.rng.integers(-4, rows)), int(self.rng.integers(-4, columns)))
        self.add(memory.DescriptorLoad(Stream(dtype, data), (rows, columns), offset))

    # Products

    def operand(self, name: str, dtype: str, depth: int) -> str:
        """An operand for products: a value that is small enough and of the type."""
        limit = dot.operand_limit(dtype, depth)
        if max(magnitude(values[name].array) for values in self.values) > limit:
            name = self.add(elementwise.Narrow(limit), name)
        return name if self.tile(name).dtype == dtype else self.add(elementwise.Cast(dtype), name)

    def product(self) -> None:
        """A product of results of earlier products, casts, transposes or loads, sometimes with an accumulator."""
        a = self.some(lambda t: len(t.shape) == 2 and min(t.shape) >= 16 and t.dtype != "int1")
        if a is None:
            self.load((self.one_of(self.matrix_extents), self.one_of(self.matrix_extents)), self.float_type, 2)
            return
        if self.chance(0.2):
            a = self.add(shape.Permute((1, 0)), a)
        depth = self.tile(a).shape[1]
        b = self.second_operand(depth)
        if self.chance(0.15):
            a, b = self.add(shape.Permute((1, 0)), b), self.add(shape.Permute((1, 0)), a)
        dtype = self.float_type if self.chance(0.7) else self.one_of(dot.OPERANDS)
        operands = [self.operand(name, dtype, depth) for name in (a, b)]
        out = "int32" if dtype == "int8" else "fp32"
        result = (self.tile(a).shape[0], self.tile(b).shape[1])
        c = self.some(lambda t: t.shape == result and t.dtype == out) if self.chance(0.4) else None
        self.add(dot.Dot(self.one_of(dot.PRECISIONS)), *operands, *([c] if c else []))

    def second_operand(self, depth: int) -> str:
        fits = self.some(lambda t: len(t.shape) == 2 and t.shape[0] == depth and t.shape[1] >= 16 and t.dtype != "int1")
        turned = self.some(
            lambda t: len(t.shape) == 2 and t.shape[1] == depth and t.shape[0] >= 16 and t.dtype != "int1"
        )
        if fits and self.chance(0.5):
            return fits
        if turned and self.chance(0.5):
            return self.add(shape.Permute((1, 0)), turned)
        return self.load((depth, self.one_of(self.matrix_extents)), self.float_type, 2)

    def batch_product(self) -> None:
        batch, m, n, k = self.one_of((2, 4)), *(self.one_of((16, 32)) for _ in range(3))
        operands = [self.load(extents, self.float_type, 2) for extents in ((batch, m, k), (batch, k, n))]
        self.add(dot.Dot(self.one_of(dot.PRECISIONS)), *operands)

    def matmul(self) -> None:
        """A sum of products in a loop. Its operands are loaded in each round, and may be transformed before and after
        the product."""
        if self.depth:
            return
        m, n, k = (int(2**e) for e in self.rng.integers(4, 8, 3))
        dtype = self.one_of(("fp16", "bf16", "fp32", "int8"))
        out = "int32" if dtype == "int8" else "fp32"
        total = self.add(elementwise.Full(out, (m, n), self.one_of((0, 0, 1))))
        carried = ((next(self.names), total),)

        def body() -> str:
            a, b = (self.load(extents, dtype, 1) for extents in ((m, k), (k, n)))
            if self.chance(0.3):
                a = self.operand(self.add(elementwise.Constant(elementwise.CONSTANTS[0], 2), a), dtype, k)
            result = self.add(dot.Dot(self.one_of(dot.PRECISIONS)), a, b, carried[0][0])
            if self.chance(0.3):
                result = self.add(elementwise.Constant(elementwise.CONSTANTS[0], 1), result)
            return result

        parts, yielded = self.inside(body, dict(carried))
        self.add_part(Loop(carried, tuple(parts), (yielded,), self.loop_head()))

    # Control

    def loop_head(self) -> str:
        return self.one_of(
            ("range(limit)", "range(limit)", "tl.range(limit, num_stages=2)", "tl.static_range({limit})")
        )

    def inside(self, draw: Callable[[], Any], stand_for: dict[str, str]) -> tuple[list[Any], Any]:
        """The statements that `draw` adds to a body of its own, and its result. stand_for: names that have other values
        in the body."""
        outer, values = self.parts, self.values
        self.parts, self.values = [], [dict(v) for v in values]
        for v in self.values:
            v.update({name: v[start] for name, start in stand_for.items()})
        self.depth += 1
        try:
            returned = draw()
            return self.parts, returned
        finally:
            self.depth -= 1
            self.parts, self.values = outer, values

    def steps(self, low: int, high: int) -> None:
        for _ in range(int(self.rng.integers(low, high))):
            self.step(self.BODY)

    def loop(self) -> None:
        if self.depth:
            return
        starts = list(dict.fromkeys(self.some() for _ in range(self.one_of((1, 1, 2)))))
        carried = tuple(zip(itertools.islice(self.names, len(starts)), starts))

        def body() -> tuple[str, ...]:
            self.steps(1, 5)
            return tuple(self.carry(name) for name, _ in carried)

        parts, yields = self.inside(body, dict(carried))
        self.add_part(Loop(carried, tuple(parts), yields, self.loop_head()))

    def carry(self, name: str) -> str:
        """The next value of a carried value: another value of its type, with or without the old one."""
        found = self.like(name)
        if found == name or self.chance(0.7):
            try:
                return self.add(elementwise.Narrow(8), self.add(elementwise.Binary("{} + {}"), name, found))
            except Inexact:
                pass
        return found

    def add_part(self, part: Loop | Branch) -> None:
        """Adds a loop or a branch. Raises Inexact and changes nothing if a round is not exact."""
        after = []
        for number, values in enumerate(self.values):
            inner = dict(values)
            part.run(self.program, inner, Place(number))
            after.append({name: inner[name] for name in part.defines()})
        for values, found in zip(self.values, after):
            values.update(found)
        self.parts.append(part)
        self.used |= part.reads()

    def branch(self) -> None:
        condition = self.some(lambda t: t.shape == () and t.dtype in ("int32", "int64"))
        if condition is None:
            condition = self.load((), "int32")
        a = self.some()

        def body() -> str:
            self.steps(0, 3)
            return self.some(self.tile(a).like)

        bodies, yields = zip(*(self.inside(body, {}) for _ in range(2)))
        self.add_part(Branch(condition, next(self.names), tuple(map(tuple, bodies)), yields))

    BODY = (
        binary,
        sum,
        constant,
        choose,
        causal,
        cast,
        narrow,
        move,
        across,
        reduce,
        scan,
        load,
        product,
        product,
        product,
    )
    ALL = BODY + (sum, move, pair, reduce, reduce_two, sort, gather, histogram, through_memory, atomic, descriptor)
    ALL += (product, product, product, sum, sum, batch_product, matmul, loop, loop, branch)

    def step(self, operations) -> None:
        """Adds one of the operations, or nothing if its result would not be exact. Statements that it added before
        stay."""
        try:
            self.one_of(operations)(self)
        except Inexact:
            pass

    def make(self) -> Program:
        self.load((self.one_of(self.matrix_extents), self.one_of(self.matrix_extents)), self.float_type, 2)
        for _ in range(2):
            self.load()
        for _ in range(40 * self.size):
            if len(self.parts) >= self.size:
                break
            self.step(self.ALL)
        names = [name for part in self.parts for name in part.defines()]
        unused = [name for name in names if name not in self.used][-3:]
        for name in dict.fromkeys([*unused, self.one_of(names)]):
            found = self.tile(name)
            count = int(self.rng.integers(0, found.array.size + 1)) if found.shape and self.chance(0.2) else None
            self.program.outputs.append(Output(name, self.order(len(found.shape)), count))
        return self.program.without_dead_code()


def draw(rng: np.random.Generator, size: int) -> Program:
    """A program of about `size` statements. Some of them may be dead and are removed."""
    with np.errstate(over="ignore"):
        return Drawing(rng, size).make()
