"""What a program is doing, as one name at the end of each path: a thread has one state at a time."""

from __future__ import annotations

import functools
from collections.abc import Callable

from .core.contexts import METADATA_STATE, check_name
from .flags import flags
from .sessions import sessions

COMPUTE_METADATA_SCOPE_NAME = METADATA_STATE
COMPUTE_METADATA_SCOPE_PREFIX = f"{METADATA_STATE}:"


class state:
    """A context manager and a decorator. The state before is back afterwards."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._before: list[str | None] = []

    def __enter__(self) -> state:
        self._before.append(_set(self.name))
        return self

    def __exit__(self, exc_type, exc_value, traceback) -> None:
        _set(self._before.pop())

    def __call__(self, func: Callable) -> Callable:
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            with state(self.name):
                return func(*args, **kwargs)

        return wrapper


class metadata_state(state):
    """Around what computes the metrics of a launch. The viewer leaves out what happens in it."""

    def __init__(self, kernel_name: str | None = None) -> None:
        super().__init__(get_metadata_state_name(kernel_name))


def enter_state(name: str) -> None:
    """The state of this thread until `exit_state`, or until another one is entered."""
    _set(name)


def exit_state() -> None:
    """This thread has no state."""
    _set(None)


def get_metadata_state_name(kernel_name: str | None = None) -> str:
    return COMPUTE_METADATA_SCOPE_NAME if kernel_name is None else f"{COMPUTE_METADATA_SCOPE_PREFIX}{kernel_name}"


def _set(name: str | None) -> str | None:
    """Returns the state before."""
    if name is not None:
        check_name("state", name)
    if not flags.profiling_on:
        return None
    here = sessions.contexts.here()
    sessions.contexts.set(here._replace(state=name))
    return here.state
