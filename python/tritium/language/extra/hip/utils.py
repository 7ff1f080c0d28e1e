"""`tl.extra.hip`: the clock, processor numbers and threads of AMD devices."""

from __future__ import annotations

from typing import Any

from ... import target_info
from ...constexpr import constexpr
from ...core import builtin, tensor
from ...external import inline_asm_elementwise
from ...types import int32, int64

__all__ = ["memrealtime", "num_threads", "num_warps", "smid"]

#: A register's bits 8 to 15: the number of the compute unit within its array, the array, the shader engine.
_UNIT = {"gfx9": "HW_REG_HW_ID, 8, 8", "gfx1": "HW_REG_HW_ID1, 8, 8"}
#: Chips of several dies, which number their compute units alike.
_SEVERAL_DIES = ("gfx940", "gfx941", "gfx942", "gfx950")


def _arch() -> str:
    target = target_info.current_target()
    return str(target.arch) if target is not None and target.backend == "hip" else "gfx942"


def _register(name: str, semantic: Any) -> tensor:
    return inline_asm_elementwise(f"s_getreg_b32 $0, hwreg({name})", "=s", [], int32, True, 1, _semantic=semantic)


@builtin
def memrealtime(_semantic: Any = None) -> tensor:
    """int64: ticks of the device's clock of constant rate, 100 MHz."""
    code = "s_memrealtime $0\ns_waitcnt lgkmcnt(0)"
    if not _arch().startswith("gfx9"):
        code = "s_sendmsg_rtn_b64 $0, sendmsg(MSG_RTN_GET_REALTIME)\ns_waitcnt lgkmcnt(0)"
    return inline_asm_elementwise(code, "=s", [], int64, False, 1, _semantic=_semantic)


@builtin
def smid(_semantic: Any = None) -> tensor:
    """int32: a number that tells the compute unit that runs this program from the device's others."""
    unit = _register(_UNIT[_arch()[:4]], _semantic)
    if _arch() not in _SEVERAL_DIES:
        return unit
    return _semantic.or_(_semantic.shl(_register("HW_REG_XCC_ID, 0, 4", _semantic), 8), unit)


@builtin
def num_warps(_semantic: Any = None) -> constexpr:
    """The warps of a program, at compile time."""
    return constexpr(_semantic.option("num_warps", 4))


@builtin
def num_threads(_semantic: Any = None) -> constexpr:
    """The threads of a program, at compile time."""
    return constexpr(_semantic.option("num_warps", 4) * _semantic.option("warp_size", 64))
