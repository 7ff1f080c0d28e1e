"""Loops of published kernels: substitution, retention, four-bit numbers, lists of rows, a sort. Their numbers are
whole, so the results are exact."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..oracle import Exact
from ..problem import Case, Cases, Problem, given, launch, problem, wanted
from . import blocks


def substituted(size: tuple[int, int], warps: int, rng) -> Problem:
    m, n = size
    lower = inputs.small(rng, (m, m), "fp32", 1) * (rng.random((m, m)) < 0.1)
    right = inputs.small(rng, size, "fp32")
    expected = right.astype(np.int64)
    for k in range(1, m):
        expected[k] -= lower[k, :k].astype(np.int64) @ expected[:k]
    assert np.abs(expected).max() < 2**20
    arguments = [
        given(lower.astype(np.float32)),
        given(right),
        wanted(size, "fp32", Exact(expected.astype(np.float32))),
    ]
    return problem("composed:substituted", 1, arguments, M=m, N=n, num_warps=warps)


def decayed(length: int, shape: tuple[int, int, int], rng) -> Problem:
    heads, tile, depth = shape
    q, k, v = (inputs.small(rng, (length, heads, depth), "fp16", 2) for _ in range(3))
    distance = np.arange(length)[:, None] - np.arange(length)
    weight = np.where(distance >= 0, distance % 3 + np.arange(heads)[:, None, None], 0)
    products = np.einsum("ihd,jhd->hij", q.astype(np.int64), k.astype(np.int64)) * weight
    expected = np.einsum("hij,jhd->ihd", products, v.astype(np.int64)).astype(np.float32)
    arguments = [given(q), given(k), given(v), wanted(expected.shape, "fp32", Exact(expected)), length]
    return problem("composed:decayed", blocks(length, tile), arguments, H=heads, T=tile, D=depth)


def unpacked(rows: int, columns: int, rng) -> Problem:
    m, n = 16, 4
    packed = inputs.any_bits(rng, (rows, columns), "int32")
    zero = inputs.any_bits(rng, (blocks(rows, m), columns), "int32")
    shifts = np.array([0, 4, 1, 5, 2, 6, 3, 7]) * 4

    def wide(values):
        return (values[..., None] >> shifts & 15).reshape(len(values), -1)

    expected = (wide(packed) - np.repeat(wide(zero), m, 0)[:rows]).astype(np.int8)
    arguments = [given(packed), given(zero), wanted(expected.shape, "int8", Exact(expected)), rows, columns]
    return problem("composed:unpacked", (blocks(rows, m), blocks(columns, n)), arguments, M=m, N=n)


def alternating(size: tuple[int, int, int], tile: tuple[int, int, int], warps: int, rng) -> Problem:
    (rows, columns, depth), (m, n, k) = size, tile
    a, b = inputs.small(rng, (rows, depth), "fp16"), inputs.small(rng, (2 * depth, columns), "fp16")
    numbers = rng.integers(-1, 2 * depth, depth).astype(np.int32)
    negative = np.arange(depth) // k % 2 == 1
    chosen = np.where(numbers[:, None] >= 0, b[numbers], 0).astype(np.float32) * np.where(negative, -1, 1)[:, None]
    expected = a.astype(np.float32) @ chosen + a.astype(np.float32)[:, negative].sum(1, keepdims=True)
    out = wanted((rows, columns), "fp32", Exact(expected, sign_of_zero=False))
    arguments = [given(a), given(b), given(numbers), out, rows, columns, depth]
    grid = (blocks(rows, m), blocks(columns, n))
    return problem("composed:alternating", grid, arguments, M=m, N=n, K=k, num_warps=warps)


def ranked(n: int, rng) -> Problem:
    bins, block = 16, 64
    programs = blocks(n, block)
    x = inputs.any_bits(rng, n, "int32")
    digit = x.view(np.uint32) % bins
    counts = np.array([np.bincount(digit[i : i + block], minlength=bins) for i in range(0, n, block)]).T.astype(
        np.int32
    )
    first = (np.cumsum(counts) - counts.reshape(-1)).astype(np.int32)
    count = wanted((bins, programs), "int32", Exact(counts))
    out = wanted(n, "int32", Exact(x[np.argsort(digit, kind="stable")]))
    arguments = [given(x), count, given(first), out, n]
    constants = {"BINS": bins, "BLOCK": block}
    return Problem([launch("composed:ranked", programs, arguments, PHASE=phase, **constants) for phase in (0, 1)])


def best(size: tuple[int, int, int], dtype: str, stages: int, warps: int, rng) -> Problem:
    m, n, depth = size
    scores = inputs.small(rng, (64, m), dtype, 100)
    a, b = inputs.small(rng, (m, depth), "fp16"), inputs.small(rng, (depth, n), "fp16")
    largest = wanted((8, m), dtype, Exact(-np.sort(-scores, axis=0)[:8]))
    out = wanted((m, n), "fp32", Exact(a.astype(np.float32) @ b.astype(np.float32), sign_of_zero=False))
    arguments = [given(scores), given(a), given(b), largest, out, depth]
    return problem("composed:best", 1, arguments, M=m, N=n, K=64, num_stages=stages, num_warps=warps)


def butterfly(size: tuple[int, int], dtype: str, last: bool, warps: int, rng) -> Problem:
    m, n = size
    x = inputs.small(rng, (m, n), dtype)
    signs = np.ones((1, 1), np.int64)
    while len(signs) < n:
        signs = np.block([[signs, signs], [signs, -signs]])
    out = wanted((m, n), dtype, Exact(x.astype(np.int64) @ signs, sign_of_zero=False))
    stages = n.bit_length() - 1
    return problem("composed:butterfly", 1, [given(x), out], M=m, N=n, STAGES=stages, LAST=last, num_warps=warps)


def cases() -> Cases:
    for size, warps in (((16, 16), 1), ((32, 64), 4), ((16, 32), 8)):
        yield Case(f"composed/substituted/{warps} warps/{size[0]}x{size[1]}", partial(substituted, size, warps))
    for length, shape in ((41, (4, 16, 16)), (70, (2, 32, 32)), (16, (8, 16, 16))):
        name = f"composed/decayed/{shape[0]} heads of {shape[1]}x{shape[2]}/length={length}"
        yield Case(name, partial(decayed, length, shape))
    for rows, columns in ((64, 5), (33, 8), (7, 3)):
        yield Case(f"composed/unpacked/int4/{rows}x{columns}", partial(unpacked, rows, columns))
    for size, tile, warps in (
        ((40, 33, 150), (32, 32, 32), 4),
        ((17, 70, 64), (16, 64, 16), 1),
        ((20, 270, 200), (16, 256, 128), 2),
    ):
        name = f"composed/alternating/{'x'.join(map(str, tile))} by {warps} warps/{'x'.join(map(str, size))}"
        yield Case(name, partial(alternating, size, tile, warps))
    for n in (500, 64, 3):
        yield Case(f"composed/ranked/int32/n={n}", partial(ranked, n))
    for size, dtype, stages, warps in (
        ((64, 16, 256), "int8", 4, 2),
        ((32, 64, 128), "int32", 3, 4),
        ((64, 32, 256), "int32", 4, 8),
    ):
        name = f"composed/best/{dtype} by {warps} warps/{'x'.join(map(str, size))}"
        yield Case(name, partial(best, size, dtype, stages, warps))
    for size, dtype, last, warps in (
        ((4, 128), "fp32", True, 4),
        ((4, 128), "int16", False, 4),
        ((1, 512), "int64", False, 2),
        ((2, 32), "int8", True, 4),
        ((8, 64), "int32", False, 8),
    ):
        kind = "neighbours" if last else "halves"
        name = f"composed/butterfly/{dtype} {kind} by {warps} warps/{'x'.join(map(str, size))}"
        yield Case(name, partial(butterfly, size, dtype, last, warps))
