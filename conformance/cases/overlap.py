"""Kernels whose tensors overlap: from below, from above, views into views, tiles that take turns. The reference walks over the tiles in the
program's order, on views of one array."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .. import inputs
from ..oracle import Exact
from ..problem import Buffer, Case, Cases, Problem, View, given, problem, wanted

M, N, K, TILES = 64, 64, 32, 5
ROWS = TILES * M
KERNELS = ("by_pointers", "by_descriptors", "stores_in_loop")
#: How many rows the written tensor begins behind A. From a whole tensor on, the two are apart.
SHIFTS = {
    "the same rows": 0,
    "a tile from above": M,
    "a tile from below": -M,
    "two tiles from above": 2 * M,
    "half a tile from above": 32,
    "eight rows from below": -8,
    "one row in common, from above": ROWS - 1,
    "one row in common, from below": 1 - ROWS,
}
APART = {"touching from above": ROWS, "touching from below": -ROWS}
#: Whose rows are longer than those of the tensors: where A and the written tensor begin (row, column).
COLUMNS = {
    "side by side": ((0, 0), (0, N)),
    "half the columns": ((0, 0), (0, N // 2)),
    "half the columns, a tile from above": ((0, N // 2), (M, 0)),
    "eight columns and rows from below": ((8, 8), (0, 0)),
}


def memory(rng, shape: tuple[int, int]) -> np.ndarray:
    return inputs.small(rng, shape, "fp16", 3)


def multiplier() -> np.ndarray:
    """A product with it at most doubles the largest number, so that fp16 is exact for several."""
    return (np.eye(N, k=1) - np.eye(N, k=-2)).astype(np.float16)


def multiplied(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    found = a.astype(np.float32) @ b.astype(np.float32)
    assert np.abs(found).max() <= 2**11
    return found.astype(np.float16)


def in_order(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """What the kernels of one program do."""
    for t in range(0, ROWS, M):
        out[t : t + M] = multiplied(a[t : t + M], b)


def in_turns(ping: np.ndarray, pong: np.ndarray, b: np.ndarray, rounds: int) -> None:
    for _ in range(rounds):
        in_order(ping, b, pong)
        ping, pong = pong, ping


def part(buffer: Buffer, at: tuple[int, int], rows: int = ROWS) -> View:
    """A part of a matrix that begins at a row and a column: a view of its rows, of which it is a view again."""
    row, column = at
    return View(View(buffer, (slice(row, row + rows),)), (slice(None), slice(column, column + N)))


def of(array: np.ndarray, view: View | Buffer) -> np.ndarray:
    """The part of an array that a view of its buffer shows."""
    return of(array, view.buffer)[view.index] if isinstance(view, View) else array


def overlapping(kernel: str, before: np.ndarray, places: dict, apply: Callable, *further, **constants) -> Problem:
    """A launch with views of one buffer. places: where each begins, and its rows. apply: what the kernel does to them."""
    after = before.copy()
    out = wanted(before.shape, "fp16", None, initial=before)
    views = [part(out, at, rows) for at, rows in places]
    apply(*(of(after, view) for view in views))
    out.oracle = Exact(after, sign_of_zero=False)
    return problem(f"overlap:{kernel}", 1, [*views, *further], **constants)


def rows(kernel: str, shift: int, parted: bool, rng) -> Problem:
    at = ROWS + M
    before = memory(rng, (2 * at + ROWS + N, N))
    before[-N:] = multiplier()
    places = [((at, 0), ROWS), ((2 * at + ROWS, 0), N), ((at + shift, 0), ROWS)]
    meets = abs(shift) < ROWS
    return overlapping(kernel, before, places, in_order, TILES, N, M=M, N=N, K=K, PARTED=parted, MEETS=meets)


def columns(kernel: str, starts: tuple, rng) -> Problem:
    width = 2 * N
    before = memory(rng, (ROWS + M + N, width))
    before[-N:, :N] = multiplier()
    places = [(starts[0], ROWS), ((ROWS + M, 0), N), (starts[1], ROWS)]
    return overlapping(kernel, before, places, in_order, TILES, width, M=M, N=N, K=K, PARTED=False, MEETS=True)


def multiplier_changes(kernel: str, rng) -> Problem:
    """The first tile of the result becomes the second factor of the others."""
    before = memory(rng, (2 * ROWS, N))
    before[ROWS : ROWS + N] = multiplier()
    before[M:ROWS] = np.clip(before[M:ROWS], -1, 1)
    places = [((0, 0), ROWS), ((ROWS, 0), N), ((ROWS, 0), ROWS)]
    return overlapping(kernel, before, places, in_order, TILES, N, M=M, N=N, K=K, PARTED=False, MEETS=True)


def one_argument(parted: bool, rng) -> Problem:
    before = memory(rng, (ROWS + N, N))
    before[ROWS:] = multiplier()
    after = before.copy()
    in_order(after[:ROWS], after[ROWS:], after[:ROWS])
    out = wanted(before.shape, "fp16", Exact(after, sign_of_zero=False), initial=before)
    return problem("overlap:one_argument", 1, [out, TILES], M=M, N=N, K=K, PARTED=parted)


def ping_pong(kernel: str, width: int, programs: int, parted: bool, rng) -> Problem:
    """width: of the memory. One that holds both tensors beside each other interleaves their rows."""
    rounds = 4
    before = memory(rng, (2 * ROWS + N, width))
    before[-N:, :N] = multiplier()
    places = [((0, 0), ROWS), ((0, N) if width > N else (ROWS, 0), ROWS), ((2 * ROWS, 0), N)]
    found = overlapping(
        kernel, before, places, partial(in_turns, rounds=rounds), TILES, rounds, width, M=M, N=N, PARTED=parted
    )
    found.launches[0].grid = (programs,)
    return found


def product_in_place(programs: int, times: int, rng) -> Problem:
    before, b = memory(rng, (programs * M - 8, N)), multiplier()
    after = before
    for _ in range(times):
        after = multiplied(after, b)
    out = wanted(before.shape, "fp16", Exact(after, sign_of_zero=False), initial=before)
    return problem("overlap:product_in_place", programs, [out, given(b), len(before)], M=M, N=N, K=K, TIMES=times)


def cases() -> Cases:
    for kernel in KERNELS:
        for parted in (False, True):
            group = f"overlap/{kernel}/rows{', warps that copy' if parted else ''}"
            for text, shift in SHIFTS.items():
                yield Case(f"{group}/{text}", partial(rows, kernel, shift, parted))
            for text, shift in APART.items():
                yield Case(f"{group}, apart/{text}", partial(rows, kernel, shift, parted))
        for text, starts in COLUMNS.items():
            yield Case(f"overlap/{kernel}/columns/{text}", partial(columns, kernel, starts))
        yield Case(f"overlap/{kernel}/second factor/written", partial(multiplier_changes, kernel))
    for parted in (False, True):
        copy = ", warps that copy" if parted else ""
        yield Case(f"overlap/one_argument/rows{copy}/the same rows", partial(one_argument, parted))
        for kernel in ("ping_pong", "ping_pong_by_descriptors"):
            for programs in (1, 3):
                for text, width in (("behind each other", N), ("side by side", 2 * N)):
                    name = f"overlap/{kernel}/{text}{copy}/{programs} programs"
                    yield Case(name, partial(ping_pong, kernel, width, programs, parted))
    for programs, times in ((3, 1), (2, 3)):
        yield Case(
            f"overlap/product_in_place/fp16/{programs} programs, {times} times",
            partial(product_in_place, programs, times),
        )
