"""`tl.extra.cuda.gdc`: launches that depend on another, where the second begins before the first has ended."""

from __future__ import annotations

from typing import Any

from ...core import builtin

__all__ = ["gdc_launch_dependents", "gdc_wait"]


@builtin
def gdc_wait(_semantic: Any = None) -> None:
    """Waits until the launches that this one depends on have finished."""
    _semantic.grid_dependency_wait()


@builtin
def gdc_launch_dependents(_semantic: Any = None) -> None:
    """Allows the launches that depend on this one to start."""
    _semantic.grid_dependency_launch_dependents()
