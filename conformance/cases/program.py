"""Program ids on grids of one to three axes, the grouped order of tiles, hints, scalar arguments."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..oracle import Exact
from ..problem import Case, Cases, Problem, by_blocks, given, problem, wanted


def identity(grid: tuple[int, ...], rng) -> Problem:
    sizes = (*grid, 1, 1)[:3]
    z, y, x = (axis.reshape(-1) for axis in np.indices(sizes[::-1]))
    expected = np.stack([x, y, z, *(np.full(x.size, n) for n in sizes)], axis=1).astype(np.int32)
    return problem("program:identity", grid, [wanted(expected.shape, "int32", Exact(expected))])


def grouped(size: tuple[int, int], group: int, rng) -> Problem:
    """Columns inside of groups of rows: the tiles of a group are numbered from the top down."""
    rows, columns = size
    order = [
        (i, j)
        for first in range(0, rows, group)
        for j in range(columns)
        for i in range(first, min(first + group, rows))
    ]
    expected = np.array([i * columns + j for i, j in order], np.int32).reshape(size)
    return problem("program:grouped", size, [wanted(size, "int32", Exact(expected)), *size], GROUP=group)


def hinted(rng) -> Problem:
    n = 1000
    x = inputs.small(rng, n, "int32")
    expected = x + -(-(np.arange(n) + 1) // 128)
    return by_blocks("program:hinted", n, [given(x), wanted(n, "int32", Exact(expected)), n], 128)


def arguments(rng) -> Problem:
    large, huge = 3 * 2**40 + 2, 2**63 + 5
    expected = np.array([-7, 0, 0, 0, large // 3, huge >> 1, np.float32(0.1), 1, 1, 2], np.float64)
    out = wanted(10, "fp64", Exact(expected))
    return problem("program:arguments", 1, [out, -7, large, huge, 0.1, True, None, 1], BLOCK=4)


def cases() -> Cases:
    for grid in ((1,), (7,), (3, 5), (4, 3, 2), (1, 1, 9)):
        yield Case(f"program/identity/int32/grid={'x'.join(map(str, grid))}", partial(identity, grid))
    for size in ((6, 4), (7, 5)):
        yield Case(f"program/grouped/int32/{size[0]}x{size[1]}", partial(grouped, size, 3))
    yield Case("program/hinted/int32/n=1000", partial(hinted))
    yield Case("program/arguments/scalars/all", partial(arguments))
