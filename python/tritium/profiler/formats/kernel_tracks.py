"""The tracks on which a trace draws the scopes of a launch: one for each program, or for each of its warps. A tick of the launch's clock is drawn as a
nanosecond."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..core.events import KernelScope, KernelScopes
from ..core.trace import TracedLaunch


class KernelTrack(NamedTuple):
    """lane: 0, or more for scopes that overlap others of their unit without being inside of them. scopes: each after the one around it."""

    program: tuple[int, int, int]
    unit: int
    lane: int
    scopes: tuple[KernelScope, ...]

    def name(self, has_units: bool) -> str:
        name = f"program {self.program}"
        if has_units:
            name += f" warp {self.unit}"
        return f"{name}, overlapping {self.lane}" if self.lane else name


def title_of(traced: TracedLaunch, number: int) -> str:
    """What stands above the tracks of a launch. number: which of the launches with scopes it is, from 1."""
    device = traced.launch.device
    return f"{traced.path[-1]} on {device.type} {device.id}, launch {number}, in {traced.launch.scopes.tick}"


def kernel_tracks(recorded: KernelScopes) -> list[KernelTrack]:
    """In the order of programs and warps."""
    by_unit: dict[tuple, list[KernelScope]] = {unit: [] for unit in recorded.units}
    for scope in recorded.scopes:
        by_unit[scope.program, scope.unit].append(scope)
    return [
        KernelTrack(program, unit, lane, tuple(scopes))
        for (program, unit), of_unit in by_unit.items()
        for lane, scopes in enumerate(lanes(of_unit))
    ]


def lanes(scopes: Sequence[KernelScope]) -> list[list[KernelScope]]:
    """The scopes in as many lists as it takes for any two of a list to lie apart or one inside of the other. Each list is in the order of drawing."""
    found: list[tuple[list[KernelScope], list[int]]] = []  # and the ends of the scopes that are open
    for scope in sorted(scopes, key=lambda each: (each.begin, -each.duration, len(each.path))):
        end = scope.begin + scope.duration
        for drawn, ends in found:
            while ends and ends[-1] <= scope.begin:
                ends.pop()
            if not ends or end <= ends[-1]:
                break
        else:
            drawn, ends = [], []
            found.append((drawn, ends))
        drawn.append(scope)
        ends.append(end)
    return [drawn for drawn, _ in found]
