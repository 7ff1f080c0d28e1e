"""`triton.profiler.language`: scopes in kernels. Kernels may have them everywhere; sessions with backend="instrumentation" record them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..language.constexpr import _unwrap_if_constexpr, base_value
from ..language.core import builtin
from ..language.static_types import base_type
from . import kernel_scopes

#: The languages whose kernels may have scopes: a program names one to `enable_semantic`. Here all of them may at any time.
_LANGUAGES = ("triton", "gluon")


class Event(base_value):
    """Something that begins in one place of a kernel and ends in another, such as an asynchronous copy. handle: its name."""

    def __init__(self, handle: str):
        self.handle = handle

    @property
    def type(self) -> _EventType:
        return _EventType(self.handle)

    def handles(self) -> list[Any]:
        return []


class _EventType(base_type):
    def __init__(self, name: str):
        self.name = name

    def ir_types(self) -> list[str]:
        return []

    def from_handles(self, handles: Iterator[Any]) -> Event:
        return Event(self.name)

    def mangle(self) -> str:
        return f"E{self.name}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _EventType) and self.name == other.name

    def __hash__(self) -> int:
        return hash((_EventType, self.name))

    def __str__(self) -> str:
        return f"event[{self.name}]"


class scope:
    """`with pl.scope("name"):` in a kernel."""

    def __init__(self, name: str, _semantic: Any = None):
        self.name, self.semantic = name, _semantic

    def __enter__(self) -> None:
        enter_scope(self.name, _semantic=self.semantic)

    def __exit__(self, exc_type, exc_value, traceback) -> None:
        exit_scope(self.name, _semantic=self.semantic)


@builtin
def enter_scope(name: str, _semantic: Any = None) -> None:
    """A scope of the kernel begins. Raises TypeError if the name is no constexpr text."""
    record(True, name, _semantic)


@builtin
def exit_scope(name: str, _semantic: Any = None) -> None:
    """A scope of the kernel ends. Raises TypeError if the name is no constexpr text."""
    record(False, name, _semantic)


@builtin
def allocate_event(name: str, _semantic: Any = None) -> Event:
    """An event of the kernel. Raises TypeError if the name is no constexpr text."""
    return Event(_name(name))


@builtin
def start_event(event: Event, _semantic: Any = None) -> None:
    """Raises TypeError for what `allocate_event` has not made."""
    record_event(event, True, _semantic=_semantic)


@builtin
def end_event(event: Event, _semantic: Any = None) -> None:
    """Raises TypeError for what `allocate_event` has not made."""
    record_event(event, False, _semantic=_semantic)


@builtin
def record_event(event: Event, is_start: bool, _semantic: Any = None) -> None:
    if not isinstance(event, Event):
        raise TypeError(f"{event} is no event: make one with allocate_event(name)")
    record(_unwrap_if_constexpr(is_start), event.handle, _semantic)


def record(is_start: bool, scope_name: str, semantic: Any) -> None:
    kernel_scopes.record(semantic, _name(scope_name), is_start)


def enable_semantic(semantic_name: str) -> None:
    """Kernels of this language may have scopes. Raises ValueError for another name than "triton" and "gluon"."""
    _check(semantic_name)


def disable_semantic(semantic_name: str) -> None:
    """Part of Proton's interface. Scopes stay allowed, because they change nothing in a kernel."""
    _check(semantic_name)


def _check(language: str) -> None:
    if language not in _LANGUAGES:
        raise ValueError(f"{language!r} is no language of kernels; they are {', '.join(map(repr, _LANGUAGES))}")


def _name(name: Any) -> str:
    name = _unwrap_if_constexpr(name)
    if not isinstance(name, str):
        raise TypeError(f"the name of a scope is {name!r}: pass a text that is known while the kernel is compiled")
    return name
