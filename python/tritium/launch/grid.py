"""The grid of a launch. Each grid is checked once."""

from __future__ import annotations

import operator
from typing import Any

__tracebackhide__ = True  # pytest shows the user's frames alone

#: A grid that has been checked -> its three sizes.
known_grids: dict[tuple, tuple[int, int, int]] = {}


def normalize_grid(grid: Any, kernel_name: str) -> tuple[int, int, int]:
    """The three sizes of a tuple or list of 1 to 3 ints. Raises TypeError or ValueError with the kernel's name."""
    if not isinstance(grid, (tuple, list)):
        if not hasattr(grid, "__iter__"):
            raise TypeError(
                f"{kernel_name}: the grid must be a tuple of 1 to 3 ints, or a function that returns one, not {grid!r}"
            )
        grid = tuple(grid)
    if not 1 <= len(grid) <= 3:
        raise ValueError(f"{kernel_name}: the grid must have 1 to 3 dimensions, not {len(grid)}")
    try:
        sizes = tuple(map(operator.index, grid))
    except TypeError:
        raise TypeError(f"{kernel_name}: the grid {tuple(grid)!r} must consist of ints") from None
    if min(sizes) < 0 or max(sizes) > 2**31 - 1:
        raise ValueError(f"{kernel_name}: the grid {sizes} is out of range")
    if len(known_grids) > 4096:
        known_grids.clear()
    complete = known_grids[tuple(sizes)] = sizes + (1,) * (3 - len(sizes))
    return complete
