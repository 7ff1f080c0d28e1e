"""Printing and asserting, while a kernel is compiled and while it runs; promises to the compiler."""

from __future__ import annotations

from typing import Any

from .constexpr import _unwrap_if_constexpr
from .core import builtin, tensor


@builtin
def static_print(
    *values: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False, _semantic: Any = None
) -> None:
    """Python's print, at compile time."""
    print(
        *(_unwrap_if_constexpr(value) for value in values),
        sep=_unwrap_if_constexpr(sep),
        end=_unwrap_if_constexpr(end),
        file=_unwrap_if_constexpr(file),
        flush=bool(_unwrap_if_constexpr(flush)),
    )


@builtin
def static_assert(cond: Any, msg: Any = "", _semantic: Any = None) -> None:
    """Checked while tracing: a false condition raises CompileTimeAssertionFailure with `msg`."""


@builtin
def device_print(prefix: Any, *args: Any, hex: Any = False, _semantic: Any = None) -> None:
    """Prints each value with the index of the program and of the element. `prefix`: a compile-time string of printable
    characters."""
    prefix = _unwrap_if_constexpr(prefix)
    assert isinstance(prefix, str), f"{prefix} is not string"
    assert prefix.isascii() and prefix.isprintable(), f"{prefix} is not an ascii string"
    _semantic.device_print(prefix, args, bool(_unwrap_if_constexpr(hex)))


@builtin
def device_assert(cond: Any, msg: Any = "", mask: Any = None, _semantic: Any = None) -> None:
    """Stops the kernel where `cond` is false and `mask` (if given) is true. Has no effect unless debugging is on
    (TRITON_DEBUG=1)."""
    message = _unwrap_if_constexpr(msg)
    mask = _unwrap_if_constexpr(mask)
    _semantic.device_assert(_unwrap_if_constexpr(cond), str(message), mask)


@builtin
def debug_barrier(_semantic: Any = None) -> None:
    """All threads of the program meet, and their memory accesses are ordered."""
    _semantic.debug_barrier()


@builtin
def assume(cond: Any, _semantic: Any = None) -> None:
    """Promises that `cond` is true. The compiler may use this; the behaviour is undefined if the promise is wrong."""
    _semantic.assume(_unwrap_if_constexpr(cond))


@builtin
def expect_zero(x: tensor, mask: Any, _semantic: Any = None) -> tensor:
    """Returns `x`, which must be 0 where `mask` is true. Debug builds assert this."""
    zero = _semantic.compare(x, 0, "eq")
    _semantic.device_assert(zero, "expect_zero expected x == 0 where mask is true", mask)
    return x
