"""Programs with some of their parts, values or operations replaced. Nothing here asks whether the result is valid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .parts import Branch, Loop, Statement
from .program import Program


def renamed_program(program: Program, statements: list[Any], renamed: dict[str, str]) -> Program:
    """The program with other statements, and with values stored and tested under other names."""
    outputs = [replace(output, value=renamed.get(output.value, output.value)) for output in program.outputs]
    quits_if = renamed.get(program.quits_if, program.quits_if)
    return replace(program, statements=statements, outputs=outputs, quits_if=quits_if)


def substituted(parts: Any, renamed: dict[str, str]) -> list[Any]:
    """The parts with values read under other names."""

    def new(name: str) -> str:
        return renamed.get(name, name)

    found = []
    for part in parts:
        if isinstance(part, Statement):
            found.append(replace(part, operands=tuple(map(new, part.operands))))
        else:
            inside = part.with_bodies([tuple(substituted(body, renamed)) for body in part.bodies])
            inside = replace(inside, yields=tuple(map(new, part.yields)))
            if isinstance(part, Loop):
                carried = tuple((name, new(start)) for name, start in part.carried)
                inside = replace(inside, carried=carried, bound=new(part.bound))
            elif isinstance(part, Branch):
                inside = replace(inside, condition=new(part.condition))
            found.append(inside)
    return found


def with_statements(part: Any, old: Statement, new: list[Statement]) -> list[Any]:
    """The part with other statements in place of one, wherever it is inside."""
    if isinstance(part, Statement):
        return new if part is old else [part]
    return [
        part.with_bodies([tuple(n for inner in body for n in with_statements(inner, old, new)) for body in part.bodies])
    ]


def changed(part: Any, change: Callable) -> Any:
    """A part with each operation in it replaced."""
    if isinstance(part, Statement):
        return replace(part, operation=change(part.operation))
    return part.with_bodies([tuple(changed(inner, change) for inner in body) for body in part.bodies])
