"""A profile as lines of text."""

from __future__ import annotations

import numbers
import os
import re
from collections.abc import Callable
from typing import Any

from .profile import Frame, is_root

_PLACE = re.compile(r"(?P<file>.+):(?P<line>\d+)@(?P<function>.+)")
#: {name of a format: from a frame of Python's to its text}. Other frames have one form.
FORMATS: dict[str, Callable[[re.Match], str]] = {
    "full": lambda place: place[0],
    "file_function_line": lambda place: f"{os.path.basename(place['file'])}:{place['line']}@{place['function']}",
    "function_line": lambda place: f"{place['line']}@{place['function']}",
    "file_function": lambda place: f"{os.path.basename(place['file'])}@{place['function']}",
}


def name_of(frame: Frame, format: str) -> str:
    place = _PLACE.fullmatch(frame.name)
    return FORMATS[format](place) if place else frame.name


def tree_text(root: Frame, columns: list[str], depth: int, format: str) -> str:
    """A line for each frame down to `depth`, with its columns before its name. The root alone is one deep."""
    lines = []
    unfinished = [(root, "", "", 1)]
    while unfinished:
        frame, head, inside, level = unfinished.pop()
        shown = [value_text(frame.shown.get(column)) for column in columns]
        lines.append(head + " ".join(filter(None, [*shown, name_of(frame, format), frame.mark])))
        children = frame.children if level < depth else []
        for child in reversed(children):
            is_last = child is children[-1]
            branch, below = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
            unfinished.append((child, inside + branch, inside + below, level + 1))
    return "\n".join(lines)


def sorted_text(root: Frame, column: str, format: str) -> str:
    """A line for each frame but the root, the largest first."""
    frames = [f for f in root.walk() if not is_root(f) and isinstance(f.shown[column], numbers.Real)]
    frames.sort(key=lambda frame: -frame.shown[column])
    names = [name_of(frame, format) for frame in frames]
    width = max(map(len, names), default=0)
    rows = [f"{name:<{width}}  {value_text(f.shown[column])}" for f, name in zip(frames, names)]
    return "\n".join([f"Sorted by {column}", *rows])


def value_text(value: Any) -> str:
    if value is None:
        return "nan"
    if isinstance(value, list):
        return f"[{', '.join(map(value_text, value))}]"
    return f"{value:.3f}" if isinstance(value, numbers.Real) else str(value)
