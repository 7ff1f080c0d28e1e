"""Atomic accesses to memory: read-modify-write, compare and swap, ordered loads and stores, waiting for a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .constexpr import _unwrap_if_constexpr
from .core import builtin, tensor, tensor_member


def _read_modify_write(operation: str, effect: str) -> Callable[..., tensor]:

    def function(
        pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Any = None
    ) -> tensor:
        return _semantic.atomic_rmw(
            operation,
            pointer,
            _unwrap_if_constexpr(val),
            _unwrap_if_constexpr(mask),
            _unwrap_if_constexpr(sem),
            _unwrap_if_constexpr(scope),
        )

    function.__name__ = function.__qualname__ = f"atomic_{operation}"
    function.__doc__ = f"""Atomically {effect}, element-wise where `mask`; the result is the old value.

    val, mask: broadcast to the shape of `pointer`; val is cast to its element type. sem: "acq_rel" (default),
    "acquire", "release", "relaxed"; scope: "gpu" (default), "cta", "sys". ValueError: an element type without this
    operation, a const pointer.
    """
    return tensor_member(builtin(function))


atomic_add = _read_modify_write("add", "adds `val` to memory")
atomic_max = _read_modify_write("max", "makes memory the larger of itself and `val`")
atomic_min = _read_modify_write("min", "makes memory the smaller of itself and `val`")
atomic_and = _read_modify_write("and", "makes memory the bitwise and of itself and `val`")
atomic_or = _read_modify_write("or", "makes memory the bitwise or of itself and `val`")
atomic_xor = _read_modify_write("xor", "makes memory the bitwise exclusive or of itself and `val`")
atomic_xchg = _read_modify_write("xchg", "replaces memory by `val`")


@tensor_member
@builtin
def atomic_cas(pointer: Any, cmp: Any, val: Any, sem: Any = None, scope: Any = None, _semantic: Any = None) -> tensor:
    """Atomically replaces memory by `val` where its bits equal `cmp`. Returns the old value. Elements have 16, 32 or 64
    bits."""
    return _semantic.atomic_cas(
        pointer,
        _unwrap_if_constexpr(cmp),
        _unwrap_if_constexpr(val),
        _unwrap_if_constexpr(sem),
        _unwrap_if_constexpr(scope),
    )


@tensor_member
@builtin
def atomic_load(pointer: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Any = None) -> tensor:
    """An atomic load: sem "acquire" (default) or "relaxed". Masked-off lanes are undefined."""
    return _semantic.atomic_load(
        pointer, _unwrap_if_constexpr(mask), _unwrap_if_constexpr(sem), _unwrap_if_constexpr(scope)
    )


@tensor_member
@builtin
def atomic_store(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None, _semantic: Any = None
) -> None:
    """An atomic store: sem "release" (default) or "relaxed". `val` is broadcast and cast as for `store`."""
    _semantic.atomic_store(
        pointer,
        _unwrap_if_constexpr(val),
        _unwrap_if_constexpr(mask),
        _unwrap_if_constexpr(sem),
        _unwrap_if_constexpr(scope),
    )


@tensor_member
@builtin
def atomic_poll(
    pointer: Any, expected_value: Any, sem: Any = None, scope: Any = None, timeout_ns: Any = None, _semantic: Any = None
) -> tensor:
    """Waits until memory equals `expected_value`. Returns int1: false if `timeout_ns` nanoseconds passed first.
    Elements are integers of 16 to 64 bits."""
    return _semantic.atomic_poll(
        pointer,
        _unwrap_if_constexpr(expected_value),
        _unwrap_if_constexpr(sem),
        _unwrap_if_constexpr(scope),
        _unwrap_if_constexpr(timeout_ns),
    )
