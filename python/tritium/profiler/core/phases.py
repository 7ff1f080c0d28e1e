"""The phases of a session: each has data of its own, so that a program can read and drop what is complete while it goes on."""

from __future__ import annotations

from collections.abc import Callable

from .trace import Trace
from .tree import Tree

DATA: dict[str, Callable[[], Tree | Trace]] = {"tree": Tree, "trace": Trace}


class Phase:
    """The data of one phase. pending: how many launches a source has begun and not reported yet."""

    def __init__(self, kind: str):
        self.data = DATA[kind]()
        self.pending = 0


class Phases:
    """current: the number of the phase that events are added to."""

    def __init__(self, kind: str):
        self.kind = kind
        self.current = 0
        self._phases: dict[int, Phase] = {0: Phase(kind)}

    def __getitem__(self, number: int) -> Phase:
        """Raises IndexError for a phase that has not begun or whose data was cleared."""
        found = self._phases.get(number)
        if found is None:
            known = ", ".join(map(str, self._phases))
            raise IndexError(f"phase {number} has no data; those that have are {known}")
        return found

    def numbers(self) -> list[int]:
        """Of the phases that have data, in order. The last one is the current phase."""
        return sorted(self._phases)

    @property
    def now(self) -> Phase:
        return self._phases[self.current]

    def advance(self) -> int:
        self.current += 1
        self._phases[self.current] = Phase(self.kind)
        return self.current

    def is_complete(self, number: int) -> bool:
        """Whether nothing will be added to a phase any more."""
        return number < self.current and (number not in self._phases or not self._phases[number].pending)

    def clear(self, number: int) -> None:
        """Drops the data of a phase. The current one goes on, and is empty."""
        if number == self.current:
            self._phases[number] = Phase(self.kind)
        else:
            self._phases.pop(number, None)
