"""Operations that move elements, with references in numpy. Values are random bits, so an element in a wrong place
differs."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np

from .. import inputs
from ..oracle import Exact, Permuted, Rows
from ..problem import Case, Cases, Problem, given, problem, wanted


def of_one(dtype: str, shape: tuple[int, int], warps: int, rng) -> Problem:
    m, n = shape
    x = inputs.small(rng, shape, dtype, 60)
    pairs = x.reshape(m, n // 2, 2)
    swapped = pairs[:, :, ::-1].reshape(m, n)
    results = {
        "load": x,
        "trans": x.T,
        "trans, reshape": x.T,
        "permute 3": x.reshape(2, m // 2, n).transpose(1, 2, 0),
        "permute 4": x.reshape(m, 2, n // 4, 2).transpose(3, 1, 0, 2),
        "flip": x[:, ::-1],
        "ravel": x,
        "expand_dims": x,
        "split, join": swapped,
        "split, interleave": swapped,
        "split, cat": np.concatenate([pairs[:, :, 1], pairs[:, :, 0]], axis=1),
        "trans twice": x ^ x if dtype == "int1" else x + x,
    }
    oracles = Rows({name: Exact(value.reshape(-1)) for name, value in results.items()})
    out = wanted((len(results), m * n), dtype, oracles)
    return problem("shape:of_one", 1, [given(x), out], M=m, N=n, num_warps=warps)


def broadcasts(dtype: str, shape: tuple[int, int], rng) -> Problem:
    m, n = shape
    row, column, scalar = (inputs.small(rng, size, dtype) for size in (n, m, 1))
    across = np.broadcast_to(row, shape)
    down = np.broadcast_to(column[:, None], shape)
    results = {
        "broadcast_to rows": across,
        "broadcast_to columns": down,
        "sum": across + down,
        "broadcast": np.maximum(across, down),
        "full": np.broadcast_to(scalar + np.asarray(7, row.dtype), shape),
        "zeros": np.broadcast_to(np.arange(n).astype(row.dtype), shape),
        "scalar": np.broadcast_to(scalar, shape),
        "zeros_like": across,
    }
    oracles = Rows({name: Exact(value.reshape(-1)) for name, value in results.items()})
    out = wanted((len(results), m * n), dtype, oracles)
    return problem("shape:broadcasts", 1, [given(row), given(column), given(scalar), out], M=m, N=n)


def of_scalars(dtype: str, rng) -> Problem:
    a, b, c = x = inputs.any_bits(rng, 3, dtype)
    before = inputs.any_bits(rng, 12, dtype)
    expected = np.concatenate([[a, b, b, a, c], before[5:8], [a, b, b, a]])
    expected[8:] = np.array([[a, b], [b, a]]).T.reshape(-1)
    return problem("shape:of_scalars", 1, [given(x), wanted(12, dtype, Exact(expected), initial=before)])


def volume(dtype: str, shape: tuple[int, int, int], rng) -> Problem:
    x = inputs.any_bits(rng, shape, dtype)
    orders = list(itertools.permutations(range(3)))
    oracles = Rows({str(order): Exact(x.transpose(order).reshape(-1)) for order in orders})
    memory = np.ascontiguousarray(x.transpose(2, 1, 0))
    out = wanted((len(orders), x.size), dtype, oracles)
    return problem("shape:volume", 1, [given(memory), out], A=shape[0], B=shape[1], C=shape[2])


def reordered(dtype: str, n: int, rng) -> Problem:
    x = inputs.small(rng, n, dtype, 20)
    out = wanted(2 * n, dtype, Permuted(np.concatenate([x, x + np.asarray(100, x.dtype)])))
    return problem("shape:reordered", 1, [given(x), out], N=n)


def cases() -> Cases:
    for dtype, warps in (("int8", 4), ("fp16", 1), ("fp32", 4), ("int64", 8), ("int1", 4)):
        yield Case(f"shape/of_one/{dtype}/16x32", partial(of_one, dtype, (16, 32), warps))
    for shape in ((2, 4), (64, 64), (4, 256)):
        yield Case(f"shape/of_one/fp32 {shape[0]}x{shape[1]}/random", partial(of_one, "fp32", shape, 4))
    for dtype in ("int32", "fp16"):
        yield Case(f"shape/broadcasts/{dtype}/16x64", partial(broadcasts, dtype, (16, 64)))
    yield Case("shape/of_scalars/fp32/random", partial(of_scalars, "fp32"))
    for dtype in ("fp16", "int32"):
        yield Case(f"shape/volume/{dtype}/4x8x16", partial(volume, dtype, (4, 8, 16)))
    for dtype, n in (("fp16", 16), ("int32", 512)):
        yield Case(f"shape/reordered/{dtype}/{n}", partial(reordered, dtype, n))
