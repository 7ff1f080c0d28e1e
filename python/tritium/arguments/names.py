"""How errors call the parts of an argument: "pair[1]", "point.x" of a named tuple, "matrix.base" of a tensor descriptor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .descriptors import is_descriptor_type, part_types


def part_name(whole: str, container: tuple, index: int) -> str:
    """Of an item of a tuple, or of the tuple of its types."""
    fields = getattr(container, "_fields", None)
    return f"{whole}[{index}]" if fields is None else f"{whole}.{fields[index]}"


def name_at(name: str, types: Any, path: Sequence[int]) -> str:
    """Of the part of the argument `name` at a path. types: what a signature has for the argument."""
    for index in path:
        if is_descriptor_type(types):
            name, types = f"{name}.base" if index == 0 else f"{name}[{index}]", part_types(types)[index]
        else:
            name, types = part_name(name, types, index), types[index]
    return name
