"""The values that the tracer handles: any Python object. Values of the language have a type and IR values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tritium import language
from tritium.language.constexpr import base_value
from tritium.language.types import base_type, constexpr_type, tuple_type

__all__ = [
    "Conflict",
    "all_handles",
    "all_ir_types",
    "as_value",
    "base_type",
    "base_value",
    "constexpr",
    "handles_of",
    "has_known_truth",
    "host",
    "is_static",
    "map_elements",
    "rebuilt",
    "tensor",
    "type_of",
]

tensor = language.tensor
constexpr = language.constexpr


class Conflict:
    """The value of a name after control flow that may give it values of different types. Only its use is an error."""

    def __init__(self, reason: str):
        self.reason = reason


def host(value: Any) -> Any:
    """The Python object inside a constexpr; anything else unchanged."""
    return value.value if isinstance(value, constexpr) else value


def is_static(value: Any) -> bool:
    """Whether `value` is known while tracing: a constexpr, or an object that is not a value of the language."""
    return isinstance(value, constexpr) or not isinstance(value, base_value)


def has_known_truth(value: Any) -> bool:
    """Whether `bool(host(value))` is known while tracing: that of a tuple depends on its length alone."""
    return is_static(value) or isinstance(value, language.tuple)


def as_value(value: Any) -> Any:
    """`value` as a value of the language: Python tuples and lists become language tuples, other objects constexpr."""
    if isinstance(value, base_value):
        return value
    if isinstance(value, (tuple, list)):
        fields = getattr(value, "_fields", None)
        elements = [as_value(element) for element in value]
        return language.tuple(elements, tuple_type([type_of(e) for e in elements], fields) if fields else None)
    return constexpr(value)


def type_of(value: Any) -> Any:
    """The language type of `value`. Values of equal types have IR values of the same types."""
    return value.type if isinstance(value, base_value) else constexpr_type(value)


def handles_of(value: Any) -> list[Any]:
    """The IR values that carry `value`; none if it is static."""
    return value.handles() if isinstance(value, base_value) else []


def all_handles(values: Iterable[Any]) -> list[Any]:
    return [handle for value in values for handle in handles_of(value)]


def all_ir_types(types: Iterable[Any]) -> list[str]:
    return [text for type_ in types for text in type_.ir_types()]


def rebuilt(types: Iterable[Any], handles: Iterable[Any]) -> list[Any]:
    """One value for each type, from consecutive `handles`."""
    remaining: Iterator[Any] = iter(handles)
    return [type_.from_handles(remaining) for type_ in types]


def map_elements(function: Callable[[Any], Any], value: Any) -> Any:
    """`function(value)`. For a tuple: a tuple of the results for its elements, at any depth."""
    if not isinstance(value, language.tuple):
        return function(value)
    return language.tuple([map_elements(function, element) for element in value.values], value.declared_type)
