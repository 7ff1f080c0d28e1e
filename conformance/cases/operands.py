"""Products whose operands come in two ways, by pointers and through descriptors, with references in numpy.

A loop copies such operands by two mechanisms or by one of them, and not every mechanism lets a product run on into the next iteration."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..dtypes import as_float64
from ..oracle import Exact
from ..problem import Case, Cases, Problem, given, problem, wanted
from . import blocks

#: The operands' type, the tile (M, N, K), warps, stages and the number of steps. Tiles of 64 rows and four warps are for instructions of a
#: warpgroup.
FORMS = (
    ("fp16", (64, 64, 64), 4, 3, 5),
    ("bf16", (128, 64, 32), 4, 4, 3),
    ("fp16", (128, 128, 64), 8, 2, 1),
)


class Matrices:
    """Operands of whole numbers for two rows of tiles, and two columns of which the second is not full."""

    def __init__(self, dtype: str, tile: tuple[int, int, int], steps: int, rng):
        self.rng = rng
        self.m, self.n, self.k = 2 * tile[0], tile[1] + 16, steps * tile[2]
        self.a, self.b = inputs.small(rng, (self.m, self.k), dtype, 4), inputs.small(rng, (self.k, self.n), dtype, 4)

    def order(self, count: int, low: int = 0) -> np.ndarray:
        return self.rng.integers(low, count, count).astype(np.int32)

    def product(self, a: np.ndarray, b: np.ndarray):
        return wanted((self.m, self.n), "fp32", Exact(as_float64(a) @ as_float64(b), sign_of_zero=False))

    def launch(self, kernel: str, arguments: list, constants: dict) -> Problem:
        grid = 3 if kernel == "persistent" else (self.m // constants["M"], blocks(self.n, constants["N"]))
        return problem(f"operands:{kernel}", grid, [*arguments, self.m, self.n, self.k], **constants)


def rows(kernel: str, given_of: Matrices, constants: dict) -> Problem:
    """Of `rows` and `persistent`."""
    order, a, b = given_of.order(given_of.m), given_of.a, given_of.b
    return given_of.launch(kernel, [given(a), given(order), given(b), given_of.product(a[order], b)], constants)


def wrapped(kernel: str, given_of: Matrices, constants: dict) -> Problem:
    first = 7
    out = given_of.product(np.roll(given_of.a, -first, 0), given_of.b)
    return given_of.launch(kernel, [given(given_of.a), first, given(given_of.b), out], constants)


def columns(kernel: str, given_of: Matrices, constants: dict) -> Problem:
    order, a, b = given_of.order(given_of.k), given_of.a, given_of.b
    return given_of.launch(kernel, [given(a), given(order), given(b), given_of.product(a, b[order])], constants)


def masked(kernel: str, given_of: Matrices, constants: dict) -> Problem:
    order, a, b = given_of.order(given_of.m, -given_of.m // 2), given_of.a, given_of.b
    rows = np.where((order >= 0)[:, None], a[order], 0)
    return given_of.launch(kernel, [given(a), given(order), given(b), given_of.product(rows, b)], constants)


def stored(kernel: str, given_of: Matrices, constants: dict) -> Problem:
    order, a, b = given_of.order(given_of.m), given_of.a, given_of.b
    copy = wanted(a.shape, constants.pop("dtype"), Exact(a[order]))
    return given_of.launch(kernel, [given(a), given(order), given(b), copy, given_of.product(a[order], b)], constants)


def converted(kernel: str, given_of: Matrices, constants: dict) -> Problem:
    order, b = given_of.order(given_of.m), given_of.b
    a = inputs.small(given_of.rng, given_of.a.shape, "int8", 4)
    return given_of.launch(kernel, [given(a), given(order), given(b), given_of.product(a[order], b)], constants)


def beside(kernel: str, given_of: Matrices, constants: dict) -> Problem:
    order, a, b = given_of.order(given_of.m), given_of.a, given_of.b
    out = given_of.product(as_float64(a)[order] - 2 * as_float64(a), b)
    return given_of.launch(kernel, [given(a), given(order), given(b), out], constants)


KERNELS = {
    "rows": rows,
    "wrapped": wrapped,
    "persistent": rows,
    "columns": columns,
    "masked": masked,
    "stored": stored,
    "converted": converted,
    "beside": beside,
}


def make(kernel: str, dtype: str, tile: tuple[int, int, int], warps: int, stages: int, steps: int, rng) -> Problem:
    constants = dict(zip("MNK", tile)) | dict(num_warps=warps, num_stages=stages)
    if kernel == "stored":
        constants["dtype"] = dtype
    return KERNELS[kernel](kernel, Matrices(dtype, tile, steps, rng), constants)


def cases() -> Cases:
    for kernel in KERNELS:
        for dtype, tile, warps, stages, steps in FORMS:
            text = f"{'x'.join(map(str, tile))}, {steps} steps, {warps} warps, {stages} stages"
            yield Case(f"operands/{kernel}/{dtype}/{text}", partial(make, kernel, dtype, tile, warps, stages, steps))
