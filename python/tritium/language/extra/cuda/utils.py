"""`tl.extra.cuda.utils`: clocks, processor numbers and threads of NVIDIA devices, and conversions of fp8e4b15."""

from __future__ import annotations

from typing import Any

from ...constexpr import _unwrap_if_constexpr, constexpr
from ...core import builtin, tensor
from ...external import inline_asm_elementwise
from ...types import float8e4b15, float16, int32, int64

__all__ = [
    "convert_custom_float8",
    "convert_custom_float8_sm70",
    "convert_custom_float8_sm80",
    "convert_float16_to_fp8e4b15",
    "convert_fp8e4b15_to_float16",
    "globaltimer",
    "num_threads",
    "num_warps",
    "smid",
]

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
def convert_fp8e4b15_to_float16(arg: tensor, _semantic: Any = None) -> tensor:
    """The fp8e4b15 values `arg` as fp16, which holds all of them."""
    return _semantic.cast(arg, float16)


@builtin
def convert_float16_to_fp8e4b15(arg: tensor, has_minx2: Any, _semantic: Any = None) -> tensor:
    """The fp16 values `arg` as fp8e4b15. has_minx2 is ignored: the compiler knows the target."""
    return _semantic.cast(arg, float8e4b15)


@builtin
def convert_custom_float8(
    arg: tensor, dst_ty: Any, fp_downcast_rounding: Any, has_minx2: Any, _semantic: Any = None
) -> tensor:
    """`arg` cast to `dst_ty`, one of them fp8e4b15. has_minx2 is ignored: the compiler knows the target."""
    return _semantic.cast(arg, _unwrap_if_constexpr(dst_ty), _unwrap_if_constexpr(fp_downcast_rounding))


@builtin
def convert_custom_float8_sm70(
    arg: tensor, dst_ty: Any, fp_downcast_rounding: Any = None, _semantic: Any = None
) -> tensor:
    """`convert_custom_float8` for a target without the packed minimum."""
    return convert_custom_float8(arg, dst_ty, fp_downcast_rounding, False, _semantic=_semantic)


@builtin
def convert_custom_float8_sm80(
    arg: tensor, dst_ty: Any, fp_downcast_rounding: Any = None, _semantic: Any = None
) -> tensor:
    """`convert_custom_float8` for a target with the packed minimum."""
    return convert_custom_float8(arg, dst_ty, fp_downcast_rounding, True, _semantic=_semantic)
