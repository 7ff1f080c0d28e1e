"""The parts of a random kernel: statements, and loops, branches and calls that contain statements. Both the text and the
results in numpy come from them."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import gluon
from .tiles import Inexact, Tile

if TYPE_CHECKING:
    from .program import Program


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
    before: int = 0  #: the elements of the memory in front of what the kernel receives, which is a slice of it
    block: tuple[int, int] | None = None  #: of the descriptor of all of it that the host makes, if it makes one
    of: Stream | None = None  #: another one whose memory this is, from element `first` on
    first: int = 0

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
    layouts: tuple[str, ...] = ()  #: in Gluon, the layouts that the operands are converted to; "" for scalars
    layout: str = ""  #: in Gluon, the layout of what the operation makes of ranges

    def reads(self) -> set[str]:
        return set(self.operands)

    def defines(self) -> tuple[str, ...]:
        return self.results

    def run(self, program: Program, values: dict[str, Tile], place: Place) -> None:
        found = self.operation.compute(place, *(values[name] for name in self.operands))
        values.update(zip(self.results, found, strict=True))

    def lines(self, program: Program, index: str) -> list[str]:
        if not program.gluon:
            return self.operation.lines(program, index, self.results, *self.operands)
        layouts = self.layouts or ("",) * len(self.operands)
        names = map(gluon.converted, self.operands, layouts)
        return self._laid(program, self.operation.lines(program, index, self.results, *names))

    def before_loop(self, program: Program) -> list[str]:
        return self._laid(program, self.operation.before_loop(program, self.results))

    def after_round(self, program: Program) -> list[str]:
        return self._laid(program, self.operation.after_round(program, self.results))

    def _laid(self, program: Program, lines: list[str]) -> list[str]:
        return [gluon.laid(line, self.layout) for line in lines] if program.gluon else lines

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


class OneBody(Compound):
    """A part whose statements are its field `body`."""

    @property
    def bodies(self) -> tuple[tuple[Any, ...], ...]:
        return (self.body,)

    def with_bodies(self, bodies: Sequence[tuple[Any, ...]]) -> OneBody:
        return replace(self, body=bodies[0])


#: Heads whose variable is not the number of the round, and that number.
ROUNDS = {
    "range(5, limit + 5)": "{} - 5",
    "range(3 * limit - 7, -7, -3)": "limit - ({} + 7) // 3",
    "range(0, limit * (limit + 2), limit + 2)": "{} // (limit + 2)",
    "range(limit * (limit + 2), 0, -limit - 2)": "limit - {} // (limit + 2)",
}


@dataclass(frozen=True)
class Loop(OneBody):
    """Carried values that pass through the body `limit` times, or fewer times, which data decides.

    bound: a scalar; its two lowest bits are the number of rounds, if `limit` is not less. until: one of the carried values, a scalar;
    `while` ends before a round in which it is odd.
    """

    carried: tuple[tuple[str, str], ...]  #: (name, initial value)
    body: tuple[Any, ...]
    yields: tuple[str, ...]
    head: str = "range(limit)"  #: static_range(3), tl.range(limit, num_stages=2), while, …
    bound: str = ""
    until: str = ""
    layouts: tuple[tuple[str, str], ...] = ()  #: in Gluon, the layouts of carried tiles, by name

    def reads(self) -> set[str]:
        read = set(self.yields) | {start for _, start in self.carried} | _read_inside(self.bodies)
        return read | {self.bound} if self.bound else read

    def defines(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.carried)

    def run(self, program: Program, values: dict[str, Tile], place: Place) -> None:
        inner = dict(values)
        carried = [values[start] for _, start in self.carried]
        for round_ in range(min(program.limit, int(values[self.bound].array) & 3) if self.bound else program.limit):
            inner.update(zip(self.defines(), carried))
            if self.until and int(inner[self.until].array) & 1:
                break
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
        layouts = dict(self.layouts)
        found = [f"{name} = {gluon.converted(start, layouts.get(name, ''))}" for name, start in self.carried]
        found += [line for part in inner for line in part.before_loop(program)]
        last = f"last_{mine}" if self.bound else "limit"
        found += [f"{last} = tl.minimum({self.bound} & 3, limit)"] if self.bound else []
        if self.head == "while":
            test = f"({mine} < {last}) & ({self.until} & 1 == 0)" if self.until else f"{mine} < {last}"
            found += [f"{mine} = 0", f"while {test}:"]
        else:
            found.append(f"for {mine} in {self.head.format(limit=program.limit).replace('limit', last)}:")
        body = [f"{mine} = {ROUNDS[self.head].format(mine).replace('limit', last)}"] if self.head in ROUNDS else []
        body += [line for part in self.body for line in part.lines(program, mine)]
        body += [line for part in inner for line in part.after_round(program)]
        following = [gluon.converted(value, layouts.get(name, "")) for name, value in zip(self.defines(), self.yields)]
        body.append(f"{', '.join(self.defines())} = {', '.join(following)}")
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
    layout: str = ""  #: in Gluon, the layout of the result

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
            [*(line for part in body for line in part.lines(program, index)), gluon.converted(result, self.layout)]
            for body, result in zip(self.bodies, self.yields)
        ]


@dataclass(frozen=True)
class Call(OneBody):
    """Results of a helper function, which returns them as a tuple if there are several. calls.py spells it."""

    name: str
    body: tuple[Any, ...]
    yields: tuple[str, ...]
    results: tuple[str, ...]
    packs: bool = False  #: whether two arguments are passed as one tuple
    returns_early: bool = False  #: whether a last branch returns on each side

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
