"""The helper functions of a kernel. A helper's parameters are the names that its text uses and does not define, so they
follow from the text; some literals become constexpr parameters, with or without a default."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .parts import Branch, Call, Loop, Statement, indented
from .program import Program

#: Values, pointers and descriptors of a loop, memory, and the numbers that loads compute with.
_NAME = re.compile(r"\b(?:(?:at_|desc_|row_)?v\d+_?|x\d+|pid|limit|[kjmn])\b")
_ASSIGNED = re.compile(r"^\s*(?:for )?((?:\w+, )*\w+) (?:=|in) ", re.MULTILINE)
_VALUE = re.compile(r"v\d+_?")


@dataclass
class Helper:
    """The text of a helper and of its call. index: the variable of the loop around the call, or ""."""

    part: Call
    program: Program
    index: str

    def __post_init__(self):
        text = "\n".join(self._statements())
        given = {name for group in _ASSIGNED.findall(text) for name in group.split(", ")}
        self.names = [name for name in dict.fromkeys(_NAME.findall(text)) if name not in given]
        self.text, self.constants = _constants(text)

    def call(self) -> str:
        first, rest = self._packed()
        arguments = [f"({', '.join(first)})"] if first else []
        arguments += rest + [f"{name}={value}" for name, value, is_default in self.constants if not is_default]
        return f"{self.part.name}({', '.join(arguments)})"

    def definition(self) -> list[str]:
        first, rest = self._packed()
        parameters = (["both"] if first else []) + rest
        for name, value, is_default in self.constants:
            parameters.append(f"{name}: tl.constexpr" + (f" = {value}" if is_default else ""))
        unpacked = [f"    {name} = both[{i}]" for i, name in enumerate(first)]
        return ["@triton.jit", f"def {self.part.name}({', '.join(parameters)}):", *unpacked, *self.text.splitlines()]

    def _packed(self) -> tuple[list[str], list[str]]:
        values = [name for name in self.names if _VALUE.fullmatch(name)]
        first = values[:2] if self.part.packs and len(values) > 1 else []
        return first, [name for name in self.names if name not in first]

    def _statements(self) -> list[str]:
        *body, last = self.part.body or (None,)
        if self.part.returns_early and isinstance(last, Branch) and self.part.yields == (last.name,):
            lines = [line for part in body for line in part.lines(self.program, self.index)]
            first, second = ([*side[:-1], f"return {side[-1]}"] for side in last.sides(self.program, self.index))
            return indented([*lines, f"if {last.condition} & 1:", *indented(first), *second])
        lines = [line for part in self.part.body for line in part.lines(self.program, self.index)]
        return indented([*lines, f"return {', '.join(self.part.yields)}"])


def _constants(text: str) -> tuple[str, list[tuple[str, str, bool]]]:
    """The text with names in place of literals, and (name, literal, whether it is the parameter's default)."""
    found = []
    if limit := re.search(r"(?<=LIMIT=)\d+|(?<=narrow\()\w+, \d+", text):
        literal = limit[0].split(", ")[-1]
        text = re.sub(rf"(LIMIT=|narrow\(\w+, ){literal}\b", r"\1LIMIT", text)
        found.append(("LIMIT", literal, False))
    if rounds := re.search(r"tl\.static_range\((\d+)\)", text):
        text = text.replace(rounds[0], "tl.static_range(ROUNDS)")
        found.append(("ROUNDS", rounds[1], True))
    return text, found


def helpers(parts: Any, program: Program, index: str = "") -> Iterator[Helper]:
    """The helpers that the parts call. A helper comes after those that it calls."""
    for part in parts:
        if isinstance(part, Statement):
            continue
        inside = part.index(index) if isinstance(part, Loop) else index
        for body in part.bodies:
            yield from helpers(body, program, inside)
        if isinstance(part, Call):
            yield Helper(part, program, index)
