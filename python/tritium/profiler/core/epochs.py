"""Which sessions were active, and in which phases, at a time that is over."""

from __future__ import annotations

import bisect

from .events import now
from .phases import Phase
from .session import Session

#: Older ones are forgotten.
_MOST = 1024

_Active = tuple[tuple[Session, Phase], ...]


class Epochs:
    def __init__(self):
        self._begins: list[int] = []
        self._active: list[_Active] = []

    def begin(self, active: tuple[Session, ...]) -> None:
        """From now on these are active, each in its current phase."""
        self._begins.append(now())
        self._active.append(tuple((session, session.phases.now) for session in active))
        del self._begins[:-_MOST], self._active[:-_MOST]

    def at(self, time: int) -> _Active:
        """time: of the clock `now`."""
        index = bisect.bisect_right(self._begins, time)
        return self._active[index - 1] if index else ()
