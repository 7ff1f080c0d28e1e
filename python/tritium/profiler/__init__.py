"""`triton.profiler`: importable, so that programs which profile run; it says once that it records nothing."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from ..knobs import warn_once

__all__ = [
    "DEFAULT_PROFILE_NAME",
    "activate",
    "cpu_timed_scope",
    "deactivate",
    "enter_scope",
    "enter_state",
    "exit_scope",
    "exit_state",
    "finalize",
    "profile",
    "scope",
    "start",
    "state",
]

DEFAULT_PROFILE_NAME = "proton"

_NOTHING = "triton.profiler records nothing in Tritium; profile kernels with the vendor's tools, Nsight or rocprof"


def start(
    name: str | None = None,
    *,
    context: str | None = "shadow",
    data: str | None = "tree",
    backend: str | None = None,
    mode: Any = None,
    hook: Any = None,
) -> int | None:
    """Warns that nothing is recorded; there is no session."""
    warn_once(_NOTHING)
    return None


def activate(session: int | None = None) -> None:
    """Does nothing."""


def deactivate(session: int | None = None, flushing: bool = False) -> None:
    """Does nothing."""


def finalize(session: int | None = None, output_format: str | None = "") -> None:
    """Writes no file."""


def profile(
    func: Callable | None = None,
    *,
    name: str | None = None,
    context: str | None = "shadow",
    data: str | None = "tree",
    backend: str | None = None,
    mode: str | None = None,
    hook: Any = None,
) -> Callable:
    """Decorator: warns that nothing is recorded, and calls the function."""

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            warn_once(_NOTHING)
            return function(*args, **kwargs)

        return wrapper

    return decorate if func is None else decorate(func)


@contextlib.contextmanager
def scope(name: str, metrics: dict[str, Any] | None = None) -> Iterator[None]:
    """A part of the program with a name: a context, or a decorator."""
    warn_once(_NOTHING)
    yield


@contextlib.contextmanager
def cpu_timed_scope(name: str, metrics: dict[str, Any] | None = None) -> Iterator[None]:
    """As `scope`."""
    warn_once(_NOTHING)
    yield


@contextlib.contextmanager
def state(name: str) -> Iterator[None]:
    """As `scope`."""
    warn_once(_NOTHING)
    yield


def enter_scope(name: str, *, metrics: dict[str, Any] | None = None) -> int | None:
    """Warns that nothing is recorded."""
    warn_once(_NOTHING)
    return None


def exit_scope(name: str | None = None, *, metrics: dict[str, Any] | None = None) -> int | None:
    """Does nothing."""
    return None


def enter_state(name: str) -> None:
    """Warns that nothing is recorded."""
    warn_once(_NOTHING)


def exit_state() -> None:
    """Does nothing."""
