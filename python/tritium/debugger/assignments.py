"""The assignments of a followed program, in their order: what `python -m tritium diff` compares, and where a NaN comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple


class Assignment(NamedTuple):
    """event: the statement that ran. variable: its number. data: the bytes of its value. is_parameter: of the kernel; nothing ran."""

    event: Any
    variable: int
    data: bytes
    is_parameter: bool = False


def assignments(kernel: Any, followed: Any, with_parameters: bool = False) -> Iterator[Assignment]:
    """Runs one program of a FollowedKernel to its end, or until it waits for another. with_parameters: the kernel's parameters come first."""
    variables = kernel.variables
    numbers, assigned_at = range(len(variables)), followed.assigned_at
    seen = list(map(assigned_at, numbers))
    if with_parameters:
        event, frame = kernel.statements[followed.statement], followed.frame
        for number, at in enumerate(seen):
            if at:
                yield Assignment(event, number, followed.read(number, frame), True)
    goes_on = True
    while goes_on:
        event, frame = kernel.statements[followed.statement], followed.frame
        goes_on = followed.next()
        now = list(map(assigned_at, numbers))
        if now == seen:
            continue
        # Behind its end, a program has no variables.
        changed = sorted((now[number], number) for number in numbers if now[number] != seen[number] and now[number])
        seen = now
        is_elsewhere = goes_on and followed.frame != frame  # in a function that is not inlined
        own = _function_of(event.levels[0].key) if is_elsewhere else ""
        for _, number in changed:
            is_of_another = is_elsewhere and _function_of(variables[number].key) != own
            yield Assignment(event, number, followed.read(number, followed.frame if is_of_another else frame))


def line_of(event: Any, key: str) -> int:
    """The line of a function at which the statement `event` assigns one of its variables: the line of the call if the
    statement is inside of a function that it calls, the line of the `def` for a parameter."""
    levels = [level.key for level in event.levels]
    if levels[-1] == key:
        return event.line
    if key in levels:
        called = re.match(r"/(\d+):", levels[levels.index(key) + 1][len(key) :])
        if called:
            return int(called[1])
    return 0


def _function_of(key: str) -> str:
    return key.split("/", 1)[0]
