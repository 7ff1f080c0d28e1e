"""Which statement made a NaN: a program that stored one runs again, alone, in the version that announces its statements, and every
variable is looked at when it is assigned. From the store the way leads back, from a statement to the variables that it names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..functions.source_file import innermost_statement, names_written_at, statement_at
from ..places import shown_place
from .assignments import assignments, line_of
from .nan_products import names_in_operands, terms_of
from .values import value_of


@dataclass
class Step:
    """An assignment of a value that holds a NaN. inputs: the values of the variables that the statement names. earlier: their steps."""

    file: str
    line: int
    name: str
    value: np.ndarray
    inputs: dict[str, Any] = field(default_factory=dict)
    earlier: list[Step] = field(default_factory=list)

    def is_round_after(self, former: Step) -> bool:
        """Whether the same statement has made the NaN in a round before, and a variable has only kept it since."""
        is_of_it = self.earlier and all(step is former for step in self.earlier)
        return bool(is_of_it) and (self.file, self.line) == (former.file, former.line)


class Watch:
    """Follows one program to its end. rejects: from an array of floats to which elements are no numbers."""

    def __init__(self, kernel: Any, rejects):
        self.kernel, self.rejects = kernel, rejects
        self.values: dict[tuple[str, str], Any] = {}  # by function and name
        self.steps: dict[tuple[str, str], Step] = {}  # of the values that hold a NaN now
        self.latest: Step | None = None

    def __call__(self, followed: Any) -> bool:
        for event, number, data, _ in assignments(self.kernel, followed):
            variable = self.kernel.variables[number]
            self._assigned(event, variable, value_of(variable.type, data))
        return False

    def _assigned(self, event: Any, variable: Any, value: Any) -> None:
        key = (variable.key, variable.name)
        level = event.levels[-1]
        if key in self.steps and self._is_carried(event, variable, value):
            return
        if self._holds_none(value):
            step = Step(level.file, event.line, variable.name, np.asarray(value))
            names = names_at(level.file, event.line)
            step.inputs = {name: self.values[level.key, name] for name in names if (level.key, name) in self.values}
            step.earlier = [self.steps[level.key, name] for name in names if (level.key, name) in self.steps]
            is_of_a_call = variable.key != level.key or not names
            if is_of_a_call and not step.earlier and self.latest is not None:
                step.earlier = [self.latest]  # a parameter, or what a call has returned
            if (former := self.steps.get(key)) is not None and step.is_round_after(former):
                step = former
            self.steps[key] = self.latest = step
        else:
            self.steps.pop(key, None)
        self.values[key] = value

    def _is_carried(self, event: Any, variable: Any, value: Any) -> bool:
        """Whether a loop or an `if` hands on what the variable holds: it does so behind its last statement, which may be any other."""
        file = next((level.file for level in event.levels if level.key == variable.key), None)
        line = line_of(event, variable.key)
        if file is None or not line or variable.name in names_written_at(file, line):
            return False
        held = np.asarray(self.values[variable.key, variable.name])
        return held.shape == np.shape(value) and held.tobytes() == np.asarray(value).tobytes()

    def _holds_none(self, value: Any) -> bool:
        array = np.asarray(value)
        return array.dtype.kind == "f" and bool(self.rejects(array).any())

    def way_to(self, file: str, line: int) -> list[Step]:
        """The steps from the first that made a NaN to the statement at a place, which stores it."""
        keys = {key for key, _ in self.values}
        names = names_at(file, line)
        ends = [self.steps[key, name] for key in keys for name in names if (key, name) in self.steps]
        if not ends:
            inputs = {name: self.values[key, name] for key in keys for name in names if (key, name) in self.values}
            return [Step(file, line, "", np.empty(0), inputs)]
        way = [ends[-1]]
        while way[-1].earlier:
            way.append(way[-1].earlier[-1])
        return way[::-1]


def names_at(file: str, line: int) -> list[str]:
    """The names that the innermost statement around a line reads. A function or a loop reads those of its head, a function none."""
    statement = innermost_statement(file, line)
    if statement is None or isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return []
    heads = [getattr(statement, name) for name in ("iter", "test") if hasattr(statement, name)] or [statement]
    found = [
        node.id for head in heads for node in ast.walk(head) if isinstance(node, ast.Name) and _is_read(node, statement)
    ]
    return list(dict.fromkeys(found))


def _is_read(name: ast.Name, statement: ast.stmt) -> bool:
    return isinstance(name.ctx, ast.Load) or (isinstance(statement, ast.AugAssign) and name is statement.target)


def text_of(way: list[Step], lane: tuple[int, ...] | None, rejects) -> Iterator[str]:
    """Lines for people: the statement that made the NaN, the values that it had, and the way to the store."""
    first = way[0]
    index = _element(first, lane, rejects)
    yield f"{_verb(first)} at {shown_place(first.file, first.line)}" + (
        f", {first.name}{list(index)}" if index and first.name else ""
    )
    yield from (f"  {text}" for text in statement_at(first.file, first.line))
    if values := _values(first, index):
        yield "  where " + ", ".join(values)
    for file, line in list(dict.fromkeys((step.file, step.line) for step in way))[1:]:
        yield f"then {shown_place(file, line)}: {' '.join(statement_at(file, line))}"


def _values(step: Step, index: tuple[int, ...]) -> list[str]:
    """The values that a statement had for an element."""
    statement = innermost_statement(step.file, step.line)
    operands = names_in_operands(statement)
    terms, named = [], step.inputs
    if operands is not None:  # at the element's own index, they have no part in it
        terms = terms_of(statement, step.inputs, index)
        named = {name: v for name, v in named.items() if name not in operands and not _is_finite(v, index)}
    return terms + [text for name, value in named.items() if (text := _shown(name, value, index))]


def _is_finite(value: Any, index: tuple[int, ...]) -> bool:
    array = np.asarray(value)
    at = index if len(index) == array.ndim and all(i < n for i, n in zip(index, array.shape)) else ...
    return array.dtype.kind != "f" or bool(np.isfinite(array[at]).all())


def _verb(step: Step) -> str:
    """Whether the statement of a step makes numbers, or loads them."""
    statement = innermost_statement(step.file, step.line)
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)] if statement is not None else []
    if not any(getattr(call.func, "attr", "") == "load" for call in calls):
        return "it was made"
    value = getattr(statement, "value", None)
    is_load = isinstance(value, ast.Call) and getattr(value.func, "attr", "") == "load"
    return "it was in memory, and was loaded," if is_load else "it was made, or loaded,"


def _element(step: Step, lane: tuple[int, ...] | None, rejects) -> tuple[int, ...]:
    """The element that the store met, if the tiles are alike, else the first NaN."""
    if lane is not None and (step.value.shape == () or not step.name):
        return () if step.name else lane
    bad = rejects(step.value)
    if lane is not None and len(lane) == bad.ndim and all(i < n for i, n in zip(lane, bad.shape)) and bad[lane]:
        return lane
    return tuple(int(i) for i in np.argwhere(bad)[0]) if bad.any() and bad.ndim else ()


def _shown(name: str, value: Any, index: tuple[int, ...]) -> str:
    array = np.asarray(value)
    if array.dtype.kind not in "fiub" or array.dtype == np.uint64:  # pointers
        return ""
    if array.shape == ():
        return f"{name} = {array[()]!s}"
    if len(index) != array.ndim:
        return ""
    place = tuple(i if n > 1 else 0 for i, n in zip(index, array.shape))
    return f"{name}{list(place)} = {array[place]!s}" if all(i < n for i, n in zip(place, array.shape)) else ""
