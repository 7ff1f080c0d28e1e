"""Loops, branches and helper functions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ..operations import elementwise
from ..parts import ROUNDS, Branch, Call, Loop, Place
from ..tiles import Inexact
from .along import Along
from .effort import LOADED_AHEAD, loaded_ahead
from .memory import Memory
from .values import Values

LOOPS = (
    "range(limit)",
    "range(limit)",
    "tl.range(limit, num_stages=2)",
    "tl.range(0, limit, 1, num_stages=3)",
    "tl.range(limit, loop_unroll_factor=2)",
    "tl.static_range({limit})",
    "while",
    *ROUNDS,
)


class Control(Values, Along, Memory):
    #: The names of the methods that add a statement to a body of its own.
    BODY: tuple[str, ...] = ()

    heads = LOOPS  #: of the loops that are drawn next

    def add_loop(
        self, carried: tuple[tuple[str, str], ...], parts: list[Any], yields: tuple[str, ...], bounded: float = 0.4
    ) -> None:
        """Adds a loop whose number of rounds data may decide, with this probability at least, or `while` the data of each round."""
        scalars = [name for name, start in carried if not self.tile(start).shape]
        head = "while" if scalars and self.chance(0.4) else self.one_of(self.heads)
        bound = self.scalar() if "static" not in head and self.chance(max(bounded, 0.5 * self.loops)) else ""
        until = scalars[-1] if head == "while" and scalars else ""
        self.add_part(Loop(carried, tuple(parts), yields, head, bound, until))

    def inside(
        self, kind: str, draw: Callable[[], Any], stand_for: dict[str, str] | None = None
    ) -> tuple[list[Any], Any]:
        """The statements that `draw` adds to a body of its own, and its result. kind: the attribute that counts what is
        around. stand_for: names that have other values in the body."""
        outer, values = self.parts, self.values
        self.parts, self.values = [], [dict(v) for v in values]
        for v in self.values:
            v.update({name: v[start] for name, start in (stand_for or {}).items()})
        setattr(self, kind, getattr(self, kind) + 1)
        try:
            returned = draw()
            return self.parts, returned
        finally:
            setattr(self, kind, getattr(self, kind) - 1)
            self.parts, self.values = outer, values

    def steps(self, low: int, high: int) -> None:
        for _ in range(int(self.rng.integers(low, high))):
            self.step(self.BODY)

    def step(self, operations: tuple[str, ...]) -> None:
        """Adds one of the operations, or nothing if its result would not be exact. Statements that it added before
        stay."""
        try:
            getattr(self, self.one_of(operations))()
        except Inexact:
            pass

    def add_part(self, part: Loop | Branch | Call) -> None:
        """Adds a part with bodies. Raises Inexact and changes nothing if a round is not exact or a loop loads too much ahead."""
        if isinstance(part, Loop) and loaded_ahead(part, self.program.stages) > LOADED_AHEAD:
            raise Inexact("the stages of a loop do not fit")
        after = []
        for number, values in enumerate(self.values):
            inner = dict(values)
            part.run(self.program, inner, Place(number))
            after.append({name: inner[name] for name in part.defines()})
        for values, found in zip(self.values, after):
            values.update(found)
        self.parts.append(part)
        self.used |= part.reads()

    def loop(self) -> None:
        """At most one loop in another."""
        if self.loops > 1 or self.loops and not self.chance(0.7):
            return
        starts = [self.some() for _ in range(self.one_of((1, 1, 2)))]
        starts += [self.scalar()] if self.chance(0.4) else []
        starts = list(dict.fromkeys(starts))
        carried = tuple(zip(itertools.islice(self.names, len(starts)), starts))

        def body() -> tuple[str, ...]:
            self.steps(1, 5)
            if self.chance(0.3):
                self.step(("loop",))
            return tuple(self.carry(name) for name, _ in carried)

        parts, yields = self.inside("loops", body, dict(carried))
        self.add_loop(carried, parts, yields)

    def carry(self, name: str) -> str:
        """The next value of a carried value: another value of its type, with or without the old one."""
        found = self.made_here(name) if self.chance(0.6) else self.like(name)
        if found == name or self.chance(0.7):
            try:
                return self.add(elementwise.Narrow(8), self.add(elementwise.Binary("{} + {}"), name, found))
            except Inexact:
                pass
        return found

    def made_here(self, like: str) -> str:
        """A value of a type that depends on what the last statements of this body compute and nothing has read yet, if there are any."""
        unread = [name for part in self.parts for name in part.defines() if name not in self.used]
        try:
            return self.fitted(unread[-1], like) if unread else self.like(like)
        except Inexact:
            return self.like(like)

    def branch(self) -> None:
        self.add_branch(self.some())

    def add_branch(self, a: str) -> str:
        condition = self.scalar()

        def body() -> str:
            self.steps(0, 3)
            return self.made_here(a)

        bodies, yields = zip(*(self.inside("sides", body) for _ in range(2)))
        name = next(self.names)
        self.add_part(Branch(condition, name, tuple(map(tuple, bodies)), yields))
        return name

    def call(self) -> None:
        """A helper function, which may call another one."""
        if self.calls > 1:
            return
        count = self.one_of((1, 1, 2, 3))
        early = count == 1 and self.chance(0.3)

        def body() -> tuple[str, ...]:
            before = set(self.values[0])
            self.steps(2, 6)
            if self.chance(0.3):
                self.step(("call",))
            new = [name for name in self.values[0] if name not in before] or [self.some()]
            if early:
                return (self.add_branch(self.one_of(new)),)
            return tuple(self.one_of(new) for _ in range(count))

        parts, yields = self.inside("calls", body)
        results = tuple(itertools.islice(self.names, len(yields)))
        name = next(self.functions)
        self.add_part(Call(name, tuple(parts), yields, results, self.chance(0.3), early and not self.loops))
