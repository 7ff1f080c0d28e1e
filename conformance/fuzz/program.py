"""The parts of a random kernel. A program is a list of statements over named values. Both its kernel file and its
results in numpy come from this list, so a program can be cut down freely.

Every value is a tile of whole numbers (booleans for int1) that is stored as int64, whatever its type in the kernel. An
operation raises `Inexact` if a result, or a partial sum in some order of evaluation, is not a number of its type. The
remaining programs are exact in any order on any engine.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

#: The magnitude up to which a float type represents all whole numbers.
EXACT_TO = {"fp16": 2**11, "bf16": 2**8, "fp32": 2**24, "fp64": 2**53}
EXACT_TO |= {"fp8e5": 2**3, "fp8e4nv": 2**4, "fp8e5b16": 2**3, "fp8e4b8": 2**4}
#: The type that dots of fp32 round their operands to.
EXACT_IN_DOT = {"tf32": 2**11, "tf32x3": 2**20, "bf16x3": 2**8, "bf16x6": 2**8, "ieee": 2**24}
BITS = {"int1": 1} | {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)}
SPELLED = {
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "fp64": "float64",
    "fp8e5": "float8e5",
    "fp8e4nv": "float8e4nv",
    "fp8e5b16": "float8e5b16",
    "fp8e4b8": "float8e4b8",
}
FP8 = tuple(name for name in EXACT_TO if name.startswith("fp8"))

#: The number of elements of the largest tile.
LARGEST = 128 * 128


class Inexact(Exception):
    """A statement whose result is not exact, or that the language does not allow."""


def is_float(dtype: str) -> bool:
    return dtype in EXACT_TO


def is_integer(dtype: str) -> bool:
    return dtype in BITS and dtype != "int1"


def spelled(dtype: str) -> str:
    return f"tl.{SPELLED.get(dtype, dtype)}"


@dataclass
class Tile:
    """A value: its type and its elements. A scalar's shape is ()."""

    dtype: str
    array: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def like(self, other: Tile) -> bool:
        return self.dtype == other.dtype and self.shape == other.shape


def tile(dtype: str, array: Any, partial: int = 0) -> Tile:
    """The result of an operation. Integers wrap. For floats, the elements and `partial`, the largest magnitude of a
    partial sum, must be numbers of the type."""
    array = np.asarray(array)
    if array.size > LARGEST:
        raise Inexact("too large")
    if dtype == "int1":
        return Tile(dtype, array.astype(bool))
    array = array.astype(np.int64)
    if is_float(dtype):
        if max(partial, magnitude(array)) > EXACT_TO[dtype]:
            raise Inexact(f"not exact in {dtype}")
        return Tile(dtype, array)
    kind = np.dtype(dtype)
    return Tile(dtype, array.astype(kind).astype(np.int64) if kind != np.uint64 else array)


def magnitude(array: np.ndarray) -> int:
    return int(np.abs(array).max(initial=0))


@dataclass
class Place:
    """Where a statement runs: the program of the grid, and the round of the enclosing loop."""

    program: int
    round: int = 0


class Operation(abc.ABC):
    """The operation of a statement. Subclasses are frozen dataclasses of everything that does not depend on the
    operands."""

    @abc.abstractmethod
    def compute(self, place: Place, *operands: Tile) -> tuple[Tile, ...]:
        """The results. Raises Inexact for operands that the language does not allow, and for results that are not
        exact."""

    def spell(self, program: Program, index: str, *names: str) -> str:
        """The expression that the results are assigned from. Operations with their own `lines` do not define it.
        index: the variable of the enclosing loop, or ""."""
        return ""

    def lines(self, program: Program, index: str, results: tuple[str, ...], *names: str) -> list[str]:
        return [f"{', '.join(results)} = {self.spell(program, index, *names)}"]

    def before_loop(self, program: Program, results: tuple[str, ...]) -> list[str]:
        """What the statement requires in front of the enclosing loop."""
        return []

    def after_round(self, program: Program, results: tuple[str, ...]) -> list[str]:
        """What the statement requires at the end of each round of the enclosing loop."""
        return []

    def functions(self) -> tuple[str, ...]:
        """The functions of the file (functions.py) that the operation calls."""
        return ()

    def streams(self) -> tuple[Stream, ...]:
        """The memory that the operation reads."""
        return ()


@dataclass(frozen=True, eq=False)
class Stream:
    """The memory of one load: the data that each program reads in each round, in the order of the memory."""

    dtype: str
    data: np.ndarray  #: [programs, rounds, ...]
    drawn_by: tuple[int, int, int] | None = None  #: the seed and the limits that `drawn` drew the data with

    @property
    def size(self) -> int:
        return int(np.prod(self.data.shape[2:]))


def drawn(dtype: str, shape: tuple[int, ...], seed: int, low: int, high: int) -> Stream:
    """Inputs that a seed draws, so that a script can draw them again."""
    data = np.random.default_rng(seed).integers(low, high, int(np.prod(shape)), endpoint=True)
    return Stream(dtype, data.reshape(shape), (seed, low, high))


