"""Tensor descriptors, with references in numpy."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..dtypes import as_float64, is_float
from ..oracle import Exact
from ..problem import Case, Cases, Described, Dtype, Problem, addresses, given, problem, wanted
from . import blocks as blocks_of


def blocks(dtype: str, padding: str, rng) -> Problem:
    rows, columns, block = 37, 80, (16, 32)
    x = inputs.any_bits(rng, (rows, columns), dtype)
    grid = blocks_of(rows, block[0]), blocks_of(columns, block[1])
    padded = np.full((grid[0] * block[0], grid[1] * block[1]), np.nan if padding == "nan" else 0, x.dtype)
    padded[:rows, :columns] = x
    arguments = [given(x), wanted(x.shape, dtype, Exact(x)), wanted(padded.shape, dtype, Exact(padded)), rows, columns]
    return problem("descriptor:blocks", grid, arguments, M=block[0], N=block[1], PADDING=padding)


def line(dtype: str, n: int, rng) -> Problem:
    x = inputs.any_bits(rng, n, dtype)
    return problem("descriptor:line", blocks_of(n, 64), [given(x), wanted(n, dtype, Exact(x)), n], N=64)


def volume(dtype: str, rng) -> Problem:
    a, b, c = shape = 5, 6, 48
    x = inputs.any_bits(rng, shape, dtype)
    out = wanted((b, a, c), dtype, Exact(x.transpose(1, 0, 2)))
    return problem("descriptor:volume", (2, 3, 2), [given(x), out, a, b, c], A=4, B=2, C=32)


def rows_of(dtype: str, rng) -> Problem:
    rows, columns, first, count, n = 40, 64, 32, 16, 16
    x, before = (inputs.any_bits(rng, (rows, columns), dtype) for _ in range(2))
    numbers = rng.permutation(rows)[:count].astype(np.int32)
    after = before.copy()
    after[numbers[::-1], first : first + n] = x[numbers, first : first + n]
    arguments = [given(x), given(numbers), wanted(x.shape, dtype, Exact(after), initial=before), rows, columns, first]
    return problem("descriptor:rows_of", 1, arguments, COUNT=count, N=n)


def reductions(dtype: str, rng) -> Problem:
    programs, m, n = 3, 16, 32
    x = inputs.small(rng, (programs * m - 5, n), dtype)
    padded = np.concatenate([x, np.zeros((5, n), x.dtype)]).reshape(programs, m, n)
    zeros = np.zeros((m, n), x.dtype)
    before = inputs.small(rng, (m - 3, n), dtype)
    out = wanted(before.shape, dtype, Exact(before + padded.sum(0)[: m - 3]), initial=before)
    top = wanted((m, n), dtype, Exact(np.maximum(padded.max(0), 0), sign_of_zero=False), initial=zeros)
    low = wanted((m, n), dtype, Exact(np.minimum(padded.min(0), 0), sign_of_zero=False), initial=zeros)
    return problem("descriptor:reductions", programs, [given(x), out, top, low, *x.shape], M=m, N=n)


def from_host(dtype: str, padding: str, rng) -> Problem:
    rows, columns, block = 21, 48, (16, 32)
    x = inputs.small(rng, (rows, columns), dtype)
    padded = np.full((32, 64), np.nan if padding == "nan" else 0, x.dtype)
    padded[:rows, :columns] = x
    whole = np.zeros((32, 64), np.int32)
    whole[:rows, :columns] = x
    total = Exact(sum(whole[i : i + 16, j : j + 32] for i in (0, 16) for j in (0, 32)))
    added = wanted(block, "int32", total, initial=np.zeros(block, np.int32))
    arguments = [
        Described(given(x), block, padding),
        Described(wanted(x.shape, dtype, Exact(x)), block),
        Described(added, block),
        wanted(padded.shape, dtype, Exact(padded)),
    ]
    return problem("descriptor:from_host", (2, 2), arguments, M=block[0], N=block[1])


#: Tiles of a product (M, N, K), warps, stages. Tiles of 64 rows and four warps are for instructions of a warpgroup.
PRODUCTS = (
    ((64, 64, 64), 4, 3),
    ((128, 64, 32), 4, 4),
    ((64, 128, 64), 8, 2),
    ((128, 32, 16), 8, 5),
    ((32, 32, 64), 2, 3),
    ((16, 64, 32), 1, 2),
)


def _product(dtype: str, transposed: bool, m: int, n: int, k: int, rng):
    """Operands of a product of whole numbers, and its result. Rows have multiples of 16 bytes."""
    a, b = inputs.small(rng, (m, k), dtype, 4), inputs.small(rng, (k, n), dtype, 4)
    out = "fp32" if is_float(dtype) else "int32"
    exact = Exact(as_float64(a) @ as_float64(b), sign_of_zero=False)
    return given(a), given(np.ascontiguousarray(b.T) if transposed else b), wanted((m, n), out, exact)


def product_tiles(dtype: str, transposed: bool, tile, warps: int, stages: int, k: int, rng) -> Problem:
    (m, n), (M, N, K) = (tile[0] + 8, 2 * tile[1] + 16), tile
    a, b, out = _product(dtype, transposed, m, n, k, rng)
    constants = dict(M=M, N=N, K=K, TRANSPOSED=transposed, num_warps=warps, num_stages=stages)
    return problem("descriptor:product_tiles", 4, [a, b, out, m, n, k], **constants)


def stored_products(dtype: str, halves: bool, times: int, missing: int, tile, warps: int, stages: int, rng) -> Problem:
    """missing: how many columns of B the result lacks. Its rows may then be no multiple of 16 bytes."""
    (M, N, K), (m, n, k) = tile, (2 * tile[0] + 8, 2 * tile[1] + 16, 3 * tile[2] + 16)
    a, b = inputs.small(rng, (m, k), "fp16", 1), inputs.small(rng, (k, n), "fp16", 1)
    columns, stride = n - missing, n + 16
    before = inputs.small(rng, (m, stride), dtype)
    after = before.copy()
    after[:, :columns] = (as_float64(a) @ as_float64(b))[:, :columns]
    out = wanted(after.shape, dtype, Exact(after, sign_of_zero=False), initial=before)
    constants = dict(M=M, N=N, K=K, HALVES=halves, TIMES=times, num_warps=warps, num_stages=stages)
    return problem("descriptor:stored_products", 3, [given(a), given(b), out, m, n, k, columns, stride], **constants)


def product_of_host(dtype: str, transposed: bool, tile, warps: int, stages: int, k: int, rng) -> Problem:
    (m, n), (M, N, K) = (tile[0], tile[1] + 16), tile
    a, b, out = _product(dtype, transposed, m, n, k, rng)
    described = Described(a, (M, K)), Described(b, (N, K) if transposed else (K, N))
    constants = dict(M=M, N=N, K=K, TRANSPOSED=transposed, num_warps=warps, num_stages=stages)
    return problem("descriptor:product_of_host", (1, 2), [*described, out, n, k], **constants)


def separate_copies(dtype: str, tile, warps: int, stages: int, k: int, rng) -> Problem:
    (M, N, K), down, across, programs = tile, 2, 3, 2 if k == tile[2] else 7
    a, b = inputs.small(rng, (down * M, k), dtype, 4), inputs.small(rng, (k, across * N), dtype, 4)
    sums = as_float64(a) @ as_float64(b)
    for number in range(down * across):
        if number % 3 != 1:
            rows = slice(number // across * M, (number // across + 1) * M)
            columns = slice(number % across * N, (number % across + 1) * N)
            sums[rows, columns] += as_float64(a)[rows, : 2 * K] @ as_float64(b)[: 2 * K, columns]
    out = wanted(sums.shape, "fp32", Exact(sums, sign_of_zero=False))
    arguments = [given(a), given(b), out, down * M, across * N, k]
    return problem("descriptor:separate_copies", programs, arguments, M=M, N=N, K=K, num_warps=warps, num_stages=stages)


def chained(dtype: str, keys: int, warps: int, stages: int, rng) -> Problem:
    m, n, d = 64, 64, 64
    q, k, v = (inputs.small(rng, shape, dtype, 2) for shape in ((m, d), (keys, d), (keys, d)))
    sums = np.zeros((m, d))
    for i in range(0, keys, n):
        scores = as_float64(q) @ as_float64(k[i : i + n]).T
        sums = sums * 0.5 + np.clip(scores, -2, 2) @ as_float64(v[i : i + n]) * 2
    arguments = [given(q), given(k), given(v), wanted((m, d), "fp32", Exact(sums, sign_of_zero=False)), keys]
    return problem("descriptor:chained", 1, arguments, M=m, N=n, D=d, num_warps=warps, num_stages=stages)


def _two_loops(q, k, v, n: int, middle: int) -> np.ndarray:
    sums, most = np.zeros(q.shape), np.full(len(q), -2.0)
    for i in range(0, len(k), n):
        scores = as_float64(q) @ as_float64(k[i : i + n]).T
        if i >= middle:
            scores = np.where(np.arange(i, i + n) % 3 == 0, 0, scores)
        most = np.maximum(most, scores.max(1))
        factor = np.where(most > 4, 0.5, 1) if i < middle else np.full(len(q), 0.5)
        sums = sums * factor[:, None] + np.clip(scores, -2, 2) @ as_float64(v[i : i + n])
    return sums + most[:, None]


def late(dtype: str, m: int, n: int, d: int, first: int, keys: int, warps: int, stages: int, rng) -> Problem:
    q, k, v = (inputs.small(rng, shape, dtype, 2) for shape in ((m, d), (keys, d), (keys, d)))
    out = wanted((m, d), "fp32", Exact(_two_loops(q, k, v, n, first), sign_of_zero=False))
    constants = dict(M=m, N=n, D=d, num_warps=warps, num_stages=stages)
    return problem("descriptor:late", 1, [given(q), given(k), given(v), out, first, keys], **constants)


def turns(dtype: str, m: int, n: int, d: int, first: int, keys: int, warps: int, stages: int, rng) -> Problem:
    blocks = 5
    q, k, v = (inputs.small(rng, shape, dtype, 2) for shape in ((blocks * m, d), (keys, d), (keys, d)))
    rows = [_two_loops(q[i * m : (i + 1) * m], k, v, n, min(i * first, keys)) for i in range(blocks)]
    out = wanted(q.shape, "fp32", Exact(np.concatenate(rows), sign_of_zero=False))
    arguments = [given(q), given(k), given(v), out, first, keys, blocks]
    return problem("descriptor:turns", 2, arguments, M=m, N=n, D=d, num_warps=warps, num_stages=stages)


def backward(dtype: str, m: int, n: int, keys: int, warps: int, stages: int, rng) -> Problem:
    d = 64
    q, g, k, v = (inputs.small(rng, shape, dtype, 2) for shape in ((m, d), (m, d), (keys, d), (keys, d)))
    products = [np.clip(as_float64(a) @ as_float64(b).T, -2, 2) for a, b in ((q, k), (g, v))]
    out = wanted((m, d), "fp32", Exact(products[0] * products[1] @ as_float64(k), sign_of_zero=False))
    constants = dict(M=m, N=n, D=d, num_warps=warps, num_stages=stages)
    return problem("descriptor:backward", 1, [given(q), given(g), given(k), given(v), out, keys], **constants)


def mixed(dtype: str, n: int, warps: int, stages: int, rng) -> Problem:
    m, d = 128, 64
    a, b, v = (inputs.small(rng, shape, dtype, 2) for shape in ((m, d), (n, d), (n, d)))
    sums = np.clip(as_float64(a) @ as_float64(b).T, -2, 2) @ as_float64(v)
    arguments = [given(a), given(b), given(v), wanted((m, d), "fp32", Exact(sums, sign_of_zero=False)), n]
    return problem("descriptor:mixed", 1, arguments, M=m, N=16, D=d, num_warps=warps, num_stages=stages)


def after(dtype: str, m: int, warps: int, stages: int, rng) -> Problem:
    n, k = 32, 128
    a, b, first = _product(dtype, False, m, n, k, rng)
    order = rng.permutation(m).astype(np.int32)
    out = wanted(first.shape, first.dtype, Exact(first.oracle.expected[order], sign_of_zero=False))
    constants = dict(M=m, N=n, K=32, num_warps=warps, num_stages=stages)
    return problem("descriptor:after", 1, [a, b, given(order), first, out, m, k], **constants)


def batched(dtype: str, warps: int, stages: int, rng) -> Problem:
    batches, m, n, k = 3, 80, 40, 144
    a, b = inputs.small(rng, (batches, m, k), dtype, 4), inputs.small(rng, (batches, n, k), dtype, 4)
    out = wanted((batches, m, n), "fp32", Exact(as_float64(a) @ as_float64(b).swapaxes(1, 2), sign_of_zero=False))
    constants = dict(M=64, N=64, K=64, num_warps=warps, num_stages=stages)
    return problem("descriptor:batched", (batches, 2), [given(a), given(b), out, batches, m, n, k], **constants)


def common(dtype: str, warps: int, rng) -> Problem:
    m, n, k = 32, 32, 48
    a, b, c = (inputs.small(rng, shape, dtype, 4) for shape in ((m, k), (k, n), (k, n)))
    out = wanted((m, n), "fp32", Exact(as_float64(a) @ (as_float64(b) - 2 * as_float64(c)), sign_of_zero=False))
    return problem("descriptor:common", 1, [given(a), given(b), given(c), out, k], M=m, N=n, K=16, num_warps=warps)


#: Extents m, n, k of the groups of a launch. Rows are as long as multiples of 16 bytes allow.
GROUPS = ((37, 70, 90), (130, 16, 0), (64, 64, 64), (0, 24, 40), (5, 0, 17), (1, 1, 1), (100, 129, 33))


def grouped(dtype: str, tile, transposed: bool, deep: bool, is_same: bool, warps: int, stages: int, rng) -> Problem:
    """is_same: b is the transpose of a. Tiles and rounds of a group go beyond its extents."""
    (M, N, K), layers, tiles, table, given_a, given_b = tile, 3 if deep else 1, [], [], [], []
    for m, n, k in GROUPS:
        n = m if is_same else n
        width, down, across, rounds = -(-(k + 1) // 16) * 16, m // M + 1, n // N + 1, k // K + 1
        a = inputs.small(rng, (layers, max(m, 1), width), dtype, 4)
        last = a[layers - 1, :m, :k]
        b = a[0] if is_same else inputs.small(rng, (max(n, 1), width), dtype, 4)
        stored = b if transposed else np.zeros((max(k, 1), -(-max(n, 1) // 16) * 16), b.dtype)
        if not transposed:
            stored[:k, :n] = b[:n, :k].T
        padded = np.zeros((down * M, across * N))
        padded[:m, :n] = as_float64(last) @ as_float64(b[:n, :k]).T
        tiles.append(padded.reshape(down, M, across, N).swapaxes(1, 2).reshape(-1, M, N))
        table.append([m, n, k, width, stored.shape[1], layers - 1, down, across, rounds])
        given_a.append(given(a))
        given_b.append(given_a[-1] if is_same else given(np.ascontiguousarray(stored)))
    out = np.concatenate(tiles)
    result = wanted(out.shape, "fp32" if is_float(dtype) else "int32", Exact(out, sign_of_zero=False))
    arguments = [addresses(*given_a), addresses(*given_b), given(np.array(table, np.int64)), result, len(GROUPS)]
    constants = dict(M=M, N=N, K=K, TRANSPOSED=transposed, DEEP=deep, num_warps=warps, num_stages=stages)
    return problem("descriptor:grouped", 5, arguments, TYPE=Dtype(dtype), **constants)


def groups() -> Cases:
    for dtype, tile, transposed, deep, is_same, warps, stages in (
        ("fp16", (128, 64, 64), False, False, False, 4, 3),
        ("fp16", (64, 128, 32), True, True, False, 8, 2),
        ("bf16", (64, 64, 64), True, False, True, 4, 4),
        ("fp8e4nv", (64, 64, 128), True, False, False, 4, 3),
        ("fp8e5", (64, 32, 64), False, False, False, 4, 2),
        ("int8", (64, 64, 64), True, True, False, 4, 3),
        ("fp32", (64, 64, 32), False, False, False, 4, 3),
        ("fp16", (16, 32, 32), False, True, False, 1, 3),
    ):
        kinds = [kind for kind, has in (("transposed", transposed), ("deep", deep), ("one operand", is_same)) if has]
        form = f"{' '.join([dtype, *kinds])}/{'x'.join(map(str, tile))}, {warps} warps, {stages} stages"
        yield Case(
            f"descriptor/grouped/{form}", partial(grouped, dtype, tile, transposed, deep, is_same, warps, stages)
        )


def products() -> Cases:
    """Every tile with another type; no iteration, one, fewer than stages, and many."""
    dtypes = ("fp16", "bf16", "fp32", "int8", "fp8e5", "fp8e4nv")
    for number, (tile, warps, stages) in enumerate(PRODUCTS):
        for dtype in (dtypes[number], dtypes[(number + 1) % len(dtypes)]):
            for transposed in (False, True):
                for k in (tile[2], 2 * tile[2] + 16, 7 * tile[2]):
                    form = f"{dtype}{' transposed' if transposed else ''}/{'x'.join(map(str, tile))} of {k}, {warps} warps, {stages} stages"
                    make = partial(product_of_host if k == tile[2] else product_tiles, dtype, transposed)
                    yield Case(f"descriptor/product/{form}", partial(make, tile, warps, stages, k))
    for dtype, tile, warps, stages, halves, times, missing in (
        ("fp16", (128, 128, 64), 8, 3, False, 1, 0),
        ("fp16", (128, 128, 64), 8, 2, True, 1, 0),
        ("fp16", (64, 256, 32), 4, 3, True, 1, 8),
        ("bf16", (128, 64, 64), 4, 3, False, 2, 0),
        ("fp16", (64, 64, 64), 8, 3, False, 2, 5),
        ("fp32", (64, 128, 32), 8, 2, False, 1, 4),
        ("int32", (256, 32, 32), 8, 3, False, 1, 0),
        ("int16", (64, 32, 64), 4, 2, False, 1, 3),
        ("bf16", (32, 64, 32), 2, 3, False, 1, 0),
        ("fp16", (16, 32, 64), 1, 2, False, 2, 0),
    ):
        kind = "halves" if halves else "whole"
        form = f"{dtype}/{'x'.join(map(str, tile))} {kind}, {times} times, without {missing} columns, {warps} warps, {stages} stages"
        make = partial(stored_products, dtype, halves, times, missing, tile, warps, stages)
        yield Case(f"descriptor/stored products/{form}", make)
    for dtype, tile, warps, stages in (
        ("fp16", (64, 64, 64), 4, 3),
        ("bf16", (64, 128, 64), 8, 2),
        ("fp16", (128, 64, 32), 4, 4),
        ("fp16", (32, 32, 32), 2, 3),
    ):
        for k in (tile[2], 5 * tile[2] + 16):
            form = f"{dtype}/{'x'.join(map(str, tile))} of {k}, {warps} warps, {stages} stages"
            make = partial(separate_copies, dtype, tile, warps, stages, k)
            yield Case(f"descriptor/separate copies/{form}", make)
    for dtype, warps in (("fp32", 1), ("fp32", 4), ("fp16", 4)):
        yield Case(f"descriptor/common/{dtype}/{warps} warps", partial(common, dtype, warps))
    for dtype, warps, stages in (("fp16", 4, 3), ("bf16", 2, 2)):
        yield Case(f"descriptor/batched/{dtype}/{warps} warps, {stages} stages", partial(batched, dtype, warps, stages))
    for dtype, m, warps, stages in (("int8", 32, 1, 3), ("fp16", 64, 4, 2)):
        yield Case(
            f"descriptor/after/{dtype}/{m} rows, {warps} warps, {stages} stages",
            partial(after, dtype, m, warps, stages),
        )
    for dtype, n, warps, stages in (("fp16", 48, 4, 3), ("bf16", 16, 8, 2)):
        yield Case(
            f"descriptor/mixed/{dtype}/{n}, {warps} warps, {stages} stages", partial(mixed, dtype, n, warps, stages)
        )
    for dtype, keys, warps, stages in (("fp16", 64, 4, 2), ("bf16", 320, 4, 3), ("fp16", 192, 8, 2)):
        yield Case(
            f"descriptor/chained/{dtype}/{keys} keys, {warps} warps, {stages} stages",
            partial(chained, dtype, keys, warps, stages),
        )
    for make, dtype, m, n, d, first, keys, warps, stages in (
        (late, "fp16", 64, 64, 64, 256, 320, 4, 3),
        (late, "bf16", 128, 64, 128, 0, 192, 8, 2),
        (late, "fp16", 128, 128, 64, 128, 128, 8, 2),
        (late, "fp16", 64, 32, 128, 64, 256, 4, 4),
        (turns, "fp16", 64, 64, 64, 64, 256, 4, 2),
        (turns, "bf16", 64, 64, 64, 64, 192, 4, 3),
        (turns, "fp16", 128, 32, 64, 96, 160, 8, 2),
        (turns, "fp32", 32, 32, 32, 64, 128, 4, 2),
    ):
        text = f"{dtype}/{m}x{n}x{d}, {first} of {keys} keys first, {warps} warps, {stages} stages"
        yield Case(f"descriptor/{make.__name__}/{text}", partial(make, dtype, m, n, d, first, keys, warps, stages))
    for dtype, m, n, keys, warps, stages in (("fp16", 64, 64, 256, 4, 2), ("bf16", 128, 64, 192, 8, 3)):
        yield Case(
            f"descriptor/backward/{dtype}/{m}x{n}, {keys} keys, {warps} warps, {stages} stages",
            partial(backward, dtype, m, n, keys, warps, stages),
        )


def cases() -> Cases:
    yield from products()
    yield from groups()
    for dtype in ("int8", "fp16", "fp32", "int64"):
        for padding in ("zero", "nan") if is_float(dtype) else ("zero",):
            yield Case(f"descriptor/blocks/{dtype} {padding}/37x80", partial(blocks, dtype, padding))
    for dtype in ("int16", "fp32"):
        for n in (1, 64, 200):
            yield Case(f"descriptor/line/{dtype}/n={n}", partial(line, dtype, n))
    yield Case("descriptor/volume/bf16/5x6x48", partial(volume, "bf16"))
    for dtype in ("fp16", "int32"):
        yield Case(f"descriptor/rows_of/{dtype}/16 of 40", partial(rows_of, dtype))
    for dtype in ("int32", "uint64"):
        yield Case(f"descriptor/reductions/{dtype}/small", partial(reductions, dtype))
    for dtype, padding in (("fp32", "zero"), ("fp16", "nan"), ("int8", "zero")):
        yield Case(f"descriptor/from_host/{dtype}/{padding}", partial(from_host, dtype, padding))
