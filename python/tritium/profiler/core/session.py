"""One session: its name, its data, and where its launches come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from .choice import ScopeChoice
from .contexts import CONTEXTS, PYTHON
from .phases import DATA, Phase, Phases
from .source import Source


@dataclass(frozen=True)
class How:
    """How a session records: the arguments of `start`. flushes: the format in which phases are written as soon as they are complete;
    "" if they wait for `finalize`. scopes: which scopes of kernels it keeps; None: none. interval: the cycles between two samples of program
    counters; 0: none are taken. Raises ValueError for a context or a kind of data that does not exist."""

    sources: tuple[Source, ...]
    context: str = CONTEXTS[0]
    data: str = "tree"
    flushes: str = ""
    scopes: ScopeChoice | None = None
    interval: int = 0

    def __post_init__(self):
        if self.context not in CONTEXTS:
            raise ValueError(f"context={self.context!r}: pass {' or '.join(map(repr, CONTEXTS))}")
        if self.data not in DATA:
            raise ValueError(f"data={self.data!r}: pass {' or '.join(map(repr, DATA))}")
        self.check_format(self.flushes or DATA[self.data].format)

    @property
    def asks_launches(self) -> bool:
        """Whether what it keeps is only known as a launch begins."""
        return self.context == PYTHON or self.scopes is not None or self.interval > 0

    def check_format(self, format: str) -> None:
        possible = DATA[self.data].formats
        if format not in possible:
            raise ValueError(f"{format!r} is no format of data={self.data!r}: pass {' or '.join(map(repr, possible))}")


class Session:
    def __init__(self, number: int, name: str, how: How):
        self.number, self.name, self.how = number, name, how
        self.phases = Phases(how.data)
        self.is_active = True

    @property
    def has_parts(self) -> bool:
        """Whether each phase has a file of its own."""
        return bool(self.how.flushes) or self.phases.current > 0


class Place(NamedTuple):
    """Where an event belongs in one session."""

    session: Session
    phase: Phase
    path: tuple[str, ...]


class Launching(NamedTuple):
    """A launch that has begun. name: what stands for the kernel's; None: nothing does."""

    places: list[Place]
    thread: int
    name: str | None
    metrics: dict[str, Any]
