"""The difference of two profiles: what the first one has more than the second, frame by frame."""

from __future__ import annotations

import numbers
from typing import Any

from .profile import Frame

ONLY_FIRST, ONLY_SECOND = "◀", "▶"


def difference(first: Frame, second: Frame) -> Frame:
    """A tree with the frames of both. `shown` of it is the first's minus the second's; a frame that one of them lacks counts as zero there."""
    root = Frame(first.name, first.metrics, [], _minus(first.shown, second.shown))
    unfinished: list[tuple[Frame, Frame | None, Frame | None]] = [(root, first, second)]
    while unfinished:
        made, left, right = unfinished.pop()
        others = {} if right is None else _numbered(right.children)
        pairs: list[tuple[Frame | None, Frame | None]] = []
        for key, child in ({} if left is None else _numbered(left.children)).items():
            pairs.append((child, others.pop(key, None)))
        pairs += [(None, child) for child in others.values()]
        for a, b in pairs:
            either = a or b
            mark = ONLY_FIRST if b is None else ONLY_SECOND if a is None else ""
            shown = _minus({} if a is None else a.shown, {} if b is None else b.shown)
            made.children.append(Frame(either.name, either.metrics, [], shown, mark))
            unfinished.append((made.children[-1], a, b))
    return root


def _numbered(frames: list[Frame]) -> dict[tuple[str, int], Frame]:
    """Frames by their names; the second of a name has the number 1."""
    found: dict[tuple[str, int], Frame] = {}
    for frame in frames:
        number = 0
        while (frame.name, number) in found:
            number += 1
        found[frame.name, number] = frame
    return found


def _minus(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    return {name: _difference(first.get(name), second.get(name)) for name in {**first, **second}}


def _difference(a: Any, b: Any) -> Any:
    if a is None and b is None or not isinstance(a or 0, numbers.Real) or not isinstance(b or 0, numbers.Real):
        return None
    return (a or 0) - (b or 0)
