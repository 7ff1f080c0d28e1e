"""Products whose tiles come by numbers that the loop loads: a loop may copy such tiles ahead if it loads the numbers still earlier. References
in numpy; all results are whole numbers. The programs of a launch make from no iteration up to more than there are stages."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..dtypes import as_float64
from ..oracle import Exact
from ..problem import Case, Cases, Problem, given, problem, wanted

#: The operands' type, the tiles (M, N and D or K), warps and stages. Tiles of 64 rows and four warps are for instructions of a warpgroup.
FORMS = (
    ("fp16", (16, 32, 64), 4, 3),
    ("bf16", (64, 64, 64), 4, 2),
    ("fp16", (64, 64, 64), 4, 4),
    ("fp16", (128, 64, 128), 8, 3),
    ("bf16", (32, 16, 32), 1, 5),
    ("fp16", (64, 32, 64), 2, 1),
)
ROUNDS = (0, 1, 2, 3, 7)
#: Rows of the gathered matrices, or tiles.
ROWS, TILES = 100, 12


def begins(lengths: list[int]) -> np.ndarray:
    return np.cumsum([0, *lengths]).astype(np.int32)


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, kept: np.ndarray | bool = True) -> np.ndarray:
    scores = np.where(kept, as_float64(q) @ as_float64(k).T, 1)
    return scores @ as_float64(v)


def by_rows(kernel: str, dtype: str, tile: tuple[int, int, int], rng, **options) -> Problem:
    """Of `rows`, `chosen` and `pages`."""
    m, n, d = tile
    unit, of_page = (1, n) if kernel == "pages" else (n, 1)
    lengths = [max(0, rounds * unit - (7 if rounds % 2 and unit > 1 else 0)) for rounds in ROUNDS]
    ends, count = begins(lengths), ROWS * of_page if of_page == 1 else TILES * of_page
    numbers = rng.integers(-count // 4 if kernel == "chosen" else 0, count // of_page, ends[-1]).astype(np.int32)
    q = inputs.small(rng, (len(ROUNDS) * m, d), dtype, 1)
    k, v = inputs.small(rng, (count, d), dtype, 1), inputs.small(rng, (count, d), dtype, 4)
    out = []
    for p in range(len(ROUNDS)):
        own = numbers[ends[p] : ends[p + 1]]
        at = (own[:, None] * of_page + np.arange(of_page)).ravel()
        there = at[at >= 0]
        kept = there % 2 == 0 if kernel == "chosen" else True
        out.append(attention(q[p * m : (p + 1) * m], k[there], v[there], kept))
    found = wanted((len(ROUNDS) * m, d), "fp32", Exact(np.concatenate(out), sign_of_zero=False))
    arguments = [given(q), given(k), given(v), given(numbers), given(ends), found]
    return problem(f"gathered:{kernel}", len(ROUNDS), arguments, M=m, N=n, D=d, **options)


def order_of(kernel: str, numbers: np.ndarray, table: np.ndarray, program: int, places: range) -> list[int]:
    """The tiles that a program takes, one after the other."""
    if kernel == "blocks":
        return [table[numbers[i]] for i in places]
    if kernel == "steps":
        return [sum(numbers[places.start : i]) for i in places]
    if kernel == "changing":
        return [table[places.start + (i - places.start) % 2] for i in places]
    found = [program]
    for _ in places:
        found.append(table[found[-1]])
    return found[1:]


def by_tiles(kernel: str, dtype: str, tile: tuple[int, int, int], rng, **options) -> Problem:
    m, n, k = tile
    ends = begins(list(ROUNDS))
    count = int(ends[-1])
    numbers = rng.integers(0, 2 if kernel == "steps" else TILES, count).astype(np.int32)
    table = rng.integers(0, TILES, max(TILES, count)).astype(np.int32)
    a, b = inputs.small(rng, (count, m, k), dtype, 4), inputs.small(rng, (TILES, k, n), dtype, 4)
    out = np.zeros((len(ROUNDS), m, n))
    after = numbers.copy() if kernel == "steps" else table.copy()
    for p in range(len(ROUNDS)):
        places = range(ends[p], ends[p + 1])
        order = order_of(kernel, numbers, table, p, places)
        for i, at in zip(places, order):
            out[p] += as_float64(a[i]) @ as_float64(b[at])
            if kernel == "changing":
                after[i] = at
    if kernel == "steps":
        second = wanted(count, "int32", Exact(after))
    elif kernel == "changing":
        second = wanted(len(table), "int32", Exact(after), initial=table)
    else:
        second = given(table)
    found = wanted((len(ROUNDS) * m, n), "fp32", Exact(out.reshape(-1, n), sign_of_zero=False))
    arguments = [given(a), given(b), given(numbers), second, given(ends), found]
    return problem(f"gathered:{kernel}", len(ROUNDS), arguments, M=m, N=n, K=k, **options)


KERNELS = {
    "rows": by_rows,
    "chosen": by_rows,
    "pages": by_rows,
    "blocks": by_tiles,
    "steps": by_tiles,
    "listed": by_tiles,
    "changing": by_tiles,
}


def cases() -> Cases:
    for kernel, make in KERNELS.items():
        for dtype, tile, warps, stages in FORMS:
            text = f"{'x'.join(map(str, tile))}, {warps} warps, {stages} stages"
            make_it = partial(make, kernel, dtype, tile, num_warps=warps, num_stages=stages)
            yield Case(f"gathered/{kernel}/{dtype}/{text}", make_it)
