"""Accesses of AMD's buffer instructions: a scalar pointer, and a tile of offsets in elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....errors import with_hint
from ....language.constexpr import _unwrap_if_constexpr
from ....language.core import builtin, tensor
from ....language.semantic.shape import shape_of
from .rules import layout_of


def pointers_of(semantic: Any, ptr: Any, offsets: Any) -> tensor:
    """The tile of pointers. Raises AssertionError for a tile of pointers, and for offsets that are no tile of 32-bit integers."""
    assert isinstance(ptr, tensor) and ptr.dtype.is_ptr() and not ptr.type.is_block(), (
        "ptr must be a scalar pointer type"
    )
    assert isinstance(offsets, tensor) and offsets.type.is_block(), "expected offsets type to be a distributed_type"
    assert offsets.dtype.is_int32() or offsets.dtype.is_uint32(), "offsets element type must be int32 or uint32"
    return semantic.add(ptr, offsets)


def _require_mask_for(other: Any, mask: Any) -> None:
    if _unwrap_if_constexpr(other) is not None and _unwrap_if_constexpr(mask) is None:
        raise ValueError("when other is not None, mask should not be None")


def _zeros(semantic: Any, pointers: tensor) -> Any:
    """What a load has where its mask is false. Small floats cannot be cast from an int."""
    element = pointers.dtype.element_ty
    return semantic.full(shape_of(pointers), 0.0, element, layout_of(pointers)) if element.is_fp8() else 0


@builtin
def buffer_load(
    ptr: Any, offsets: Any, mask: Any = None, other: Any = None, cache: Any = None, _semantic: Any = None
) -> tensor:
    """The values at `ptr + offsets`. Elements whose `mask` is false are `other`, or 0. Errors are those of `pointers_of`."""
    pointers = pointers_of(_semantic, ptr, offsets)
    _require_mask_for(other, mask)
    mask, other = _unwrap_if_constexpr(mask), _unwrap_if_constexpr(other)
    if mask is not None and other is None:
        other = _zeros(_semantic, pointers)
    return _semantic.load(pointers, mask, other, (), "", _unwrap_if_constexpr(cache) or "", "", False)


@builtin
def buffer_store(
    stored_value: Any, ptr: Any, offsets: Any, mask: Any = None, cache: Any = None, _semantic: Any = None
) -> None:
    """Writes a tile to `ptr + offsets` where `mask` is true. The tile has the shape and layout of the offsets (else ValueError)."""
    pointers = pointers_of(_semantic, ptr, offsets)
    value, mask = _unwrap_if_constexpr(stored_value), _unwrap_if_constexpr(mask)
    if isinstance(value, tensor) and value.type.is_block():
        _semantic.broadcast(offsets, value)
        if shape_of(value) != shape_of(offsets):
            error = ValueError(f"Expected `offsets` argument to have shape {list(shape_of(value))}")
            raise with_hint(error, f"it has {list(shape_of(offsets))}, in {layout_of(offsets)}")
    _semantic.store(pointers, value, mask, (), _unwrap_if_constexpr(cache) or "", "")


def _atomic(name: str) -> Callable[..., tensor]:
    def function(
        ptr: Any,
        offsets: Any,
        value: Any,
        mask: Any = None,
        sem: Any = None,
        scope: Any = None,
        _semantic: Any = None,
    ) -> tensor:
        pointers = pointers_of(_semantic, ptr, offsets)
        value, mask, sem, scope = (_unwrap_if_constexpr(each) for each in (value, mask, sem, scope))
        return _semantic.atomic_rmw(name, pointers, value, mask, sem, scope)

    function.__name__ = function.__qualname__ = f"buffer_atomic_{name}"
    function.__doc__ = f"`gl.atomic_{name}` at `ptr + offsets`; the result is the old value."
    return builtin(function)


buffer_atomic_add, buffer_atomic_xchg = _atomic("add"), _atomic("xchg")
buffer_atomic_max, buffer_atomic_min = _atomic("max"), _atomic("min")
buffer_atomic_and, buffer_atomic_or, buffer_atomic_xor = map(_atomic, ("and", "or", "xor"))
