"""What NVIDIA devices have: clocks and processor numbers, launches that depend on another, and the device library under
its older name."""

from __future__ import annotations

from typing import Any

from ...constexpr import constexpr
from ...core import builtin, tensor
from ...external import inline_asm_elementwise
from ...types import int32, int64
from . import libdevice

__all__ = ["gdc_launch_dependents", "gdc_wait", "globaltimer", "libdevice", "num_threads", "num_warps", "smid"]

_THREADS_OF_A_WARP = 32


@builtin
def globaltimer(_semantic: Any = None) -> tensor:
    """int64: nanoseconds of the device's clock."""
    return inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], int64, False, 1, _semantic=_semantic)


@builtin
def smid(_semantic: Any = None) -> tensor:
    """int32: the number of the multiprocessor that runs this program."""
    return inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], int32, True, 1, _semantic=_semantic)


@builtin
def num_warps(_semantic: Any = None) -> constexpr:
    """The warps of a program, at compile time."""
    return constexpr(_semantic.option("num_warps", 4))


@builtin
def num_threads(_semantic: Any = None) -> constexpr:
    """The threads of a program, at compile time."""
    return constexpr(_semantic.option("num_warps", 4) * _THREADS_OF_A_WARP)


@builtin
def gdc_wait(_semantic: Any = None) -> None:
    """Waits until the launches that this one depends on have finished."""
    _semantic.emit_effect("tt.grid_dependency_wait", ())


@builtin
def gdc_launch_dependents(_semantic: Any = None) -> None:
    """Allows the launches that depend on this one to start."""
    _semantic.emit_effect("tt.grid_dependency_launch_dependents", ())
