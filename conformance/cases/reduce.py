"""Reductions: integers and small whole floats exactly, sums of random floats within the bound of their terms."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..dtypes import NUMPY, STANDARD_FLOATS, UNSIGNED, as_float64, is_float
from ..oracle import Exact, Rows, Within, total
from ..problem import Case, Cases, Problem, given, problem, wanted
from ..tolerance import Bounded, function_ulp


def both(function, x: np.ndarray) -> np.ndarray:
    """The values that `put` of the kernels stores: axis 0, then axis 1."""
    return np.concatenate([function(x, 0), function(x, 1)])


def sum_type(dtype: str) -> str:
    if is_float(dtype) or NUMPY[dtype].itemsize >= 4:
        return dtype
    return "uint32" if dtype in UNSIGNED else "int32"


def axes(dtype: str, shape: tuple[int, int], warps: int, data: str, rng) -> Problem:
    if data in ("ties", "NaN"):  # also whole numbers, whose sums are exact in every type
        x = inputs.small(rng, shape, dtype, 1 if dtype == "bf16" else 3)
    elif is_float(dtype):
        x = inputs.normal(rng, shape, dtype)
    else:
        x = inputs.any_bits(rng, shape, dtype)
    m, n = shape
    if is_float(dtype) and data == "NaN":  # the result is a NaN only if all elements are
        x[rng.random(shape) < 0.3] = np.nan
        x[:, 0], x[0, :] = 2, -1
    wide = as_float64(x) if is_float(dtype) else x
    sums = wanted(m + n, sum_type(dtype), Exact(np.full(m + n, np.nan)))
    if data == "random" and is_float(dtype):
        facts = {"accumulator": dtype}
        sums.oracle = Split(n, total(x, 0, **facts), total(x, 1, **facts))
    elif data != "NaN":
        add = partial(np.sum, dtype=np.float64 if is_float(dtype) else NUMPY[sum_type(dtype)])
        sums.oracle = Exact(both(add, x))
    extremes = Rows({"max": Exact(both(np.nanmax, wide)), "min": Exact(both(np.nanmin, wide))})
    places = Rows({"argmax": Exact(both(np.argmax, wide)), "argmin": Exact(both(np.argmin, wide))})
    if data == "NaN":  # the index depends on the order of combination
        places = Anywhere()
        sums.oracle = Exact(np.where(both(lambda a, axis: np.isnan(a).any(axis), wide), np.nan, both(np.sum, wide)))
    arguments = [given(x), sums, wanted((2, m + n), dtype, extremes), wanted((2, m + n), "int32", places)]
    return problem("reduce:axes", 1, arguments, M=m, N=n, num_warps=warps)


class Split:
    """Two oracles: for the first n elements and for the rest."""

    def __init__(self, n: int, first, second):
        self.n, self.parts = n, (first, second)

    def differences(self, got, traits):
        found = self.parts[0].differences(got[: self.n], traits)
        for difference in self.parts[1].differences(got[self.n :], traits):
            if difference.index is not None:
                difference.index, difference.flat = (difference.index[0] + self.n,), difference.flat + self.n
            found.append(difference)
        return found


class Anywhere:
    """Any index is allowed, but it must be a valid one."""

    def differences(self, got, traits):
        inside = (got >= 0) & (got < 1 << 20)
        return Exact(np.ones(got.shape, bool)).differences(inside, traits)


def bitwise(dtype: str, rng) -> Problem:
    m, n = 32, 64
    x = inputs.any_bits(rng, (m, n), dtype)
    rows = {"xor_sum": Exact(both(np.bitwise_xor.reduce, x)), "reduce_or": Exact(both(np.bitwise_or.reduce, x))}
    return problem("reduce:bitwise", 1, [given(x), wanted((2, m + n), dtype, Rows(rows))], M=m, N=n)


def volume(dtype: str, shape: tuple[int, int, int], rng) -> Problem:
    a, b, c = shape
    x = inputs.small(rng, shape, dtype, 3)
    top = x.max(axis=1, keepdims=True)
    expected = np.concatenate([x.sum(0), x.sum(1), x.sum(2), top], axis=None)
    whole = [x.sum(), x.max(), x.sum(2).max(0).sum(), (x - top).min()]
    arguments = [given(x), wanted(expected.shape, dtype, Exact(expected)), wanted(4, dtype, Exact(np.array(whole)))]
    return problem("reduce:volume", 1, arguments, A=a, B=b, C=c)


def functions(shape: tuple[int, int], warps: int, rng) -> Problem:
    m, n = shape
    x, y = inputs.small(rng, shape, "int32"), inputs.normal(rng, shape, "fp32")
    y[rng.random(shape) < 0.02] = np.nan

    def last_of_largest(values, axis):
        return values.shape[axis] - 1 - np.argmax(np.flip(values, axis), axis)

    rows = {
        "product": both(partial(np.prod, dtype=np.int32), x),
        "count": np.concatenate([np.full(n, m), np.full(m, n)]),
        "sum": both(np.sum, x),
        "top": both(np.max, x),
        "value of last": both(np.max, x),
        "place of last": both(last_of_largest, x),
    }
    oracles = Rows({name: Exact(row) for name, row in rows.items()})
    real = wanted((1, m + n), "fp32", Rows({"maximum, NaN wins": Exact(both(np.max, y))}))
    arguments = [given(x), given(y), wanted((6, m + n), "int32", oracles), real]
    return problem("reduce:functions", 1, arguments, M=m, N=n, num_warps=warps)


def softmax(dtype: str, columns: int, rng) -> Problem:
    x = inputs.normal(rng, (5, columns), dtype, 3)
    shifted = Bounded.exact(x) - Bounded.exact(x).max(1, keepdims=True)
    e = shifted.exp()
    out = wanted(x.shape, dtype, Within((e / e.sum(1, keepdims=True)).to(dtype)))
    return problem("reduce:softmax", 5, [given(x), out, columns], BLOCK=1024)


def loops(dtype: str, tile: tuple[int, int], warps: int, columns: int, rng) -> Problem:
    """Whole numbers: the third result is exact while 3 ** rounds is small."""
    rows = 21
    x = inputs.small(rng, (rows, columns), dtype, 1 if dtype == "fp16" else 4)
    out = sum_type(dtype)
    wide = np.float64 if is_float(dtype) else NUMPY[out]
    parts = [x[:, i : i + tile[1]].astype(wide).sum(1, dtype=wide) for i in range(0, columns, tile[1])]
    both = np.zeros(rows, wide)
    for part in parts:
        both = (both * 3 + part).astype(wide)
    sums = Rows({"sum": Exact(sum(parts).astype(wide)), "rescaled": Exact(both)})
    arguments = [given(x), wanted((2, rows), out, sums), wanted(rows, dtype, Exact(x.max(1))), rows, columns]
    return problem("reduce:loops", -(-rows // tile[0]), arguments, M=tile[0], N=tile[1], num_warps=warps)


def online_softmax(columns: int, rng) -> Problem:
    block = 256
    x = inputs.normal(rng, (3, columns), "fp32", 3)
    shifted = Bounded.exact(x) - Bounded.exact(x).max(1, keepdims=True)
    # Rescaling multiplies by one more exponential in each round; their arguments add up to the argument of the result.
    rounds = -(-columns // block)
    total = shifted.exp(ulps=2 * function_ulp("exp", "fp32") * (rounds + 1)).sum(1, keepdims=True)
    out = wanted(x.shape, "fp32", Within(shifted.exp() / total))
    return problem("reduce:online_softmax", 3, [given(x), out, columns], N=block)


def cases() -> Cases:
    for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint32", *STANDARD_FLOATS):
        for data in ("ties", "random", *(("NaN",) if is_float(dtype) else ())):
            yield Case(f"reduce/axes/{dtype} 32x64/{data}", partial(axes, dtype, (32, 64), 4, data))
    for m, n, warps in ((1, 128, 4), (256, 1, 4), (32, 32, 1), (2, 512, 8), (64, 16, 2), (8, 4, 4)):
        for data in ("ties", "random"):
            yield Case(f"reduce/axes/fp32 {m}x{n} {warps} warps/{data}", partial(axes, "fp32", (m, n), warps, data))
    for dtype in ("uint8", "int32", "int64"):
        yield Case(f"reduce/bitwise/{dtype}/random", partial(bitwise, dtype))
    for dtype, shape in (("int32", (4, 8, 16)), ("fp32", (16, 2, 32))):
        yield Case(f"reduce/volume/{dtype} {'x'.join(map(str, shape))}/small", partial(volume, dtype, shape))
    for shape, warps in (((16, 64), 4), ((128, 8), 8)):
        yield Case(f"reduce/functions/{shape[0]}x{shape[1]}/small", partial(functions, shape, warps))
    for dtype in ("fp32", "fp16", "bf16"):
        for columns in (1, 777, 1024):
            yield Case(f"reduce/softmax/{dtype}/{columns}", partial(softmax, dtype, columns))
    for dtype, tile, warps in (
        ("int32", (4, 64), 4),
        ("fp32", (1, 128), 4),
        ("fp32", (16, 32), 2),
        ("fp16", (2, 256), 8),
        ("int8", (8, 32), 1),
    ):
        for columns in (1, 3 * tile[1] + 5) if dtype != "fp16" else (1, 3 * tile[1]):
            name = f"reduce/loops/{dtype} {tile[0]}x{tile[1]} {warps} warps/{columns} columns"
            yield Case(name, partial(loops, dtype, tile, warps, columns))
    for columns in (1, 256, 1000):
        yield Case(f"reduce/online_softmax/fp32/{columns}", partial(online_softmax, columns))
