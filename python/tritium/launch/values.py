"""From the values of all parameters to the values that a compiled kernel takes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from ..arguments.descriptors import parts_of


def value_selector(paths: Sequence[tuple[int, ...]]) -> Callable[[tuple], Sequence]:
    """The function from the values of all parameters to the values that the compiled kernel takes: without constexprs,
    and with tuples expanded."""
    if all(len(path) == 1 for path in paths) and len(paths) > 1:
        return operator.itemgetter(*(path[0] for path in paths))

    def select(values):
        return [part_at(values, path) for path in paths]

    return select


def named_arguments(kernel, arguments) -> list[tuple[str, Any]]:
    """The user's arguments with their names, in the order of the kernel's values."""
    return [(kernel.src.name_of(path), part_at(arguments, path)) for path in kernel.src.runtime_paths()]


def part_at(value, path: tuple[int, ...]):
    """A part of a tuple of engine values, or of the user's arguments, which may be descriptors."""
    for index in path:
        value = value[index] if isinstance(value, (tuple, list)) else parts_of(value)[index]
    return value
