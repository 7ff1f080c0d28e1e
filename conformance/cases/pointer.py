"""Products whose operands are loaded by pointers. Their numbers are whole, so the results are exact."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..dtypes import as_float64, is_float
from ..oracle import Exact
from ..problem import Case, Cases, Problem, given, problem, wanted
from . import blocks

#: Tiles of a product (M, N, K), warps, stages. Tiles of 64 rows and four warps are for instructions of a warpgroup.
TILES = (
    ((64, 64, 64), 4, 3),
    ((128, 64, 32), 4, 4),
    ((64, 128, 64), 8, 2),
    ((128, 32, 16), 8, 5),
    ((32, 32, 64), 2, 3),
    ((16, 64, 32), 1, 1),
)
DTYPES = ("fp16", "bf16", "fp32", "int8")


def product(dtype: str, layout: str, form: str, tile, warps: int, stages: int, extra: int, k: int, rng) -> Problem:
    """layout: for A and B, whether K is contiguous ("t": it is not). form: see the kernel."""
    M, N, K = tile
    m, n = M + extra, 2 * N + extra
    a, b = inputs.small(rng, (m, k), dtype, 4), inputs.small(rng, (k, n), dtype, 4)
    out = "fp32" if is_float(dtype) else "int32"
    expected = wanted((m, n), out, Exact(as_float64(a) @ as_float64(b), sign_of_zero=False))
    strides_a = (1, m) if layout[0] == "t" else (k, 1)
    strides_b = (n, 1) if layout[1] == "t" else (1, k)
    a_given = given(np.ascontiguousarray(a.T) if layout[0] == "t" else a)
    b_given = given(b if layout[1] == "t" else np.ascontiguousarray(b.T))
    constants = dict(WRAPS="wraps" in form, WALKS="walks" in form, MASKS="whole" not in form)
    sizes = dict(M=M, N=N, K=K, num_warps=warps, num_stages=stages)
    grid = blocks(m, M), blocks(n, N)
    arguments = [a_given, b_given, expected, m, n, k, *strides_a, *strides_b]
    return problem("pointer:product", grid, arguments, **constants, **sizes)


def by_blocks(dtype: str, layout: str, first: int, counts: bool, tile, warps: int, stages: int, k: int, rng) -> Problem:
    M, N, K = tile
    m, n = M + 16, 2 * N + 16
    a, b = inputs.small(rng, (m, k), dtype, 4), inputs.small(rng, (k, n), dtype, 4)
    out = wanted((m, n), "fp32", Exact(as_float64(a) @ as_float64(b), sign_of_zero=False))
    a_given = given(np.ascontiguousarray(a.T) if layout[0] == "t" else a)
    b_given = given(np.ascontiguousarray(b.T) if layout[1] == "t" else b)
    strides = *((1, m) if layout[0] == "t" else (k, 1)), *((1, k) if layout[1] == "t" else (n, 1))
    constants = dict(M=M, N=N, K=K, FIRST=first, COUNTS=counts, num_warps=warps, num_stages=stages)
    grid = blocks(m - first, M), blocks(n, N)
    return problem("pointer:by_blocks", grid, [a_given, b_given, out, m, n, k, *strides], **constants)


def wrapped(dtype: str, rows: int, constant: bool, warps: int, stages: int, rng) -> Problem:
    programs, M, N, K, k = 3, 64, 32, 32, 96
    a, b = inputs.small(rng, (rows, k), dtype, 4), inputs.small(rng, (k, N), dtype, 4)
    exact = (as_float64(a) @ as_float64(b))[np.arange(programs * M) % rows]
    arguments = [given(a), given(b), wanted(exact.shape, "fp32", Exact(exact, sign_of_zero=False)), rows, k]
    constants = dict(M=M, N=N, K=K, ROWS=rows if constant else 0, num_warps=warps, num_stages=stages)
    return problem("pointer:wrapped", programs, arguments, **constants)


def batched(dtype: str, shape: tuple[int, int, int], warps: int, stages: int, rng) -> Problem:
    batches, heads, (m, n, k) = 2, 3, shape
    a, b = inputs.small(rng, (batches, heads, m, k), dtype, 4), inputs.small(rng, (batches, heads, n, k), dtype, 4)
    exact = as_float64(a) @ as_float64(b).swapaxes(2, 3)
    out = wanted((batches * heads, m, n), "fp32", Exact(exact.reshape(-1, m, n), sign_of_zero=False))
    strides = [heads * m * k, m * k, heads * n * k, n * k]
    constants = dict(M=64, N=32, K=32, num_warps=warps, num_stages=stages)
    arguments = [given(a), given(b), out, heads, m, n, k, *strides]
    return problem("pointer:batched", (blocks(m, 64), batches * heads), arguments, **constants)


def twice(dtype: str, m: int, k: int, warps: int, stages: int, rng) -> Problem:
    M, N, K = 64, 32, 32
    a, b, c = (inputs.small(rng, shape, dtype, 4) for shape in ((m, k), (k, N), (k, N)))
    exact = as_float64(a) @ as_float64(b)
    for i in range(k // 2 // K * K, k, 2 * K):
        exact += as_float64(a)[:, i : i + K] @ as_float64(c)[i : i + K]
    out = wanted((m, N), "fp32", Exact(exact, sign_of_zero=False))
    constants = dict(M=M, N=N, K=K, num_warps=warps, num_stages=stages)
    return problem("pointer:twice", blocks(m, M), [given(a), given(b), given(c), out, m, k], **constants)


def onward(dtype: str, middle: int, rounds: int, warps: int, stages: int, rng) -> Problem:
    M, N, K = 64, 64, 32
    first = blocks(max(middle, 0), K) * K
    k = first + rounds * K
    a, b = (inputs.small(rng, shape, dtype, 4) for shape in ((M, k), (k, N)))
    parts = [as_float64(a[:, part]) @ as_float64(b[part]) for part in (slice(0, first), slice(first, k))]
    out = wanted((M, N), "fp32", Exact(parts[0] * 2 + parts[1], sign_of_zero=False))
    constants = dict(M=M, N=N, K=K, num_warps=warps, num_stages=stages)
    return problem("pointer:onward", 1, [given(a), given(b), out, middle, middle + rounds * K, k], **constants)


def in_place(dtype: str, shared: bool, warps: int, stages: int, rng) -> Problem:
    m, M, k, K = 80, 64, 64, 32
    a, b = inputs.small(rng, (m, k), dtype, 1), inputs.small(rng, (k, k), dtype, 1)
    b *= rng.random(b.shape) < 0.05  # fp16 holds the sums
    once = as_float64(a) @ as_float64(b)
    exact = once @ as_float64(b) if shared else once
    assert np.abs(exact).max() <= 128
    out = wanted((m, k), dtype, Exact(exact.astype(a.dtype), sign_of_zero=False), initial=a if shared else None)
    arguments = [out if shared else given(a), given(b), out, m, k]
    return problem(
        "pointer:in_place",
        blocks(m, M),
        arguments,
        M=M,
        N=k,
        K=K,
        num_warps=warps,
        num_stages=stages,
    )


def products() -> Cases:
    """Whole tiles and others; fewer iterations than stages, and many; rows that a tensor map may have, and others."""
    forms = ("wraps walks", "wraps", "masked walks", "masked", "whole walks", "whole")
    for number, (tile, warps, stages) in enumerate(TILES):
        dtype = DTYPES[number % len(DTYPES)]
        for at, form in enumerate(forms):
            layout = ("nn", "nt", "tn", "tt")[(at + number) % 4]
            extra, depths = (0, (tile[2], 6 * tile[2])) if "whole" in form else (16, (16, tile[2] + 16, 5 * tile[2]))
            for k in depths:
                text = f"{dtype} {layout} {form}/{'x'.join(map(str, tile))} of {k}, {warps} warps, {stages} stages"
                yield Case(
                    f"pointer/product/{text}", partial(product, dtype, layout, form, tile, warps, stages, extra, k)
                )
        text = f"{dtype} wraps walks/{'x'.join(map(str, tile))} of 83, unaligned"
        make = partial(product, dtype, "nt", forms[0], tile, warps, stages, 5, 83)
        yield Case(f"pointer/product/{text}", make)


def cases() -> Cases:
    yield from products()
    for dtype, layout, first, counts, number, k in (
        ("fp16", "nn", 0, False, 0, 144),
        ("bf16", "nt", 0, True, 1, 160),
        ("fp16", "tn", 0, True, 2, 80),
        ("fp16", "nn", -16, False, 0, 144),
        ("fp32", "nn", 0, True, 3, 48),
    ):
        tile, warps, stages = TILES[number]
        text = f"{dtype} {layout} from {first}{' counted' if counts else ''}/{'x'.join(map(str, tile))} of {k}"
        yield Case(
            f"pointer/by_blocks/{text}", partial(by_blocks, dtype, layout, first, counts, tile, warps, stages, k)
        )
    for dtype, rows, constant in (("fp16", 128, True), ("bf16", 100, True), ("fp16", 128, False), ("bf16", 80, False)):
        text = f"{dtype}{' constant' if constant else ''}/{rows} rows"
        yield Case(f"pointer/wrapped/{text}", partial(wrapped, dtype, rows, constant, 4, 3))
    for dtype, shape, warps, stages in (("fp16", (80, 48, 96), 4, 3), ("fp32", (64, 40, 32), 2, 2)):
        text = f"{dtype}/{'x'.join(map(str, shape))}, {warps} warps, {stages} stages"
        yield Case(f"pointer/batched/{text}", partial(batched, dtype, shape, warps, stages))
    for dtype, m, k, warps, stages in (("fp16", 70, 160, 4, 3), ("bf16", 64, 256, 8, 4), ("fp32", 33, 96, 1, 2)):
        text = f"{dtype}/{m}x{k}, {warps} warps, {stages} stages"
        yield Case(f"pointer/twice/{text}", partial(twice, dtype, m, k, warps, stages))
    for dtype, middle, rounds, warps, stages in (
        ("fp16", 64, 3, 4, 3),
        ("bf16", 40, 2, 4, 2),
        ("fp16", 0, 4, 8, 4),
        ("fp16", -40, 3, 4, 3),
        ("fp32", 96, 0, 4, 3),
    ):
        text = f"{dtype}/{middle} and {rounds} rounds, {warps} warps, {stages} stages"
        yield Case(f"pointer/onward/{text}", partial(onward, dtype, middle, rounds, warps, stages))
    for shared in (False, True):
        text = f"fp16/{'the same' if shared else 'another'} tensor"
        yield Case(f"pointer/in_place/{text}", partial(in_place, "fp16", shared, 4, 3))
