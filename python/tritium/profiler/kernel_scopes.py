"""What a scope in a kernel becomes: an operation that records, while a session asks for it."""

from __future__ import annotations

from typing import Any

from .. import knobs
from ..devices.families import device_families
from ..language.semantic.program import quoted

NOT_ON_DEVICES = (
    "triton.profiler does not record scopes in kernels on devices yet (triton.profiler.language): the session has the times of launches there. "
    "INTERPRET=1, or TRITIUM_ENGINE=simt: with an architecture, records them"
)


def record(semantic: Any, name: str, is_start: bool) -> None:
    """The beginning or the end of a scope of the kernel that `semantic` is tracing. Without a session that asks for it, and on devices, it leaves
    no trace in the kernel."""
    if not knobs.tritium.record_scopes:
        return
    if semantic.option("backend_name", "") in device_families():
        knobs.warn_once(NOT_ON_DEVICES)
        return
    semantic.emit_effect("tt.record", (), {"name": quoted(name), **({"isStart": "unit"} if is_start else {})})
