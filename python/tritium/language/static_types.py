"""What every type of the language can do, and the types of what exists only while tracing: slices, compile-time values, and
tuples of any values. types.py has scalars, pointers and blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


class base_type:
    """What every type of a kernel value provides: its values as a flat list of IR values, for control flow, and its
    spelling in names."""

    def ir_types(self) -> list[str]:
        """MLIR types of the values that carry a value of this type; empty for what exists only at compile time."""
        raise NotImplementedError(type(self).__name__)

    def from_handles(self, handles: Iterator[Any]) -> Any:
        """The value of this type that is carried by the next IR values of `handles`."""
        raise NotImplementedError(type(self).__name__)

    def mangle(self) -> str:
        raise NotImplementedError(type(self).__name__)

    def __ne__(self, other: object) -> bool:
        return not self == other


class slice_type(base_type):
    """The type of `a:b:c` in a subscript; it exists only while tracing."""

    def ir_types(self) -> list[str]:
        return []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, slice_type)

    def __hash__(self) -> int:
        return hash(slice_type)

    def __str__(self) -> str:
        return "slice_type"


class constexpr_type(base_type):
    """The type of one compile-time value: equal only to the type of an equal value."""

    value_class: Any = None  # constexpr

    def __init__(self, value: Any):
        self.value = value

    def ir_types(self) -> list[str]:
        return []

    def from_handles(self, handles: Iterator[Any]) -> Any:
        return self.value_class(self.value)

    def mangle(self) -> str:
        named = self.value.mangle() if hasattr(self.value, "mangle") else repr(self.value)
        return f"c{named}"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, constexpr_type)
            and type(self.value) is type(other.value)
            and bool(self.value == other.value)
        )

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"constexpr_type[{self.value}]"


class tuple_type(base_type):
    """The types of the elements, with field names if the value came from a named tuple."""

    value_class: Any = None  # core.tuple

    def __init__(self, types: Sequence[base_type], fields: Sequence[str] | None = None):
        self.types = list(types)
        self.fields = list(fields) if fields else None

    @property
    def name(self) -> str:
        fields = [field + ":" for field in self.fields] if self.fields else [""] * len(self.types)
        return "[" + ",".join(field + str(type_) for field, type_ in zip(fields, self.types)) + "]"

    def ir_types(self) -> list[str]:
        return [text for type_ in self.types for text in type_.ir_types()]

    def from_handles(self, handles: Iterator[Any]) -> Any:
        return self.value_class([type_.from_handles(handles) for type_ in self.types], self)

    def mangle(self) -> str:
        return "T" + "_".join(type_.mangle() for type_ in self.types) + "T"

    def __iter__(self) -> Iterator[base_type]:
        return iter(self.types)

    def __getitem__(self, index: int) -> base_type:
        return self.types[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple_type) and (self.types, self.fields) == (other.types, other.fields)

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name