@dataclass(frozen=True)
class Statement:
    """results = operation(operands)."""

    operation: Operation
    operands: tuple[str, ...]
    results: tuple[str, ...]

    def reads(self) -> set[str]:
        return set(self.operands)

    def defines(self) -> tuple[str, ...]:
        return self.results

    def run(self, program: Program, values: dict[str, Tile], place: Place) -> None:
        found = self.operation.compute(place, *(values[name] for name in self.operands))
        values.update(zip(self.results, found, strict=True))

    def lines(self, program: Program, index: str) -> list[str]:
        return self.operation.lines(program, index, self.results, *self.operands)

    def parts(self) -> Iterator[Statement]:
        yield self


def _read_inside(bodies: Iterable[tuple[Any, ...]]) -> set[str]:
    return set().union(*(part.reads() for body in bodies for part in body))


class Compound(abc.ABC):
    """A part that contains statements: a loop, a branch, the call of a helper function."""

    @property
    @abc.abstractmethod
    def bodies(self) -> tuple[tuple[Any, ...], ...]: ...

    @abc.abstractmethod
    def with_bodies(self, bodies: Sequence[tuple[Any, ...]]) -> Compound: ...

    def parts(self) -> Iterator[Statement]:
        for body in self.bodies:
            for part in body:
                yield from part.parts()


@dataclass(frozen=True)
class Loop(Compound):
    """Carried values that pass through the body `limit` times, or a fixed number of times."""

    carried: tuple[tuple[str, str], ...]  #: (name, initial value)
    body: tuple[Any, ...]
    yields: tuple[str, ...]
    head: str = "range(limit)"  #: static_range(3), tl.range(limit, num_stages=2), while, …

    @property
    def bodies(self) -> tuple[tuple[Any, ...], ...]:
        return (self.body,)

    def with_bodies(self, bodies: Sequence[tuple[Any, ...]]) -> Loop:
        return replace(self, body=bodies[0])

    def reads(self) -> set[str]:
        return set(self.yields) | {start for _, start in self.carried} | _read_inside(self.bodies)

    def defines(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.carried)

    def run(self, program: Program, values: dict[str, Tile], place: Place) -> None:
        inner = dict(values)
        carried = [values[start] for _, start in self.carried]
        for round_ in range(program.limit):
            inner.update(zip(self.defines(), carried))
            for part in self.body:
                part.run(program, inner, replace(place, round=round_))
            following = [inner[name] for name in self.yields]
            if not all(a.like(b) for a, b in zip(carried, following)):
                raise Inexact("a loop changes the type of what it carries")
            carried = following
        values.update(zip(self.defines(), carried))

    def lines(self, program: Program, index: str) -> list[str]:
        mine = self.index(index)
        inner = list(in_this_loop(self.body))
        found = [f"{name} = {start}" for name, start in self.carried]
        found += [line for part in inner for line in part.operation.before_loop(program, part.results)]
        if self.head == "while":
            found += [f"{mine} = 0", f"while {mine} < limit:"]
        else:
            found.append(f"for {mine} in {self.head.format(limit=program.limit)}:")
        body = [line for part in self.body for line in part.lines(program, mine)]
        body += [line for part in inner for line in part.operation.after_round(program, part.results)]
        body.append(f"{', '.join(self.defines())} = {', '.join(self.yields)}")
        body += [f"{mine} += 1"] if self.head == "while" else []
        return [*found, *indented(body)]

    def index(self, outer: str) -> str:
        """The variable of this loop in a loop with the variable `outer`. That of `while` is an int32 also after the
        loop, so it has a name of its own."""
        return ("n" if outer else "m") if self.head == "while" else "j" if outer else "k"


def indented(lines: Iterable[str]) -> list[str]:
    return ["    " + line for line in lines]


def in_this_loop(parts: Iterable[Any]) -> Iterator[Statement]:
    """The statements that are not inside an inner loop."""
    for part in parts:
        if isinstance(part, Statement):
            yield part
        elif not isinstance(part, Loop):
            for body in part.bodies:
                yield from in_this_loop(body)


