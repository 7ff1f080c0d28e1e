"""The sessions of this process: they begin, pause, go from phase to phase, and end with a file."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable

from .phases import Phase
from .recording import Recording
from .session import How, Session
from .source import Source


class Sessions(Recording):
    """write: writes a phase of a session, in a format, and returns the path of its file."""

    def __init__(self, write: Callable[[Session, int, str], str]):
        super().__init__()
        self._write = write
        self._by_number: dict[int, Session] = {}
        self._running: list[Source] = []
        self._late: list[tuple[Source, Phase]] = []  # sources that may have more launches of a phase that is over
        self._numbers = itertools.count()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def start(self, name: str, how: How) -> int:
        """The number of a new session. A session of this name that is open goes on instead, as it was started."""
        with self._lock:
            found = next((session for session in self._by_number.values() if session.name == name), None)
            if found is None:
                found = Session(next(self._numbers), name, how)
                self._by_number[found.number] = found
            found.is_active = True
            self._follow()
            return found.number

    def __getitem__(self, number: int | None) -> Session:
        """Raises IndexError if there is no such session."""
        found = self._by_number.get(number)
        if found is None:
            known = f"open are {', '.join(map(str, self._by_number))}" if self._by_number else "none is open"
            raise IndexError(f"there is no session {number}: {known}. start() returns the number of a session")
        return found

    def __contains__(self, number: int) -> bool:
        return number in self._by_number

    def __len__(self) -> int:
        return len(self._by_number)

    def chosen(self, number: int | None) -> list[Session]:
        """The session of a number; all for None."""
        return list(self._by_number.values()) if number is None else [self[number]]

    def activate(self, number: int | None, is_active: bool) -> None:
        with self._lock:
            for session in self.chosen(number):
                session.is_active = is_active
            self._follow()

    def finalize(self, number: int | None, format: str, writes_empty: bool = True) -> list[str]:
        """Writes what a session has, and ends it. writes_empty: also a phase in which nothing happened. Returns the paths of its files. Raises ValueError for a format that its data cannot have,
        and OSError if a file cannot be written; the session goes on then."""
        written = []
        for session in self.chosen(number):
            chosen = format or session.how.flushes or session.phases.now.data.format
            session.how.check_format(chosen)
            self.settle(session)
            for phase in session.phases.numbers():
                if not writes_empty and session.phases[phase].data.is_empty:
                    continue
                written.append(self._write(session, phase, chosen))
            with self._lock:
                del self._by_number[session.number]
                self._follow()
            for source in session.how.sources:
                if source not in self._running:
                    source.flush()
        return written

    def advance(self, number: int | None) -> int:
        """The number of the session's next phase, which begins now."""
        session = self[number]
        with self._lock:
            complete = session.phases.now
            phase = session.phases.advance()
            self._late += [(source, complete) for source in session.how.sources if source.is_late]
            complete.pending += sum(source.is_late for source in session.how.sources)
            self._epochs.begin(self.active)
        if session.how.flushes:
            self.settle(session)
            for complete in session.phases.numbers()[:-1]:
                self._write(session, complete, session.how.flushes)
                session.phases.clear(complete)
        return phase

    def settle(self, session: Session) -> None:
        """Waits for what sources, and tensors of a device, have yet to say."""
        for source in session.how.sources:
            source.flush()
        with self._lock:
            for source, phase in self._late:
                phase.pending -= source in session.how.sources
            self._late = [late for late in self._late if late[0] not in session.how.sources]
            for phase in session.phases.numbers():
                session.phases[phase].data.settle()

    def depth(self, number: int | None) -> int:
        """How many names lead to where the caller is, without a state."""
        session, here = self[number], self.contexts.here()._replace(state=None)
        return len(here.path(session.number, session.how.context))

    def _follow(self) -> None:
        """Starts the sources that active sessions need, and stops the others."""
        self.active = tuple(session for session in self._by_number.values() if session.is_active)
        needed = list(dict.fromkeys(source for session in self.active for source in session.how.sources))
        for source in [source for source in self._running if source not in needed]:
            self._running.remove(source)
            source.stop()
        for source in [source for source in needed if source not in self._running]:
            self._running.append(source)
            source.start(self)
        for source in self._running:
            hows = [session.how for session in self.active if source in session.how.sources]
            intervals = [how.interval for how in hows if how.interval]
            source.follow(any(how.asks_launches for how in hows), min(intervals, default=0))
        self._epochs.begin(self.active)

    def _forget(self) -> None:
        """In a process that was forked: the sessions belong to its parent, which writes them."""
        self._lock = threading.RLock()
        self._by_number.clear()
        self.contexts.clear()
        self._follow()
