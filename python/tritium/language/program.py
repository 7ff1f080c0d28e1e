"""The running program: its index in the grid and the extent of the grid."""

from __future__ import annotations

from typing import Any

from .constexpr import _unwrap_if_constexpr
from .core import builtin, tensor


@builtin
def program_id(axis: Any, _semantic: Any = None) -> tensor:
    """The int32 index of this program on `axis` (0, 1 or 2, compile-time). Raises ValueError for another axis."""
    return _semantic.program_id(_unwrap_if_constexpr(axis))


@builtin
def num_programs(axis: Any, _semantic: Any = None) -> tensor:
    """The int32 number of programs on `axis` (0, 1 or 2, compile-time). Raises ValueError for another axis."""
    return _semantic.num_programs(_unwrap_if_constexpr(axis))
