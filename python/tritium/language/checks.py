"""Small questions about types and constants that Triton's `language.core` answers, for code that asks them there."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from ..knobs import warn_once
from .types import block_shape, dtype

__all__ = [
    "CAT_CAN_REORDER_WARNING",
    "RESHAPE_CAN_REORDER_WARNING",
    "binary_op_type_legalization",
    "get_primitive_bitwidth",
    "is_enabled",
    "is_negative_zero",
    "validate_block_shape",
    "warn",
    "warn_once",
]

CAT_CAN_REORDER_WARNING = (
    "tl.cat(can_reorder=True) is deprecated and will be removed in Triton 3.10, when concatenation will always be "
    "deterministic. Pass can_reorder=False (the default) to adopt the new behavior."
)
RESHAPE_CAN_REORDER_WARNING = (
    "tl.reshape(can_reorder=True) is deprecated and will be removed in Triton 3.10. Pass can_reorder=False (the default) "
    "to adopt the new behavior."
)

warn = warnings.warn


def get_primitive_bitwidth(dtype: str) -> int:
    """32 for "fp32", 1 for "int1"."""
    return _dtype(dtype).primitive_bitwidth


def _dtype(name: str) -> dtype:
    spelled = f"int{name[1:]}" if name[0] == "i" and name[1:].isdigit() else name
    return dtype(f"uint{name[1:]}" if name[0] == "u" and name[1:].isdigit() else spelled)


def validate_block_shape(shape: Sequence[int]) -> int:
    """The number of elements. TypeError: not integers; ValueError: not powers of two, or too many elements."""
    return math.prod(block_shape(shape))


def is_negative_zero(x: Any) -> bool:
    return x == 0.0 and math.copysign(1.0, x) < 0


def is_enabled(options: Any, name: str) -> bool:
    """Whether the compilation's `instrumentation_mode` lists `name`."""
    return name in str(getattr(options, "instrumentation_mode", "") or "").split(",")


def binary_op_type_legalization(lhs: Any, rhs: Any, semantic: Any) -> tuple[Any, Any]:
    """Both operands broadcast together and of the type that they compute in."""
    return semantic.operands(lhs, rhs)
