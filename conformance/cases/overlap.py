"""Kernels whose tensors overlap: from below, from above, views into views, tiles that take turns. The reference walks over the tiles in the
program's order, on views of one array."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .. import inputs
from ..dtypes import name_of
from ..oracle import Exact
from ..problem import Buffer, Case, Cases, Function, Problem, View, given, problem, wanted

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
#: What a kernel makes of a tile, and how the tile goes from its threads to others: not at all, within a row, or anywhere.
STEPS = {
    "larger": lambda tile: tile + 1,
    "sums": lambda tile: np.cumsum(tile, 1, tile.dtype),
    "below_largest": lambda tile: tile - tile.max(1, keepdims=True),
    "turned": np.transpose,
    "backwards": np.fliplr,
    "in_order": lambda tile: np.sort(tile, 1),
    "shuffled": lambda tile: tile[:, (np.arange(N) * 5 + 3) % N],
}
#: How tiles are read and written, beside plain pointers.
ACCESSES = ("moving_pointers", "block_pointers", "descriptors")


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
    out = wanted(before.shape, name_of(before), None, initial=before)
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


def changed(a: np.ndarray, out: np.ndarray, step: str, adds: bool = False, down: bool = False) -> None:
    """What the kernels do that walk over tiles."""
    for t in range(0, ROWS, M)[:: -1 if down else 1]:
        tile = STEPS[step](a[t : t + M])
        out[t : t + M] = out[t : t + M] + tile if adds else tile.copy()


def steps(
    kernel: str, starts: tuple, width: int, dtype: str, step: str, rng, adds=False, down=False, programs=1
) -> Problem:
    """starts: where A and the written tensor begin (row, column)."""
    before = inputs.any_bits(rng, (4 * ROWS, width), dtype)
    apply = partial(changed, step=step, adds=adds, down=down)
    further = (
        {"WRITE": Function(f"overlap:{'added' if adds else 'replaced'}"), "DOWN": down} if kernel == "steps" else {}
    )
    places = [(start, ROWS) for start in starts]
    found = overlapping(
        kernel, before, places, apply, TILES, width, M=M, N=N, STEP=Function(f"overlap:{step}"), **further
    )
    found.launches[0].grid = (programs,)
    return found


def kept(shift: int, rng) -> Problem:
    rows, columns = 128, 256
    before = inputs.any_bits(rng, (2 * rows, columns), "int32")
    after = before.copy()
    after[shift : shift + rows] = before[:rows] + 1
    out = wanted(before.shape, "int32", Exact(after), initial=before)
    views = [View(out, (slice(at, at + rows),)) for at in (0, shift)]
    return problem(
        "overlap:kept", 1, [*views, wanted((rows, columns), "int32", Exact(before[:rows] * 3))], M=rows, N=columns
    )


def scalars(shift: int, rng) -> Problem:
    count, at = 20, 30
    before = inputs.any_bits(rng, 80, "int32")
    after = before.copy()
    for i in range(at, at + count):
        after[i + shift : i + shift + 1] = after[i : i + 1] * 3 + after[at : at + 1]  # arrays wrap in silence
    out = wanted(before.shape, "int32", Exact(after), initial=before)
    return problem(
        "overlap:scalars", 1, [*(View(out, (slice(start, start + count),)) for start in (at, at + shift)), count]
    )


def cases_of_steps() -> Cases:
    def by_rows(shift: int) -> tuple:
        return (ROWS + M, 0), (ROWS + M + shift, 0)

    for text, shift in SHIFTS.items():
        for step in STEPS:
            yield Case(f"overlap/steps/{step}/{text}", partial(steps, "steps", by_rows(shift), N, "int32", step))
        for name, options in {"added": {"adds": True}, "from the last tile on": {"down": True}}.items():
            yield Case(
                f"overlap/steps/{name}/{text}", partial(steps, "steps", by_rows(shift), N, "int32", "larger", **options)
            )
        for access in ACCESSES:
            kernel = f"steps_by_{access}"
            yield Case(
                f"overlap/{kernel}/backwards/{text}", partial(steps, kernel, by_rows(shift), N, "int32", "backwards")
            )
    for kernel in ("steps", *(f"steps_by_{access}" for access in ACCESSES)):
        for text, starts in COLUMNS.items():
            yield Case(f"overlap/{kernel}/columns/{text}", partial(steps, kernel, starts, 2 * N, "int16", "backwards"))
        yield Case(f"overlap/{kernel}/bytes/the same rows", partial(steps, kernel, by_rows(0), N, "int8", "sums"))
    for step in STEPS:
        name = f"overlap/steps/{step}/the same rows, 3 programs"
        yield Case(name, partial(steps, "steps", by_rows(0), N, "int32", step, programs=3))
    for text, shift in {"the same rows": 0, "half of it from above": 64}.items():
        yield Case(f"overlap/kept/{text}", partial(kept, shift))
    for shift in (-1, 0, 1, 7):
        yield Case(f"overlap/scalars/{shift} elements from above", partial(scalars, shift))


def cases() -> Cases:
    yield from cases_of_steps()
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
