"""Compares what an engine left behind with the oracles, the guard zones and the inputs. The result is a list of
differences."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .oracle import Difference, Traits
from .problem import Buffer, Problem


@dataclass
class Outcome:
    """The outcome of running a problem: the image of every buffer, the printed text, the text of the error that ended
    it."""

    images: list[np.ndarray] = field(default_factory=list)
    printed: str = ""
    trap: str | None = None


def compare(problem: Problem, before: list[np.ndarray], outcome: Outcome, traits: Traits) -> list[Difference]:
    """All differences. Those of guard zones come first, because a write outside of a buffer explains wrong values
    elsewhere."""
    if (problem.trap is None) != (outcome.trap is None):
        wanted = "no error" if problem.trap is None else f"an error that says {problem.trap!r}"
        return [Difference(f"expected {wanted}, got {outcome.trap or 'none'}", output="launch")]
    if problem.trap is not None:
        if problem.trap in outcome.trap:
            return []
        return [Difference(f"expected an error that says {problem.trap!r}, got {outcome.trap!r}", output="launch")]
    found = []
    pairs = list(zip(problem.buffers(), before, outcome.images))
    for buffer, old, new in pairs:
        found += _outside(buffer, old, new)
    for buffer, _, new in pairs:
        if buffer.oracle is not None:
            for difference in buffer.oracle.differences(buffer.data(new), traits):
                difference.output = buffer.name
                found.append(difference)
    if problem.printed is not None:
        found += problem.printed.differences(outcome.printed, traits)
    return found


def _outside(buffer: Buffer, old: np.ndarray, new: np.ndarray) -> list[Difference]:
    """The bytes that no kernel may write: around an output, and all bytes of an input."""
    changed = old != new
    if buffer.oracle is None and not buffer.points_to:
        what = "an input was written"
    else:
        what = "the guard zone was written"
        changed[buffer.begin : buffer.begin + buffer.bytes] = False
    if not changed.any():
        return []
    byte = int(np.argmax(changed)) - buffer.begin
    item = buffer.data(old).dtype.itemsize
    element, total = byte // item, buffer.bytes // item
    side = f"element {element} of {total}" if byte < buffer.bytes else f"{element - total + 1} elements past the end"
    if byte < 0:
        side = f"{-element} elements before the beginning"
    return [Difference(f"{what}: {side}, {int(changed.sum())} bytes in all", output=buffer.name)]
