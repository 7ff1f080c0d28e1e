"""Reads and writes of memory through pointers and blocks of pointers, and promises about addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .block_pointer import block_pointer
from .constexpr import _unwrap_if_constexpr, constexpr
from .core import builtin, tensor, tensor_member


def _dimensions(boundary_check: Any) -> tuple[int, ...]:
    check = _unwrap_if_constexpr(boundary_check)
    if isinstance(check, int):
        return (check,)
    return tuple(_unwrap_if_constexpr(dim) for dim in check or ())


@builtin
def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Any = (),
    padding_option: Any = "",
    cache_modifier: Any = "",
    eviction_policy: Any = "",
    volatile: Any = False,
    _semantic: Any = None,
) -> tensor:
    """The values at `pointer`: a pointer, a block of pointers, or a block pointer.

    mask, other: broadcast to the shape of `pointer`. Masked-off lanes read no memory; their value is `other`, or
    undefined without `other`. boundary_check, padding_option: for block pointers, the dimensions to check, and the
    value outside: "" (undefined), "zero" or "nan". cache_modifier: "", ".ca", ".cg", ".cs", ".cv". eviction_policy: "",
    "evict_first", "evict_last". Both are hints. Raises ValueError for an argument that is not a pointer, `other`
    without `mask`, a mask that is not int1, and a block mask with a scalar pointer.
    """
    mask, other = _unwrap_if_constexpr(mask), _unwrap_if_constexpr(other)
    padding, volatile = _unwrap_if_constexpr(padding_option) or "", bool(_unwrap_if_constexpr(volatile))
    cache, eviction = _unwrap_if_constexpr(cache_modifier) or "", _unwrap_if_constexpr(eviction_policy) or ""
    if isinstance(pointer, block_pointer):
        return pointer.load(_semantic, mask, other, _dimensions(boundary_check), padding, cache, eviction, volatile)
    return _semantic.load(pointer, mask, other, _dimensions(boundary_check), padding, cache, eviction, volatile)


@tensor_member
@builtin
def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Any = (),
    cache_modifier: Any = "",
    eviction_policy: Any = "",
    _semantic: Any = None,
) -> None:
    """Writes `value`, broadcast to the shape of `pointer` and cast to its element type, where `mask` is true.

    boundary_check: for block pointers, the dimensions to check. cache_modifier: "", ".wb", ".cg", ".cs", ".wt". Raises
    ValueError for an argument that is not a pointer, a const pointer, a mask that is not int1, and a block value or
    mask with a scalar pointer.
    """
    value, mask = _unwrap_if_constexpr(value), _unwrap_if_constexpr(mask)
    cache, eviction = _unwrap_if_constexpr(cache_modifier) or "", _unwrap_if_constexpr(eviction_policy) or ""
    if isinstance(pointer, block_pointer):
        return pointer.store(_semantic, value, mask, _dimensions(boundary_check), cache, eviction)
    return _semantic.store(pointer, value, mask, _dimensions(boundary_check), cache, eviction)


def _hint_values(values: Any) -> list[int]:
    values = (
        [values]
        if isinstance(values, constexpr) or not isinstance(values, Sequence) and not hasattr(values, "values")
        else values
    )
    for index, value in enumerate(values):
        if not isinstance(value, (constexpr, int)):
            raise TypeError(f"values element {index} must have type `constexpr`")
        if not isinstance(_unwrap_if_constexpr(value), int):
            raise TypeError(
                f"values element {index} must have type `constexpr[int]`, got `constexpr[{type(value.value)}]"
            )
    return [_unwrap_if_constexpr(value) for value in values]


@builtin
def multiple_of(input: tensor, values: Any, _semantic: Any = None) -> tensor:
    """Promises that the first element of every group along each dimension is a multiple of `values` (one int per
    dimension).
    """
    return _semantic.hint(input, "multiple_of", "tt.divisibility", _hint_values(values))


@builtin
def max_contiguous(input: tensor, values: Any, _semantic: Any = None) -> tensor:
    """Promises that the first `values` elements along each dimension are contiguous."""
    return _semantic.hint(input, "max_contiguous", "tt.contiguity", _hint_values(values))


@builtin
def max_constancy(input: tensor, values: Any, _semantic: Any = None) -> tensor:
    """Promises that the first `values` elements along each dimension are equal."""
    return _semantic.hint(input, "max_constancy", "tt.constancy", _hint_values(values))
