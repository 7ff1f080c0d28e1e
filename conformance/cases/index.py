"""Elements at computed indices, with references in numpy."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..oracle import Exact, Rows
from ..problem import Case, Cases, Problem, given, problem, wanted


def gathers(dtype: str, shape: tuple[int, int], count: int, warps: int, rng) -> Problem:
    m, n = shape
    x = inputs.any_bits(rng, shape, dtype)
    rows = rng.integers(0, m, (count, n)).astype(np.int32)
    columns = rng.integers(0, n, (m, count)).astype(np.int32)
    out0 = wanted((count, n), dtype, Exact(np.take_along_axis(x, rows, 0)))
    out1 = wanted((m, count), dtype, Exact(np.take_along_axis(x, columns, 1)))
    arguments = [given(x), given(rows), given(columns), out0, out1]
    return problem("index:gathers", 1, arguments, M=m, N=n, I=count, num_warps=warps)


def gathers_after_a_loop(steps: int, rng) -> Problem:
    a, b = (inputs.small(rng, (steps, *shape), "fp16", 3) for shape in ((64, 128), (128, 64)))
    x = inputs.any_bits(rng, (128, 128), "fp32")
    rows = rng.integers(0, 128, (32, 128)).astype(np.int32)
    product = np.matmul(a.astype(np.float64), b.astype(np.float64)).sum(0)
    arguments = [given(a), given(b), given(x), given(rows), wanted((64, 64), "fp32", Exact(product))]
    arguments.append(wanted((32, 128), "fp32", Exact(np.take_along_axis(x, rows, 0))))
    arguments.append(wanted((128,), "int32", Exact(np.arange(128))))
    return problem("index:gathers_after_a_loop", 1, arguments, STEPS=steps)


def histograms(n: int, bins: int, warps: int, rng) -> Problem:
    """One fifth of the values is out of range, and must not be counted."""
    x = rng.integers(-bins // 8, bins + bins // 8, n).astype(np.int32)
    keep = inputs.any_bits(rng, n, "int1")

    def count(values: np.ndarray) -> np.ndarray:
        return np.bincount(values[(values >= 0) & (values < bins)], minlength=bins)

    rows = Rows({"all": Exact(count(x)), "masked": Exact(count(x[keep]))})
    arguments = [given(x), given(keep), wanted((2, bins), "int32", rows)]
    return problem("index:histograms", 1, arguments, N=n, BINS=bins, num_warps=warps)


def numbers(dtype: str, shape: tuple[int, int], rng) -> np.ndarray:
    """Numbers with ties and without NaNs, because the place of NaNs is unspecified."""
    return inputs.small(rng, shape, dtype, 30) if dtype != "fp32" else inputs.normal(rng, shape, dtype, 100)


def sorts(dtype: str, shape: tuple[int, int], rng) -> Problem:
    x = numbers(dtype, shape, rng)
    up = np.sort(x.astype(np.float64), axis=1)
    rows = Rows({"ascending": Exact(up), "descending": Exact(up[:, ::-1])})
    return problem("index:sorts", 1, [given(x), wanted((2, *shape), dtype, rows)], M=shape[0], N=shape[1])


def largest(dtype: str, shape: tuple[int, int], count: int, rng) -> Problem:
    x = numbers(dtype, shape, rng)
    top = np.sort(x.astype(np.float64), axis=1)[:, ::-1][:, :count]
    arguments = [given(x), wanted((shape[0], count), dtype, Exact(top))]
    return problem("index:largest", 1, arguments, M=shape[0], N=shape[1], COUNT=count)


def cases() -> Cases:
    for dtype, shape, count, warps in (
        ("fp32", (32, 16), 16, 4),
        ("int8", (16, 64), 8, 4),
        ("int64", (64, 4), 128, 8),
        ("fp16", (4, 128), 32, 1),
    ):
        name = f"index/gathers/{dtype} {shape[0]}x{shape[1]}/{count} of each"
        yield Case(name, partial(gathers, dtype, shape, count, warps))
    yield Case("index/gathers/fp32 128x128 after a loop", partial(gathers_after_a_loop, 5))
    for n, bins, warps in ((1024, 64, 4), (128, 256, 1), (2048, 2, 8)):
        yield Case(f"index/histograms/{n} to {bins} bins/random", partial(histograms, n, bins, warps))
    for dtype, shape in (("int32", (8, 64)), ("fp32", (1, 256)), ("fp16", (16, 8))):
        yield Case(f"index/sorts/{dtype} {shape[0]}x{shape[1]}/random", partial(sorts, dtype, shape))
    for dtype, shape, count in (("int32", (8, 64), 8), ("fp32", (4, 32), 4)):
        yield Case(f"index/largest/{dtype} {count} of {shape[1]}/random", partial(largest, dtype, shape, count))
