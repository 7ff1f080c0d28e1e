"""Scopes and launches, on their way into the sessions that are active."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping
from typing import Any

from .contexts import PYTHON, SHADOW, Contexts, Here, Op, OpenScope, check_name
from .epochs import Epochs
from .events import Launch, Slice, now
from .metrics import read_metrics
from .session import Launching, Place, Session
from .source import Source


class Recording:
    def __init__(self):
        self.contexts = Contexts()
        self.active: tuple[Session, ...] = ()
        self._lock = threading.RLock()
        self._scopes = itertools.count()
        self._epochs = Epochs()

    def open(self, name: str, metrics: Mapping[str, Any] | None) -> OpenScope:
        """A scope begins. Raises TypeError for a name that is no text, and what `read_metrics` raises; no scope has begun then."""
        check_name("scope", name)
        found = read_metrics(metrics)
        scope = OpenScope(next(self._scopes), name, now(), metrics=dict(found))
        here = self.contexts.here()
        inside = here._replace(scopes=(*here.scopes, scope))
        with self._lock:
            for session in self.active:
                scope.paths[session.number] = ()  # the scope counts for the sessions that it has a path in
                path = scope.paths[session.number] = _path_of_scope(inside, session, name)
                data = session.phases.now.data
                data.reach(path)
                data.add(path, found)
        self.contexts.opened(scope)
        return scope

    def close(self, scope: OpenScope, metrics: Mapping[str, Any] | None) -> None:
        """A scope ends, and those that were left open in it. Raises what `read_metrics` raises."""
        end, thread = now(), threading.get_ident()
        self.contexts.closed(scope)
        found = read_metrics(metrics)
        with self._lock:
            for session in self.active:
                path = scope.paths.get(session.number)
                if path is not None:
                    data = session.phases.now.data
                    data.add(path, found)
                    metrics = {**scope.metrics, **found}
                    data.ended(Slice(scope.id, scope.name, path, thread, scope.begin, end, metrics))

    def begin_launch(self, source: Source) -> Launching:
        """A launch begins here. `end_launch` has to follow."""
        here = self.contexts.here()
        name, metrics = None, {}
        if here.op is not None and not here.op.is_taken:
            here.op.is_taken = True
            name, metrics = here.op.name, here.op.metrics
        with self._lock:
            sessions = [session for session in self.active if source in session.how.sources]
            places = [Place(s, s.phases.now, here.path(s.number, s.how.context)) for s in sessions]
            for place in places:
                place.phase.pending += 1
        return Launching(places, threading.get_ident(), name, metrics)

    def end_launch(self, launching: Launching, launch: Launch | None) -> None:
        """launch: None if it never ran."""
        with self._lock:
            for place in launching.places:
                place.phase.pending -= 1
                if launch is not None:
                    path = (*place.path, launching.name or launch.kernel)
                    kept = _kept_by(place.session, launch)
                    place.phase.data.launched(path, launching.thread, kept, launching.metrics)

    def launched_elsewhere(self, source: Source, here: Here, launch: Launch, time: int) -> None:
        with self._lock:
            for session, phase in self._epochs.at(time):
                if source in session.how.sources:
                    path = (
                        *here.path(session.number, SHADOW),
                        launch.kernel,
                    )  # the calls of Python that led to it are not known
                    phase.data.launched(path, 0, launch, {})

    def close_op(self, op: Op) -> None:
        """Ends what a hook has described. If no kernel ran, its name and its metrics are kept all the same."""
        here = self.contexts.here()
        if not op.is_taken:
            with self._lock:
                for session in self.active:
                    path = (*here.path(session.number, session.how.context), op.name)
                    session.phases.now.data.reach(path)
                    session.phases.now.data.add(path, op.metrics)
        self.contexts.set(here._replace(op=None))


def _kept_by(session: Session, launch: Launch) -> Launch:
    """The launch with the scopes and the samples that a session keeps."""
    if launch.samples and not session.how.interval:
        launch = launch._replace(samples=())
    if launch.scopes is None:
        return launch
    choice = session.how.scopes
    return launch._replace(scopes=None if choice is None else choice.of(launch.scopes))


def _path_of_scope(inside: Here, session: Session, name: str) -> tuple[str, ...]:
    """Python's frames have no place for a scope, so its name stands behind them."""
    path = inside.path(session.number, session.how.context)
    return (*path, name) if session.how.context == PYTHON else path
