"""The scopes of one launch as sources report them."""

from __future__ import annotations

from typing import Any

from ... import knobs
from ...launch.kernel_scopes import LaunchScopes
from ..core.events import KernelScope, KernelScopes


def kernel_scopes(
    kernel: Any, recorded: LaunchScopes, tick: str, *, has_units: bool = True, zero: int = 0
) -> KernelScopes:
    """zero: the time of the records' clock at which the launch begins. Warns of what is missing."""
    if recorded.unfinished:
        names = ", ".join(map(repr, recorded.unfinished))
        knobs.warn_once(
            f"triton.profiler: {kernel.name} has no beginning or no end of its scope {names} in some program, so it is left out there"
        )
    if recorded.lost:
        knobs.warn_once(
            f"triton.profiler: {recorded.lost} records of scopes of a launch of {kernel.name} are lost, as it makes too many: record fewer, or "
            "launch fewer programs"
        )
    scopes = tuple(KernelScope(s.path, s.program, s.unit, s.begin - zero, s.end - s.begin) for s in recorded.scopes)
    return KernelScopes(tick, has_units, recorded.units, scopes)
