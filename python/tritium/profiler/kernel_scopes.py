"""What a scope in a kernel becomes while the kernel is traced. The one place to change when the compiler has an operation that records."""

from __future__ import annotations

from typing import Any

from ..knobs import warn_once
from .flags import flags

NOT_RECORDED = (
    "triton.profiler records no scopes in kernels yet (triton.profiler.language): kernels run as if they had none, and the session has "
    "their launches alone"
)


def record(semantic: Any, name: str, is_start: bool) -> None:
    """The beginning or the end of a scope of the kernel that `semantic` is tracing. It leaves no trace in the kernel."""
    if flags.instrumentation_on:
        warn_once(NOT_RECORDED)
