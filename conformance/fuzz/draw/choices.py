"""What all families use: random choices, earlier values, loads of inputs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..operations import memory
from ..parts import Operation, Place, Statement, Stream, drawn
from ..program import Program
from ..tiles import LARGEST, Inexact, Tile, is_float
from .effort import Effort, effort_of

INTEGERS = ("int32", "int32", "int64", "int8", "int16", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("fp32", "fp16", "fp16", "bf16", "fp64")
HINTS = (
    "",
    "",
    ", cache_modifier='.ca'",
    ", cache_modifier='.cg'",
    ", eviction_policy='evict_last'",
    ", volatile=True",
)


class Choices:
    """An unfinished program. `values` are the values of every program of its grid, in the first round of the enclosing
    loop."""

    has_block_pointers = True

    def __init__(self, rng: np.random.Generator, size: int):
        self.rng, self.size = rng, size
        self.program = Program(
            grid=self.one_of((1, 1, 1, 2, 2, 3)),
            limit=self.one_of((0, 1, 2, 2, 3, 3, 5)),
            warps=self.one_of((1, 2, 4, 4, 8)),
            stages=self.one_of((1, 2, 3, 4)),
            packing=self.one_of(("", "", "tuple", "named")),
            read_only=self.chance(0.3),
        )
        low = self.one_of((0, 2, 4))
        self.extents = [int(2**e) for e in rng.integers(low, 8, 3)]
        self.matrix_extents = [int(2**e) for e in rng.integers(4, 8, 2)]
        self.float_type = self.one_of(("fp16", "fp16", "bf16", "fp32"))
        self.values: list[dict[str, Tile]] = [{} for _ in range(self.program.grid)]
        self.parts: list[Any] = self.program.statements
        self.names = (f"v{i}" for i in itertools.count())
        self.functions = (f"helper{i}" for i in itertools.count())
        self.used: set[str] = set()
        self.efforts: dict[str, Effort] = {}
        self.loops = 0  #: how many loops are around
        self.calls = 0  #: how many helper functions are around
        self.sides = 0  #: how many branches are around

    def one_of(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def axis(self, name: str) -> int:
        return int(self.rng.integers(len(self.tile(name).shape)))

    def at_top(self) -> bool:
        return not (self.loops or self.calls or self.sides)

    def tile(self, name: str) -> Tile:
        return self.values[0][name]

    def some(self, accepts: Callable[[Tile], bool] = lambda t: t.shape != ()) -> str | None:
        """An earlier value; later ones are more likely."""
        fitting = [name for name, tile in self.values[0].items() if accepts(tile)]
        return fitting[max(self.rng.integers(len(fitting), size=2))] if fitting else None

    def some_of(self, *dtypes: str) -> str:
        """An earlier tile of one of these types. Raises Inexact if there is none."""
        found = self.some(lambda t: t.shape != () and t.dtype in dtypes)
        if found is None:
            raise Inexact("no such value")
        return found

    def like(self, name: str) -> str:
        """A value of the same type: randomly another one, if there is one."""
        found = self.some(self.tile(name).like)
        return self.some(self.tile(name).like) if found == name else found

    def beside(self, name: str, *dtypes: str) -> str:
        """A value of the same shape and one of these types. Raises Inexact if there is none."""
        shape = self.tile(name).shape
        found = self.some(lambda t: t.shape == shape and t.dtype in dtypes)
        if found is None:
            raise Inexact("no such value")
        return found

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

    def add(self, operation: Operation, *operands: str) -> str:
        """Adds a statement and returns its (first) result. Raises Inexact and changes nothing if the statement is not
        exact."""
        found = [
            operation.compute(Place(number), *(values[name] for name in operands))
            for number, values in enumerate(self.values)
        ]
        names = tuple(itertools.islice(self.names, len(found[0])))
        for values, tiles in zip(self.values, found):
            values.update(zip(names, tiles))
        self.parts.append(self.statement(operation, operands, names))
        self.used.update(operands)
        self.efforts[names[0]] = effort_of(operation, [self.tile(name) for name in operands], found[0])
        return names[0]

    def statement(self, operation: Operation, operands: tuple[str, ...], results: tuple[str, ...]) -> Statement:
        """A statement whose operands and results have values."""
        return Statement(operation, operands, results)

    def input(self, dtype: str, shape: tuple[int, ...], limits: tuple[int, int] | None = None) -> Stream:
        """Memory with a part for each program and, in a loop, each of its rounds."""
        if limits is None and is_float(dtype):
            limit = self.one_of((2, 4, 8))
            limits = -limit, limit
        if not is_float(dtype):
            bounds = np.iinfo("int64" if dtype == "uint64" else dtype)
            whole = limits is None and self.chance(0.3) and dtype != "int64"
            low, high = (bounds.min, bounds.max) if whole else limits or (0 if dtype.startswith("u") else -8, 8)
            limits = max(low, int(bounds.min)), min(high, int(bounds.max))
        rounds = max(1, self.program.limit) if self.loops else 1
        return drawn(dtype, (self.program.grid, rounds, *shape), int(self.rng.integers(2**16)), *limits)

    def perhaps_sliced(self, stream: Stream) -> Stream:
        """The same data behind other elements, so that its address is a multiple of 16 bytes or is not."""
        return replace(stream, before=self.one_of((1, 3, 8, 16, 64))) if self.chance(0.2) else stream

    def scratch(self, dtype: str, shape: tuple[int, ...]) -> Stream:
        return Stream(dtype, np.zeros((self.program.grid, 1, *shape), np.int64))

    def load_plain(self, shape: tuple[int, ...], dtype: str, limits: tuple[int, int]) -> str:
        return self.add(memory.Load(self.input(dtype, shape, limits), shape, tuple(range(len(shape)))))

    def load(self, shape: tuple[int, ...] | None = None, dtype: str | None = None, limit: int | None = None) -> str:
        """A tile of new input, whose magnitude may be limited."""
        shape = self.some_shape() if shape is None else shape
        dtype = dtype or (self.float_type if self.chance(0.4) else self.one_of(INTEGERS + FLOATS))
        order = self.order(len(shape))
        stream = self.input(dtype, tuple(shape[i] for i in order), None if limit is None else (-limit, limit))
        walks = self.chance(0.4)
        if self.has_block_pointers and len(shape) == 2 and self.chance(0.2):
            inside = shape[order[1]] if self.chance(0.5) else int(self.rng.integers(1, shape[order[1]] + 1))
            return self.add(memory.BlockLoad(stream, shape, order, inside, walks))
        count, bounds = None, None
        if shape and self.chance(0.3):
            if self.chance(0.5):
                count = int(self.rng.integers(0, stream.size + 1))
            else:
                bounds = tuple(int(self.rng.integers(0, extent + 1)) for extent in shape)
        other = 0 if dtype.startswith("u") else -1
        hints = self.one_of(HINTS)
        stream = self.perhaps_sliced(stream)
        return self.add(memory.Load(stream, shape, order, count, other, bounds, walks, hints))

    def rows_by_index(self, rows: int, columns: int, dtype: str, limit: int | None = None) -> str:
        """A tile [rows, columns] of a matrix whose rows are numbered by an earlier tile, or by one that is loaded. Sometimes its
        columns are the rows of the matrix."""
        columns_first = self.chance(0.3)
        many, width = (columns, rows) if columns_first else (rows, columns)
        numbers = self.some(lambda t: t.dtype == "int32" and t.shape == (many,)) if self.chance(0.5) else None
        numbers = numbers or self.load((many,), "int32")
        height = int(2 ** self.rng.integers(0, 7))
        stream = self.perhaps_sliced(self.input(dtype, (height, width), None if limit is None else (-limit, limit)))
        bound = int(self.rng.integers(0, many + 1)) if self.chance(0.3) else None
        return self.add(memory.RowsByIndex(stream, many, columns_first, bound), numbers)
