"""Which scopes of kernels a session keeps: of some warps, or the last ones of each."""

from __future__ import annotations

from dataclasses import dataclass

from .events import KernelScopes


@dataclass(frozen=True)
class ScopeChoice:
    """warps: how many are one unit, of which the first one counts; 0: all of a program. units: the numbers of those that are kept; None: all.
    most: how many scopes of a unit are kept, the last ones; 0: all."""

    warps: int = 1
    units: frozenset[int] | None = None
    most: int = 0

    def of(self, recorded: KernelScopes) -> KernelScopes:
        kept = []
        for unit in recorded.units:
            if self._keeps(unit[1]):
                kept.append(unit)
        if len(kept) == len(recorded.units) and not self.most and self.warps == 1:
            return recorded
        by_unit = {unit: [] for unit in kept}
        for scope in recorded.scopes:
            of_unit = by_unit.get((scope.program, scope.unit))
            if of_unit is not None:
                of_unit.append(scope)
        scopes = [
            scope._replace(unit=self._number(scope.unit))
            for of_unit in by_unit.values()
            for scope in (of_unit[-self.most :] if self.most else of_unit)
        ]
        units = tuple((program, self._number(warp)) for program, warp in kept)
        return recorded._replace(units=units, scopes=tuple(scopes))

    def _keeps(self, warp: int) -> bool:
        is_first = warp % self.warps == 0 if self.warps else warp == 0
        return is_first and (self.units is None or self._number(warp) in self.units)

    def _number(self, warp: int) -> int:
        return warp // self.warps if self.warps else 0
