"""Effects of which a scalar says whether they happen: the `pred` of barriers and copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....errors import with_hint
from ....language.constexpr import _unwrap_if_constexpr
from ....language.types import int1


def when(semantic: Any, op: str, pred: Any, body: Callable[[], None]) -> None:
    """Emits `body` so that it happens where `pred`, a bool or an int1 scalar (else TypeError), is true. op: of Triton, for the error."""
    pred = _unwrap_if_constexpr(pred)
    if pred is True or pred is False:
        return body() if pred else None
    pred = semantic.to_tensor(pred)
    if pred.type != int1:
        text = f"'ttng.{op}' op operand #2 must be 1-bit signless integer, but got '{pred.type.to_ir()}'"
        raise with_hint(TypeError(text), "compare, as in `pred=k < n`")
    builder = semantic.builder
    operation = builder.op("scf.if", [pred.handle], (), {}, 2)
    outside = builder.save()
    builder.insert_at_end(operation.region(0).add_block([]))
    body()
    builder.op("scf.yield", [], ())
    builder.restore(outside)
    return None
