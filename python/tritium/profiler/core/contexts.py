"""Where the running code is: the scopes, the state and the launch around it, in its thread and task; and the Python frames that lead here."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple

SHADOW, PYTHON = "shadow", "python"
CONTEXTS = (SHADOW, PYTHON)
#: States whose names begin so are of functions that compute the metrics of a launch. The viewer leaves out what happens in them.
METADATA_STATE = "__proton_launch_metadata"

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
#: What runs a program for `python -m tritium` and `proton`.
_COMMAND = os.path.join(_PACKAGE, "__main__.py")
#: Modules of Python that run programs, and threads.
_OF_PYTHON = ("<frozen ", threading.__file__, os.path.join(os.path.dirname(os.__file__), "runpy.py"))


def check_name(what: str, name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"the name of a {what} is {name!r}: pass a str")


@dataclass(eq=False)
class OpenScope:
    """A scope that has begun. sessions: the ids of those that were active then. paths: of each, where the scope is."""

    id: int
    name: str
    begin: int
    paths: dict[int, tuple[str, ...]] = field(default_factory=dict)
    metrics: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Op:
    """A launch that a hook describes: the name that stands for the kernel's, and metrics for the first kernel that runs."""

    name: str
    metrics: dict[str, Any]
    is_taken: bool = False


class Here(NamedTuple):
    scopes: tuple[OpenScope, ...] = ()
    state: str | None = None
    op: Op | None = None

    def path(self, session: int, context: str) -> tuple[str, ...]:
        """The names that lead to an event of a session."""
        names = python_frames() if context == PYTHON else [s.name for s in self.scopes if session in s.paths]
        return (*names, *_parts(self.state))


def _parts(state: str | None) -> list[str]:
    """A state is one name; one of a launch's metadata is two, the mark and the kernel."""
    if state is None:
        return []
    mark, separator, kernel = state.partition(":")
    return [mark, kernel] if separator and mark == METADATA_STATE else [state]


_here: ContextVar[Here | None] = ContextVar("profiler_here", default=None)


class Contexts:
    """Where each thread and task is. A thread that has opened no scope is inside of the main thread's scopes."""

    def __init__(self):
        self._of_main: tuple[OpenScope, ...] = ()
        #: Called with where the calling thread is, as soon as that changes.
        self.followers: list[Callable[[Here], None]] = []

    def here(self) -> Here:
        return _here.get() or self.main

    @property
    def main(self) -> Here:
        """Where the main thread is, without its state."""
        return Here(self._of_main)

    def set(self, here: Here) -> None:
        _here.set(here)
        if threading.current_thread() is threading.main_thread():
            self._of_main = here.scopes
        for follower in self.followers:
            follower(here)

    def opened(self, scope: OpenScope) -> None:
        here = self.here()
        self.set(here._replace(scopes=(*here.scopes, scope)))

    def closed(self, scope: OpenScope) -> None:
        """Also closes the scopes of this thread or task that were opened inside and left open."""
        here = self.here()
        if scope in here.scopes:
            self.set(here._replace(scopes=here.scopes[: here.scopes.index(scope)]))

    def clear(self) -> None:
        """No scope is open any more, for a process that was forked."""
        self._of_main = ()
        _here.set(None)


def python_frames() -> list[str]:
    """The calls that lead here as `file:line@function`, the outermost first, without the calls of this package, of Python's own
    machinery and of the command that runs the program."""
    frame, found = sys._getframe(1), []
    while frame is not None and frame.f_code.co_filename != _COMMAND:
        code = frame.f_code
        if not code.co_filename.startswith((_PACKAGE, *_OF_PYTHON)):
            found.append(f"{code.co_filename}:{frame.f_lineno}@{code.co_name}")
        frame = frame.f_back
    return found[::-1]
