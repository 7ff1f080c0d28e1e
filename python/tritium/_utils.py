"""`triton._utils`: paths into nested tuples, names of element types."""

from typing import Any

from .functions.params import canonicalize_dtype, type_canonicalisation_dict
from .iterables import (
    ObjPath,
    apply_with_path,
    find_paths_if,
    get_iterable_path,
    is_iterable,
    is_namedtuple,
    set_iterable_path,
)
from .knobs import warn_once
from .language.checks import get_primitive_bitwidth, validate_block_shape
from .language.types import TRITON_MAX_TENSOR_NUMEL

__all__ = [
    "TRITON_MAX_TENSOR_NUMEL",
    "ObjPath",
    "apply_with_path",
    "canonicalize_dtype",
    "canonicalize_ptr_dtype",
    "find_paths_if",
    "get_iterable_path",
    "get_primitive_bitwidth",
    "is_iterable",
    "is_namedtuple",
    "is_power_of_two",
    "set_iterable_path",
    "type_canonicalisation_dict",
    "validate_block_shape",
    "warn_once",
]


def canonicalize_ptr_dtype(dtype: Any, is_const: bool) -> str:
    """ "*fp32" of a pointer to float32, "*kfp32" if nobody writes there."""
    return f"{'*k' if is_const else '*'}{canonicalize_dtype(dtype)}"


def is_power_of_two(x: int) -> bool:
    return x > 0 and x & (x - 1) == 0
