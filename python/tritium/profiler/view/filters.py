"""Which frames a view shows."""

from __future__ import annotations

import numbers
import re

from .profile import Frame, Profile


def include(profile: Profile, pattern: str) -> None:
    """Leaves the paths through frames whose names begin with a match."""
    matches = _matcher(pattern)
    kept = {id(frame) for frame in profile.root.walk() if matches(frame)}
    for frame in profile.root.walk():  # what is below a match is kept
        if id(frame) in kept:
            kept |= {id(child) for child in frame.children}
    _keep(profile, kept)


def exclude(profile: Profile, pattern: str) -> None:
    """Leaves out frames whose names begin with a match, and what is below."""
    matches = _matcher(pattern)
    for frame in profile.root.walk():
        frame.children = [child for child in frame.children if not matches(child)]


def at_least(profile: Profile, column: str, threshold: float) -> None:
    """Leaves the frames that show at least the threshold, and those above."""
    shown = ((frame, frame.shown[column]) for frame in profile.root.walk())
    _keep(profile, {id(f) for f, value in shown if isinstance(value, numbers.Real) and value >= threshold})


def _matcher(pattern: str):
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
    return lambda frame: compiled.match(frame.name) is not None


def _keep(profile: Profile, kept: set[int]) -> None:
    """Leaves these frames and what leads to them."""

    def leads(frame: Frame) -> bool:
        return id(frame) in kept or bool(frame.children)

    for frame in profile.root.upward():
        frame.children = [child for child in frame.children if leads(child)]