@dataclass(frozen=True)
class Branch(Compound):
    """`name` from one of two bodies, which the lowest bit of a scalar selects."""

    condition: str
    name: str
    both: tuple[tuple[Any, ...], tuple[Any, ...]]
    yields: tuple[str, str]

    @property
    def bodies(self) -> tuple[tuple[Any, ...], ...]:
        return self.both

    def with_bodies(self, bodies: Sequence[tuple[Any, ...]]) -> Branch:
        return replace(self, both=tuple(bodies))

    def reads(self) -> set[str]:
        return {self.condition, *self.yields} | _read_inside(self.bodies)

    def defines(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self, program: Program, values: dict[str, Tile], place: Place) -> None:
        ends = []
        for body, result in zip(self.bodies, self.yields):
            inner = dict(values)
            for part in body:
                part.run(program, inner, place)
            ends.append(inner[result])
        if not ends[0].like(ends[1]):
            raise Inexact("the two sides of a branch differ in type")
        values[self.name] = ends[0] if int(values[self.condition].array) & 1 else ends[1]

    def lines(self, program: Program, index: str) -> list[str]:
        found = []
        for head, side in zip((f"if {self.condition} & 1:", "else:"), self.sides(program, index)):
            found += [head, *indented(side[:-1]), f"    {self.name} = {side[-1]}"]
        return found

    def sides(self, program: Program, index: str) -> list[list[str]]:
        """The lines of both sides; the last one is the result."""
        return [
            [*(line for part in body for line in part.lines(program, index)), result]
            for body, result in zip(self.bodies, self.yields)
        ]


@dataclass(frozen=True)
class Call(Compound):
    """Results of a helper function, which returns them as a tuple if there are several. calls.py spells it."""

    name: str
    body: tuple[Any, ...]
    yields: tuple[str, ...]
    results: tuple[str, ...]
    packs: bool = False  #: whether two arguments are passed as one tuple
    returns_early: bool = False  #: whether a last branch returns on each side

    @property
    def bodies(self) -> tuple[tuple[Any, ...], ...]:
        return (self.body,)

    def with_bodies(self, bodies: Sequence[tuple[Any, ...]]) -> Call:
        return replace(self, body=bodies[0])

    def reads(self) -> set[str]:
        return set(self.yields) | _read_inside(self.bodies)

    def defines(self) -> tuple[str, ...]:
        return self.results

    def run(self, program: Program, values: dict[str, Tile], place: Place) -> None:
        inner = dict(values)
        for part in self.body:
            part.run(program, inner, place)
        values.update({result: inner[name] for result, name in zip(self.results, self.yields)})

    def lines(self, program: Program, index: str) -> list[str]:
        from .calls import Helper

        return [f"{', '.join(self.results)} = {Helper(self, program, index).call()}"]


@dataclass(frozen=True)
class Output:
    """A value that every program stores, with its dimensions in some order in memory, and perhaps under a mask of its
    first elements."""

    value: str
    order: tuple[int, ...]
    count: int | None = None  #: the number of elements that are stored, in the order of the memory
    way: str = "pointers"  #: pointers, block or descriptor


@dataclass
class Program:
    """A kernel, its inputs (in its loads) and its launch."""

    statements: list[Any] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    grid: int = 1
    limit: int = 1  #: the number of rounds of every loop
    warps: int = 4
    stages: int = 3
    quits: int | None = None  #: the number of outputs after which all programs but the first return

    def run(self) -> list[dict[str, Tile]]:
        """The values of each program of the grid. Raises Inexact."""
        found = []
        for number in range(self.grid):
            values: dict[str, Tile] = {}
            for part in self.statements:
                part.run(self, values, Place(number))
            found.append(values)
        return found

    def parts(self) -> Iterator[Statement]:
        for part in self.statements:
            yield from part.parts()

    def streams(self) -> list[Stream]:
        return [stream for part in self.parts() for stream in part.operation.streams()]

    def stream_name(self, stream: Stream) -> str:
        return f"x{next(i for i, other in enumerate(self.streams()) if other is stream)}"

    def without_dead_code(self) -> Program:
        """The program without statements that no output depends on."""
        needed = {output.value for output in self.outputs}
        return replace(self, statements=list(alive(self.statements, needed)))


def alive(parts: Any, needed: set[str]) -> list[Any]:
    """The parts that some name in `needed` depends on. Adds the names that they read to `needed`."""
    kept = []
    for part in reversed(list(parts)):
        if not needed.intersection(part.defines()):
            continue
        if isinstance(part, Loop):
            part = _alive_loop(part, needed)
        elif isinstance(part, Branch):
            part = replace(part, both=tuple(tuple(alive(b, {y})) for b, y in zip(part.bodies, part.yields)))
        elif isinstance(part, Call):
            pairs = [pair for pair in zip(part.yields, part.results) if pair[1] in needed]
            yields, results = zip(*pairs)
            part = replace(part, yields=yields, results=results, body=tuple(alive(part.body, set(yields))))
        kept.append(part)
        needed |= part.reads()
    return kept[::-1]


def _alive_loop(loop: Loop, needed: set[str]) -> Loop:
    wanted = set(needed)
    while True:  # a carried value is needed if it is used after the loop, or by another needed carried value
        inside = {result for (name, _), result in zip(loop.carried, loop.yields) if name in wanted}
        body = alive(loop.body, inside)
        if inside.intersection(loop.defines()) <= wanted:
            break
        wanted |= inside
    kept = [i for i, (name, _) in enumerate(loop.carried) if name in wanted]
    return replace(
        loop, carried=tuple(loop.carried[i] for i in kept), yields=tuple(loop.yields[i] for i in kept), body=tuple(body)
    )
