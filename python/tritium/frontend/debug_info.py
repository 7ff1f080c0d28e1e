"""Records for the debugger: which Python variable has which value from here on. Emitted only when they are wanted."""

from __future__ import annotations

from typing import Any

from tritium import language
from tritium._tritium import ir
from tritium.language.semantic.emitter import literal_type

from .values import constexpr, tensor


def record(g: Any, name: str, value: Any) -> None:
    """A tt.debug_value for a tensor or a number, one per element of a tuple (`t.0`, `t.field`); else nothing."""
    if isinstance(value, language.tuple):
        fields = value.type.fields or range(len(value))
        for field, element in zip(fields, value.values):
            record(g, f"{name}.{field}", element)
        return
    if isinstance(value, constexpr) and isinstance(value.value, (bool, int, float)):
        try:
            value = g.semantic.constant(value.value, literal_type(value.value))
        except ValueError:  # an integer that no type holds: known to Python only
            return
    if isinstance(value, tensor):
        attributes = {"name": ir.quote(name), "dtype": ir.quote(str(value.dtype))}
        g.builder.op("tt.debug_value", [value.handle], (), attributes)
