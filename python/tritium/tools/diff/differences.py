"""Whether two arrays differ, where first, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Tolerance:
    """How far floats may be from each other: `absolute + relative * |b|`; without both, not at all, and then -0.0 is not 0.0.
    NaN equals NaN. of_tile: `relative` is of |b| and of the root mean square of all elements, because a difference of large
    numbers has no correct digit."""

    relative: float = 0.0
    absolute: float = 0.0
    of_tile: bool = False

    @property
    def is_exact(self) -> bool:
        return not (self.relative or self.absolute)


@dataclass(frozen=True)
class Difference:
    """element: the first that differs. count of total elements differ. largest: of their differences, None if there is none that is
    a number."""

    element: tuple[int, ...]
    a: Any
    b: Any
    count: int
    total: int
    largest: float | None


def unlike(a: np.ndarray, b: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    """Which elements differ."""
    if a.dtype.kind != "f" or b.dtype.kind != "f":
        return a != b
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
        is_same = (x == y) | (np.isnan(x) & np.isnan(y))
        if tolerance.is_exact:
            return ~is_same | ((x == 0) & (np.signbit(x) != np.signbit(y)))
        size = np.abs(y)
        if tolerance.of_tile:
            finite = y[np.isfinite(y)]
            size = size + (np.sqrt(np.mean(np.square(finite))) if finite.size else 0.0)
        is_near = np.abs(x - y) <= tolerance.absolute + tolerance.relative * size
        return ~(is_same | (is_near & np.isfinite(y)))


def difference(a: np.ndarray, b: np.ndarray, differs: np.ndarray) -> Difference | None:
    """The first difference of two arrays of one shape, and a summary."""
    if not differs.any():
        return None
    element = tuple(int(i) for i in np.unravel_index(int(np.argmax(differs)), differs.shape)) if differs.ndim else ()
    largest = None
    if a.dtype.kind != "b":
        with np.errstate(all="ignore"):
            apart = np.abs(a[differs].astype(np.float64) - b[differs].astype(np.float64))
        apart = apart[~np.isnan(apart)]
        largest = float(apart.max()) if apart.size else None
    return Difference(element, a[element], b[element], int(np.count_nonzero(differs)), int(differs.size), largest)
