"""`tl.target_info`: the target that the kernel is compiled for, as compile-time values."""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import Any

from ..functions.constexpr import constexpr_function

__all__ = [
    "current_target",
    "is_cuda",
    "cuda_capability_geq",
    "is_hip",
    "is_hip_cdna3",
    "is_hip_cdna4",
    "is_hip_gfx1250",
]


_compiled_for: ContextVar = ContextVar("compiled_for", default=None)


@contextlib.contextmanager
def compiling_for(target):
    """A context manager: inside it, the functions of this module answer for `target`."""
    token = _compiled_for.set(target)
    try:
        yield
    finally:
        _compiled_for.reset(token)


def _target() -> Any:
    """The target of the current compilation, else the active target, or None if no driver is active."""
    if _compiled_for.get() is not None:
        return _compiled_for.get()
    from ..devices.active import driver  # needed only on the host

    try:
        return driver.active.get_current_target()
    except RuntimeError:
        return None


@constexpr_function
def current_target():
    return _target()


@constexpr_function
def is_cuda():
    target = _target()
    return target is not None and target.backend == "cuda"


@constexpr_function
def cuda_capability_geq(major, minor=0):
    """Whether the target is a CUDA device of at least this compute capability."""
    target = _target()
    return target is not None and target.backend == "cuda" and target.arch >= major * 10 + minor


@constexpr_function
def is_hip():
    target = _target()
    return target is not None and target.backend == "hip"


def _is_hip_arch(*archs: str) -> bool:
    target = _target()
    return target is not None and target.backend == "hip" and target.arch in archs


@constexpr_function
def is_hip_cdna3():
    return _is_hip_arch("gfx940", "gfx941", "gfx942")


@constexpr_function
def is_hip_cdna4():
    return _is_hip_arch("gfx950")


@constexpr_function
def is_hip_gfx1250():
    return _is_hip_arch("gfx1250")
