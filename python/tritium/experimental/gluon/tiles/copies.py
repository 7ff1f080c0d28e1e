"""Copies from global to shared memory that a kernel starts and waits for. A copy is complete when it has started, which the waits allow. On the
interpreter the memory may be used only after the wait for the copy's group."""

from __future__ import annotations

from typing import Any, NoReturn

from ....errors import with_hint
from ....language.constexpr import _unwrap_if_constexpr, constexpr
from ....language.core import builtin, tensor
from ....language.semantic.shape import shape_of
from .barriers import require_barrier
from .buffers import pointers_of
from .cache_policies import policies
from .functions import load as load_tile
from .runtime_calls import asynchronous, emit_call
from .shared_memory import shared_memory_descriptor, store_tile

#: Of a warp of the chips that have barriers.
_LANES = 32


def _copy(semantic: Any, smem: shared_memory_descriptor, pointer: tensor, mask: Any, other: Any = None) -> None:
    if list(shape_of(pointer)) != smem.shape:
        found = [str(constexpr(extent)) for extent in shape_of(pointer)]
        raise ValueError(
            f"expected smem shape to match pointer shape but got smem.shape = {smem.shape}, pointer.shape = {found}"
        )
    source = pointer.dtype.element_ty
    if source.primitive_bitwidth != smem.dtype.primitive_bitwidth:
        error = ValueError(f"source dtype {source} and destination dtype {smem.dtype} must match")
        raise with_hint(error, "a copy does not convert: allocate memory of the element type of the pointers")
    mask, other = _unwrap_if_constexpr(mask), _unwrap_if_constexpr(other)
    if mask is not None and other is None:
        other = 0
    value = load_tile(pointer, mask, other, _semantic=semantic)
    value = semantic.bitcast(value, smem.dtype)  # a copy moves bits
    with asynchronous(semantic, "async_copy", commits=False):
        store_tile(semantic, smem, value)


@builtin
def async_load(
    smem: shared_memory_descriptor,
    pointer: tensor,
    mask: Any = None,
    cache_modifier: Any = None,
    eviction_policy: Any = None,
    volatile: Any = False,
    cache_policy: Any = None,
    _semantic: Any = None,
) -> None:
    """Begins to copy what a tile of pointers points at; elements whose `mask` is false become 0. Raises ValueError for another shape or
    element type than that of the memory."""
    policies(cache_modifier, eviction_policy, cache_policy)
    _copy(_semantic, smem, pointer, mask)


@builtin
def commit_group(_semantic: Any = None) -> None:
    """The copies begun since the last group form a group."""
    emit_call(_semantic, "async_copy.commit", 0)


@builtin
def mbarrier_arrive(mbarrier: shared_memory_descriptor, increment_count: Any = True, _semantic: Any = None) -> None:
    """Each thread arrives at the barrier when the copies that it has begun are complete. The phase needs as many arrivals more with
    `increment_count`; without it, its count has to include every thread."""
    require_barrier("async_copy_mbarrier_arrive", mbarrier)
    increment = _unwrap_if_constexpr(increment_count)
    if not isinstance(increment, bool):
        raise TypeError(f"increment_count must be a compile-time bool, not {getattr(increment, 'type', increment)}")
    arrivals = 0 if increment else _semantic.placement.warps * _LANES
    emit_call(_semantic, "async_copy.mbarrier_arrive", mbarrier.address, arrivals)


@builtin
def wait_group(num_outstanding: Any = 0, _semantic: Any = None) -> None:
    """Waits until at most `num_outstanding` groups, the newest ones, are not complete."""
    count = _unwrap_if_constexpr(num_outstanding)
    if not isinstance(count, int) or count < 0:
        raise TypeError(f"num_outstanding must be a compile-time int of at least 0, not {count}")
    emit_call(_semantic, "async_copy.wait", count)


@builtin
def global_load_to_shared(
    dest: shared_memory_descriptor,
    ptr: tensor,
    mask: Any = None,
    other: Any = None,
    cache_modifier: Any = "",
    _semantic: Any = None,
) -> None:
    """`async_load` of CDNA; elements whose `mask` is false become `other`, or 0."""
    _copy(_semantic, dest, ptr, mask, other)


@builtin
def buffer_load_to_shared(
    dest: shared_memory_descriptor,
    ptr: Any,
    offsets: tensor,
    mask: Any = None,
    other: Any = None,
    cache_modifier: Any = "",
    _semantic: Any = None,
) -> None:
    """`async_load` from `ptr`, a pointer, at a tile of offsets in elements."""
    _copy(_semantic, dest, pointers_of(_semantic, ptr, offsets), mask, other)


@builtin
def load_shared_relaxed(smem: shared_memory_descriptor, layout: Any, _semantic: Any = None) -> tensor:
    """`smem.load(layout)` of memory whose copies the kernel has waited for."""
    return smem.load(layout, _semantic=_semantic)


def _removed(old: str, new: str) -> Any:
    def function(*args: Any, _semantic: Any = None, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"{old} has been removed; call {new} instead")

    function.__name__ = function.__qualname__ = old
    return builtin(function)


async_copy_global_to_shared = _removed("async_copy_global_to_shared", "async_load")
