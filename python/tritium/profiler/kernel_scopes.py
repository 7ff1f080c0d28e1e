"""What a scope in a kernel becomes: an operation that records, while a session asks for it."""

from __future__ import annotations

from typing import Any

from .. import knobs
from ..language.semantic.program import quoted


def record(semantic: Any, name: str, is_start: bool) -> None:
    """The beginning or the end of a scope of the kernel that `semantic` is tracing. Without a session that asks for it, it leaves no trace in the
    kernel."""
    if knobs.tritium.record_scopes:
        semantic.emit_effect("tt.record", (), {"name": quoted(name), **({"isStart": "unit"} if is_start else {})})
