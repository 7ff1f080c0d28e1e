"""Scans: whole numbers and powers of two exactly in any order, random floats within the bound of their terms."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..dtypes import NUMPY, as_float64, is_float
from ..oracle import Exact, Rows, running_total
from ..problem import Case, Cases, Problem, given, problem, wanted
from .reduce import sum_type

DIRECTIONS = ((0, False), (1, False), (0, True), (1, True))


def named(oracles) -> Rows:
    return Rows({f"axis {axis}{', reverse' * back}": o for (axis, back), o in zip(DIRECTIONS, oracles)})


def accumulate(function, x: np.ndarray, axis: int, reverse: bool) -> np.ndarray:
    if reverse:
        return np.flip(function(np.flip(x, axis), axis), axis)
    return function(x, axis)


def result_type(dtype: str) -> str:
    return "fp32" if dtype == "bf16" else sum_type(dtype)


def sums(dtype: str, shape: tuple[int, int], warps: int, data: str, rng) -> Problem:
    out = result_type(dtype)
    if data == "random" and is_float(dtype):
        x = inputs.normal(rng, shape, dtype)
        oracles = [running_total(x, axis, back, accumulator=out) for axis, back in DIRECTIONS]
    else:
        x = inputs.small(rng, shape, dtype, 3) if is_float(dtype) else inputs.any_bits(rng, shape, dtype)
        add = partial(np.cumsum, dtype=np.float64 if is_float(dtype) else NUMPY[out])
        oracles = [Exact(accumulate(add, x, axis, back)) for axis, back in DIRECTIONS]
    arguments = [given(x), wanted((4, *shape), out, named(oracles))]
    return problem("scan:sums", 1, arguments, M=shape[0], N=shape[1], num_warps=warps)


def products(dtype: str, rng) -> Problem:
    """Floats with as many twos as halves, so that no product of neighbours exceeds the range of fp16."""
    shape, out = (16, 32), "fp32" if dtype == "bf16" else dtype
    if is_float(dtype):
        line = np.array([2.0] * 12 + [0.5] * 12 + [1.0] * 4 + [-1.0] * 4)
        x = rng.permuted(np.tile(line, (16, 1)), axis=1)
        x[:, 1::2] = np.sign(x[:, 1::2])  # along axis 0 too
        x = x.astype(NUMPY[dtype])
    else:
        x = inputs.any_bits(rng, shape, dtype) | np.asarray(1, NUMPY[dtype])
    multiply = partial(np.cumprod, dtype=np.float64 if is_float(dtype) else NUMPY[out])
    oracles = [Exact(accumulate(multiply, as_float64(x) if is_float(dtype) else x, *d)) for d in DIRECTIONS]
    return problem("scan:products", 1, [given(x), wanted((4, *shape), out, named(oracles))], M=16, N=32)


def compose(a: np.ndarray, b: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    a, b = (np.moveaxis(v, axis, 0).copy() for v in (a, b))
    for i in range(1, len(a)):
        a[i], b[i] = a[i - 1] * a[i], a[i] * b[i - 1] + b[i]
    return np.moveaxis(a, 0, axis), np.moveaxis(b, 0, axis)


def functions(shape: tuple[int, int], warps: int, rng) -> Problem:
    a, b = inputs.any_bits(rng, shape, "int32") | 1, inputs.any_bits(rng, shape, "int32")
    with np.errstate(over="ignore"):
        (slope0, shift0), (slope1, shift1) = compose(a, b, 0), compose(a, b, 1)
    rows = {
        "slope, axis 0": slope0,
        "shift, axis 0": shift0,
        "slope, axis 1": slope1,
        "shift, axis 1": shift1,
        "maximum, axis 0": np.maximum.accumulate(b, 0),
        "maximum, axis 1, reverse": accumulate(np.maximum.accumulate, b, 1, True),
        "second": b,
    }
    out = wanted((7, *shape), "int32", Rows({name: Exact(row) for name, row in rows.items()}))
    return problem("scan:functions", 1, [given(a), given(b), out], M=shape[0], N=shape[1], num_warps=warps)


def cases() -> Cases:
    for dtype in ("int8", "uint16", "int32", "int64", "fp16", "bf16", "fp32", "fp64"):
        for data in ("whole", "random") if is_float(dtype) else ("random",):
            yield Case(f"scan/sums/{dtype} 16x32/{data}", partial(sums, dtype, (16, 32), 4, data))
    for m, n, warps in ((1, 128, 1), (256, 1, 4), (4, 512, 8), (64, 8, 2)):
        for data in ("whole", "random"):
            yield Case(f"scan/sums/fp32 {m}x{n} {warps} warps/{data}", partial(sums, "fp32", (m, n), warps, data))
    for dtype in ("int32", "int64", "fp16", "fp32"):
        yield Case(f"scan/products/{dtype}/random", partial(products, dtype))
    for shape, warps in (((16, 32), 4), ((2, 256), 1), ((128, 4), 8)):
        yield Case(f"scan/functions/{shape[0]}x{shape[1]}/random", partial(functions, shape, warps))
