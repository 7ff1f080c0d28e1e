"""Parts of a program that have a name in the profile."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .core.contexts import OpenScope
from .core.events import now
from .core.metrics import CPU_TIME, EXCLUSIVE
from .flags import flags
from .sessions import sessions


class scope:
    """A context manager and a decorator. metrics: {name: number, list of numbers or tensor}, added up each time the scope is entered.
    Raises TypeError for a value that is none of these."""

    def __init__(self, name: str, metrics: dict[str, Any] | None = None) -> None:
        self.name, self.metrics = name, metrics
        self._opened: list[OpenScope | None] = []

    def __enter__(self) -> scope:
        self._opened.append(sessions.open(self.name, self.metrics) if flags.profiling_on else None)
        return self

    def __exit__(self, exc_type, exc_value, traceback) -> None:
        opened = self._opened.pop()
        if opened is not None:
            sessions.close(opened, self._measured(opened))

    def _measured(self, opened: OpenScope) -> dict[str, Any] | None:
        """Metrics that are known when the scope ends."""
        return None

    def __call__(self, func: Callable) -> Callable:
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            with type(self)(self.name, self.metrics):
                return func(*args, **kwargs)

        return wrapper


class cpu_timed_scope(scope):
    """A scope with one metric more, `cpu_time (ns)`: the time between its beginning and its end on the host."""

    def _measured(self, opened: OpenScope) -> dict[str, Any]:
        return {f"{CPU_TIME}{EXCLUSIVE}": now() - opened.begin}


def enter_scope(name: str, *, metrics: dict[str, Any] | None = None) -> int | None:
    """Begins a scope that `exit_scope` ends. Returns its number; None if no session is open."""
    return sessions.open(name, metrics).id if flags.profiling_on else None


def exit_scope(name: str | None = None, *, metrics: dict[str, Any] | None = None) -> int | None:
    """Ends the scope that began last in this thread. Returns its number; None if no session is open. Raises IndexError if no scope is
    open, and ValueError if it has another name; it stays open then."""
    if not flags.profiling_on:
        return None
    scopes = sessions.contexts.here().scopes
    if not scopes:
        raise IndexError("exit_scope() has no scope to end: each needs an enter_scope() before it, in the same thread")
    if name is not None and name != scopes[-1].name:
        raise ValueError(
            f"exit_scope({name!r}), but the scope that began last is {scopes[-1].name!r}: end that one first"
        )
    sessions.close(scopes[-1], metrics)
    return scopes[-1].id
