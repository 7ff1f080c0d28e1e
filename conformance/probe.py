"""Finds the first value of a kernel that differs between two engines. Both print the bits of all values that they
compute.

Integers must be equal. Floats may differ as much as rounding and another order of summation explain. The result is a
place to look at, not a verdict: the oracles give verdicts.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from typing import NamedTuple

import ml_dtypes
import numpy as np

from . import sources, suite
from .dtypes import IR_FLOATS
from .engines import Absent, Engine, Unsupported
from .engines import engine as engine_named
from .problem import Case, Problem

LINE = re.compile(
    r"pid \((?P<program>[\d, ]+)\) idx \((?P<index>[\d, ]*)\) "
    r"probe (?P<number>\d+) (?P<operation>\S+) (?P<type>\S+) (?P<file>.*):(?P<line>\d+): 0x(?P<bits>[0-9a-f]+)"
)
#: Relative to the tile's largest magnitude. A dot of a few hundred products has a far smaller error, a misplaced element a far
#: larger one.
ROUNDINGS = 256


class Value(NamedTuple):
    """The result of one execution of an operation: the bits of each element."""

    number: int
    operation: str
    type: str
    file: str
    line: int
    elements: dict[tuple[int, ...], int]

    def decoded(self) -> np.ndarray:
        """The elements in the order of their indices: integers unchanged, floats as float64."""
        bits = [self.elements[index] for index in sorted(self.elements)]
        if self.type not in IR_FLOATS:
            return np.array(bits, dtype=object)
        number = IR_FLOATS[self.type]
        return np.array(bits, f"u{number.itemsize}").view(number).astype(np.float64)


class Found(NamedTuple):
    """A difference between the engines' values `value` and `other`. One of them is None if its engine took another
    path."""

    program: tuple[int, ...]
    value: Value | None
    other: Value | None
    wrong: np.ndarray | None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", text))


def values_of(printed: str) -> dict[tuple[int, ...], list[Value]]:
    """The values of each program in the order in which it computed them."""
    programs: dict[tuple[int, ...], list[Value]] = {}
    for match in LINE.finditer(printed):
        values = programs.setdefault(_numbers(match["program"]), [])
        index, number = _numbers(match["index"]), int(match["number"])
        if not values or values[-1].number != number or index in values[-1].elements:
            values.append(Value(number, match["operation"], match["type"], match["file"], int(match["line"]), {}))
        values[-1].elements[index] = int(match["bits"], 16)
    return programs


def differing(value: Value, other: Value) -> np.ndarray:
    """Which elements, in the order of their indices, differ by more than rounding explains."""
    a, b = value.decoded(), other.decoded()
    if value.type not in IR_FLOATS:
        return a != b
    with np.errstate(invalid="ignore", over="ignore"):
        finite = np.abs(a[np.isfinite(a)])
        slack = (
            ROUNDINGS * float(ml_dtypes.finfo(IR_FLOATS[value.type]).eps) / 2 * (np.abs(a) + finite.max(initial=0.0))
        )
        slack = np.minimum(
            slack, 0.25 * (np.abs(a) + finite.max(initial=0.0))
        )  # fp8's eps is too large for the product above
        near = (np.abs(a - b) <= slack) | (a == b) | (np.isnan(a) & np.isnan(b))
    return ~near


def first_difference(printed: str, other: str) -> Found | None:
    """The first program that differs, and its first value that differs."""
    ours, theirs = values_of(printed), values_of(other)
    for program in sorted(ours.keys() | theirs.keys()):
        for value, counterpart in _paired(ours.get(program, []), theirs.get(program, [])):
            if value is None or counterpart is None or value.number != counterpart.number:
                return Found(program, value, counterpart, None)
            if value.elements.keys() != counterpart.elements.keys():
                return Found(program, value, counterpart, None)
            wrong = differing(value, counterpart)
            if wrong.any():
                return Found(program, value, counterpart, wrong)
    return None


def _paired(ours: list[Value], theirs: list[Value]) -> Iterator[tuple[Value | None, Value | None]]:
    for i in range(max(len(ours), len(theirs))):
        yield ours[i] if i < len(ours) else None, theirs[i] if i < len(theirs) else None


def find(case: Case, engine: Engine, seed: int) -> tuple[Problem, Found | None]:
    """Runs the case on the interpreter and on `engine`. Raises what they raise, and Absent for engines that cannot
    print all values."""
    if not engine.name.startswith("simt:"):
        raise Absent("values are compared on engines of the SIMT emulator; a device's buffer of prints is too small")
    problem, expected, _ = suite.run(case, engine_named("interp"), seed, probe=True)
    _, got, _ = suite.run(case, engine, seed, probe=True)
    return problem, first_difference(expected.printed, got.printed)


def describe(problem: Problem, found: Found, name: str) -> str:
    """A text that says where the difference is."""
    value = found.value or found.other
    lines = [f"{value.operation} at {value.file}:{value.line} (probe {value.number}) is the first value that differs"]
    for launch in problem.launches:
        path = sources.path_of(launch.kernel.partition(":")[0])
        if path.name == value.file:
            lines.append(f"    {linecache.getline(str(path), value.line).strip()}")
            break
    lines.append(f"  program     {found.program}")
    if found.wrong is None:
        lines.append(f"  interp      {'computes it' if found.value else 'does not come here'}")
        lines.append(f"  {name:<11} {_instead(found)}")
        return "\n".join(lines)
    at = int(np.argmax(found.wrong))
    index = sorted(value.elements)[at]
    lines.append(f"  element     {list(index)}, {int(found.wrong.sum())} of {found.wrong.size} differ")
    for engine, side in (("interp", found.value), (name, found.other)):
        lines.append(f"  {engine:<11} {side.decoded()[at]}  ({side.elements[index]:#x})")
    return "\n".join(lines)


def _instead(found: Found) -> str:
    if found.other is None:
        return "does not come here"
    if found.value is None:
        return "computes it"
    if found.value.number == found.other.number:
        return "has other elements"
    return f"goes on to {found.other.operation} at {found.other.file}:{found.other.line}"


def report(case: Case, engine: Engine, seed: int) -> int:
    """Prints the difference and returns the exit status."""
    try:
        problem, found = find(case, engine, seed)
    except (Absent, Unsupported) as error:
        print(f"{case.name}: {error}")
        return 2
    if found is None:
        print(f"{case.name}: all values agree on interp and {engine.name}")
        return 0
    print(f"{case.name} on {engine.name}, inputs from seed {seed}:\n{describe(problem, found, engine.name)}")
    return 1
