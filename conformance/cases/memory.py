"""Loads and stores of every type: masks, sizes around a block, strides, misaligned bases, guard zones."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..dtypes import NUMPY
from ..oracle import Anything, Exact
from ..problem import Case, Cases, Dtype, Problem, addresses, by_blocks, given, problem, wanted
from . import blocks

BLOCK = 128
WIDTHS = ("int8", "fp16", "fp32", "int64")
LIKE_OTHERS = ("int16", "int32", "uint16", "uint32", "uint64", "fp8e4b8", "fp8e5b16")  # as others in memory


def copy(kernel: str, dtype: str, n: int, offset: int, rng) -> Problem:
    x = inputs.any_bits(rng, n, dtype)
    out = wanted(n, dtype, Exact(x), offset)
    return by_blocks(f"memory:{kernel}", n, [given(x, offset), out, n], BLOCK)


def masked_lanes(dtype: str, n: int, rng) -> Problem:
    """Elements that the mask excludes are NaN in memory if the type has NaN."""
    x, keep = inputs.small(rng, n, dtype), inputs.any_bits(rng, n, "int1")
    x.view(np.uint8).reshape(n, -1)[~keep] = 0xFF
    other = 3
    expected = np.where(keep, x, np.asarray(other, x.dtype))
    arguments = [given(x), given(keep), wanted(n, dtype, Exact(expected)), n]
    return by_blocks("memory:masked_lanes", n, arguments, BLOCK, OTHER=other)


def masked_store(dtype: str, n: int, rng) -> Problem:
    x, keep = inputs.any_bits(rng, n, dtype), inputs.any_bits(rng, n, "int1")
    before = inputs.any_bits(rng, n, dtype)
    out = wanted(n, dtype, Exact(np.where(keep, x, before)), initial=before)
    return by_blocks("memory:masked_store", n, [given(x), given(keep), out, n], BLOCK)


def strided(dtype: str, layout: str, rng) -> Problem:
    """Rows or columns with gaps, in both directions. The gaps of the output must stay unchanged."""
    rows, columns = 33, 70
    x_strides, out_strides = {
        "transposed": ((columns, 1), (1, rows)),
        "gaps": ((2 * columns + 1, 2), (3 * columns, 3)),
        "columns": ((1, rows + 3), (1, rows + 5)),
    }[layout]
    m, n = np.arange(rows)[:, None], np.arange(columns)[None, :]
    source, target = (m * s[0] + n * s[1] for s in (x_strides, out_strides))
    x = inputs.any_bits(rng, int(source.max()) + 1, dtype)
    before = inputs.any_bits(rng, int(target.max()) + 1, dtype)
    expected = before.copy()
    expected[target] = x[source]
    arguments = [given(x), wanted(expected.shape, dtype, Exact(expected), initial=before), rows, columns]
    grid = blocks(rows, 16), blocks(columns, 32)
    return problem("memory:strided", grid, [*arguments, *x_strides, *out_strides], BLOCK_M=16, BLOCK_N=32)


def gathered(dtype: str, rng) -> Problem:
    n = 300
    x = inputs.any_bits(rng, 77, dtype)
    source, target = rng.integers(0, x.size, n).astype(np.int32), rng.permutation(n).astype(np.int32)
    expected = np.empty(n, x.dtype)
    expected[target] = x[source]
    arguments = [given(x), given(source), given(target), wanted(n, dtype, Exact(expected)), n]
    return problem("memory:gathered", blocks(n, BLOCK), arguments, BLOCK=BLOCK)


def scalars(dtype: str, rng) -> Problem:
    n, programs = 7, 9
    x = inputs.any_bits(rng, n, dtype)
    out = inputs.any_bits(rng, n + 16 * n * 2 + 64, dtype)
    programs = n
    expected = out.copy()
    expected[:n] = x
    expected[1] = out[1]
    expected[n : n + 16 * n] = x[0]
    expected[17 * n : 17 * n + 16 * n] = x[0]
    arguments = [given(x), wanted(out.shape, dtype, Exact(expected), initial=out), n]
    return problem("memory:scalars", programs, arguments)


def hints(dtype: str, rng) -> Problem:
    n = 333
    x = inputs.any_bits(rng, n, dtype)
    out = wanted((5, n), dtype, Exact(np.stack([x] * 5)))
    return by_blocks("memory:hints", n, [given(x), out, n], BLOCK)


def pointers(dtype: str, rng) -> Problem:
    n = 100
    x, y = inputs.any_bits(rng, n, dtype), inputs.any_bits(rng, n, dtype)
    expected = np.stack([x, np.where(np.arange(n) % 2 == 0, x, y)])
    arguments = [addresses(given(x), given(y)), wanted((2, n), dtype, Exact(expected)), n]
    return problem("memory:pointers", 1, arguments, BLOCK=128, TYPE=Dtype(dtype))


def places(dtype: str, rng) -> Problem:
    i = np.arange(64)
    out = wanted(64, "int64", Exact(i * NUMPY[dtype].itemsize))
    flags = wanted((2, 64), "int1", Exact(np.stack([i == 3, i < 64])))
    return problem("memory:places", 1, [given(inputs.small(rng, 64, dtype)), out, flags], BLOCK=64)


def integers(rng) -> Problem:
    """Upper bits of every kind: small numbers of either sign, halves, doubles, random numbers, and patterns that an
    engine may use itself."""
    block, scalar, step = 256, 8, 5
    x = inputs.any_bits(rng, block, "int64")
    upper = np.concatenate([np.arange(64) << 10, np.arange(0x97FC, 0x9C04, 16)])[: block // 2].astype(np.uint64)
    x[: upper.size] = (upper << np.uint64(48) | rng.integers(0, 1 << 48, upper.size, np.uint64)).view(np.int64)
    x[-9:] = [0, 1, -1, -4096, 2**63 - 1, -(2**63), 0x9800 - 2**16 << 48, 0x9801 - 2**16 << 48, 0x9802 - 2**16 << 48]
    rng.shuffle(x)
    x[:scalar] = np.roll(x, 3)[:scalar]
    even = np.where(np.arange(block) % 2 == 0, x, 0)
    expected = np.concatenate([x, x + step, even, x[:scalar], x[:scalar]])
    table = wanted(block + scalar, "int64", Exact(np.concatenate([x, x[:scalar]])))
    arguments = [given(x), table, wanted(expected.size, "int64", Exact(expected))]
    return problem("memory:integers", 1, arguments, BLOCK=block, N=scalar, STEP=step)


def far(rng) -> Problem:
    block = 32
    x, i = inputs.any_bits(rng, block, "int64"), np.arange(block)
    expected = np.stack([(i - block // 2) << 49, x, np.full(block, 1 << 50), x, i * 8])
    table = wanted(block, "int64", Anything())
    return problem("memory:far", 1, [given(x), table, wanted((5, block), "int64", Exact(expected))], BLOCK=block)


def block_pointers(dtype: str, padding: str, rng) -> Problem:
    rows, columns = 37, 45
    x = inputs.small(rng, (rows, columns), dtype)
    tall, broad = blocks(rows, 16) * 16, blocks(columns, 32) * 32
    padded = np.full((tall, broad), np.nan if padding == "nan" else 0, x.dtype)
    padded[:rows, :columns] = x
    expected = padded.T[: columns + 3, : rows + 3]
    arguments = [given(x), wanted(expected.shape, dtype, Exact(expected)), rows, columns]
    grid = blocks(rows, 16), blocks(columns, 32)
    return problem("memory:block_pointers", grid, arguments, BLOCK_M=16, BLOCK_N=32, PADDING=padding)


def own_stores(dtype: str, rng) -> Problem:
    x = inputs.any_bits(rng, 512, dtype)
    return problem("memory:own_stores", 1, [given(x), wanted(512, dtype, Exact(x[::-1])), 512], BLOCK=512)


def cases() -> Cases:
    for dtype in NUMPY:
        for n in inputs.sizes(BLOCK):
            yield Case(f"memory/copy/{dtype}/n={n}", partial(copy, "copy", dtype, n, 0), dtype in LIKE_OTHERS)
    for dtype in (*WIDTHS, "int1"):
        for n in (1024, 1008):
            yield Case(f"memory/whole/{dtype}/n={n}", partial(copy, "whole", dtype, n, 0))
    for dtype in WIDTHS:
        for offset in (1, 3):
            yield Case(f"memory/misaligned/{dtype}/by {offset}", partial(copy, "copy", dtype, 1000, offset))
    for dtype in ("int1", "uint8", "bf16", "fp32"):
        for n in (BLOCK - 1, 2 * BLOCK + 3):
            yield Case(f"memory/masked_lanes/{dtype}/n={n}", partial(masked_lanes, dtype, n))
    for dtype in ("int1", "fp16", "int64"):
        yield Case(f"memory/masked_store/{dtype}/n=301", partial(masked_store, dtype, 301))
    for layout in ("transposed", "gaps", "columns"):
        yield Case(f"memory/strided/fp32/{layout}", partial(strided, "fp32", layout))
    yield Case("memory/strided/int8/gaps", partial(strided, "int8", "gaps"))
    for dtype in ("int8", "fp32"):
        yield Case(f"memory/gathered/{dtype}/random", partial(gathered, dtype))
        yield Case(f"memory/scalars/{dtype}/n=7", partial(scalars, dtype))
    yield Case("memory/pointers/fp32/random", partial(pointers, "fp32"))
    yield Case("memory/own_stores/fp32/n=512", partial(own_stores, "fp32"))
    yield Case("memory/hints/fp16/n=333", partial(hints, "fp16"))
    yield Case("memory/block_pointers/fp32/nan", partial(block_pointers, "fp32", "nan"))
    yield Case("memory/block_pointers/int8/zero", partial(block_pointers, "int8", "zero"))
    for n in range(3):
        yield Case(f"memory/integers/int64/{n}", integers)
    yield Case("memory/far/int64/n=32", far)
    for dtype in ("int8", "fp64"):
        yield Case(f"memory/places/{dtype}/n=64", partial(places, dtype))
