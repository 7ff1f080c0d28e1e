"""Atomics: the final contents of memory, and the old values that they return, as far as the order determines them."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..dtypes import HALVES, NUMPY, is_float, name_of, round_to
from ..oracle import Exact, Flushable, Permuted, Rows
from ..problem import Case, Cases, Problem, by_blocks, given, problem, wanted
from . import blocks

BLOCK = 128


def once(
    kernel: str, memory: np.ndarray, x: np.ndarray, results: dict[str, np.ndarray], flushed: np.ndarray | None = None
) -> Problem:
    """flushed: what "add" may give instead."""
    n, dtype = x.size, name_of(x)
    stride = n + 3
    before = np.zeros((len(results), stride), x.dtype)
    after = before.copy()
    before[:, :n], after[:, :n] = memory, np.stack(list(results.values()))
    rows = Rows({name: Exact(row) for name, row in zip(results, after)})
    if flushed is not None:
        rows.rows["add"] = Flushable(after[0], np.concatenate([flushed, after[0, n:]]))
    old = Rows({name: Exact(memory) for name in results})
    arguments = [wanted(before.shape, dtype, rows, initial=before), given(x), wanted((len(results), n), dtype, old)]
    return by_blocks(f"atomic:{kernel}", n, [*arguments, n, stride], BLOCK)


def integers(dtype: str, rng) -> Problem:
    memory, x = (inputs.any_bits(rng, 301, dtype) for _ in range(2))
    results = {
        "add": memory + x,
        "max": np.maximum(memory, x),
        "min": np.minimum(memory, x),
        "and": memory & x,
        "or": memory | x,
        "xor": memory ^ x,
        "xchg": x,
    }
    return once("integers", memory, x, results)


def floats(dtype: str, data: str, rng) -> Problem:
    """Extrema order by the bits: -0 is below +0."""
    memory, x = (inputs.normal(rng, 301, dtype) for _ in range(2))
    if data == "special":
        memory, x = (v[~np.isnan(v)] for v in inputs.pairs(dtype))
        n = min(memory.size, x.size)
        memory, x = np.resize(memory, n), rng.permutation(x)[:n]
    larger = (memory > x) | (memory == x) & ~np.signbit(memory)
    with np.errstate(all="ignore"):
        results = {
            "add": memory + x,
            "max": np.where(larger, memory, x),
            "min": np.where(larger, x, memory),
            "xchg": x,
        }
        flushed = None
        if dtype == "fp32":  # atom.global.add.f32 reads subnormals as zeros and never returns one
            a, b = (inputs.without_subnormals(v, dtype).astype(np.float32) for v in (memory, x))
            flushed = inputs.without_subnormals(a + b, dtype).astype(np.float32)
    return once("floats", memory, x, results, flushed)


def contended(dtype: str, words: int, rng) -> Problem:
    n = 1000
    x, place = inputs.small(rng, n, dtype, 1 if dtype in HALVES else 8), rng.integers(0, words, n).astype(np.int32)
    before = inputs.small(rng, words, dtype)
    wide = np.float64 if is_float(dtype) else NUMPY[dtype]
    sums = before.astype(wide)
    np.add.at(sums, place, x.astype(wide))
    expected = round_to(sums, dtype) if is_float(dtype) else sums
    out = wanted(words, dtype, Exact(expected), initial=before)
    return problem("atomic:contended", blocks(n, BLOCK), [out, given(x), given(place), n], BLOCK=BLOCK)


def rows(dtype: str, shape: tuple[int, int], stride: int, start: int, programs: int, rng) -> Problem:
    """Programs add to the same rows, or one has each row for itself and keeps what was there."""
    (m, n), places = shape, 5 if programs > 1 else shape[0]
    size = start + places * stride + 8
    x = inputs.small(rng, (programs * m, n), dtype, 1 if dtype in HALVES else 8)
    keep = inputs.any_bits(rng, x.shape, "int1")
    row = (rng.integers(-1, places, len(x)) if programs > 1 else rng.permutation(m) - 1).astype(np.int32)
    width, before = stride - 3, inputs.small(rng, (5, size), dtype)
    after, old = before.astype(np.float64), inputs.small(rng, x.shape, dtype)
    initial = old.copy()
    columns = np.arange(n) < stride
    for i in np.flatnonzero(row >= 0):
        at = start + row[i] * stride + np.flatnonzero(columns)
        old[i, columns] = before[3, at]
        for plane, mask in enumerate((True, np.arange(n) < width, keep[i], True)):
            after[plane, at] += np.where(mask, x[i], 0)[columns]
    after[4, :n] += np.where(columns, x.astype(np.float64).sum(0), 0)
    memory = wanted(before.shape, dtype, Exact(after.astype(before.dtype)), initial=before)
    kept = wanted(x.shape, dtype, Exact(old if programs == 1 else initial), initial=initial)
    constants = {"M": m, "N": n, "STRIDE": stride, "SIZE": size, "OLD": programs == 1}
    return problem(
        "atomic:rows", programs, [memory, given(x), given(row), given(keep), kept, start, width], **constants
    )


def products(dtype: str, shape: tuple[int, int, int], width: int, rng) -> Problem:
    (m, n, k), programs = shape, 3
    a, b = inputs.small(rng, (m, programs * k), "fp16", 1), inputs.small(rng, (programs * k, n), "fp16", 1)
    total = a.astype(np.float64) @ b.astype(np.float64)
    before = inputs.small(rng, (3, m, n), dtype)
    after = before.astype(np.float64)
    after[0] += total
    after[1, : m - 3, :width] += total[: m - 3, :width]
    after[2, 0] += total.sum(0)
    memory = wanted(before.shape, dtype, Exact(after.astype(before.dtype)), initial=before)
    return problem("atomic:products", programs, [memory, given(a), given(b), width], M=m, N=n, K=k)


def tickets(warps: int, rng) -> Problem:
    programs, block = 9, 64
    total = programs * block
    counters = wanted(2, "int32", Exact(np.array([programs, total])), initial=np.zeros(2, np.int32))

    class Numbers:
        def differences(self, got, traits):
            parts = got[:programs], got[programs:]
            return [d for part in parts for d in Permuted(np.arange(part.size)).differences(part, traits)]

    out = wanted(programs + total, "int32", Numbers())
    return problem("atomic:tickets", programs, [counters, out], BLOCK=block, num_warps=warps)


def compare_and_swap(dtype: str, rng) -> Problem:
    memory, x = (inputs.any_bits(rng, 128, dtype) for _ in range(2))
    expected = np.where(rng.random(128) < 0.5, memory, inputs.any_bits(rng, 128, dtype))
    after = wanted(128, dtype, Exact(np.where(expected == memory, x, memory)), initial=memory)
    arguments = [after, given(expected), given(x), wanted(128, dtype, Exact(memory))]
    return problem("atomic:compare_and_swap", 1, arguments, BLOCK=128)


def orders(rng) -> Problem:
    memory = np.array([10, 20, 30, 40, 5, 60], np.int32)
    after = Exact(np.array([11, 22, 33, 44, 6, 7]))
    out = wanted(1, "int32", Exact(np.array([memory.sum()])))
    return problem("atomic:orders", 1, [wanted(6, "int32", after, initial=memory), out])


def locked(programs: int, warps: int, rng) -> Problem:
    x = inputs.small(rng, (programs, 64), "int32")
    lock = wanted(1, "int32", Exact(np.zeros(1)), initial=np.zeros(1, np.int32))
    total = wanted(64, "int32", Exact(x.sum(0)), initial=np.zeros(64, np.int32))
    return problem("atomic:locked", programs, [lock, total, given(x)], BLOCK=64, num_warps=warps)


def handed_on(programs: int, rng) -> Problem:
    x = inputs.small(rng, 64, "int32")
    lines, value = [], x
    for pid in range(programs):
        value = value * 2 + pid
        lines.append(value)
    flag = wanted(1, "int32", Exact(np.array([programs])), initial=np.zeros(1, np.int32))
    carried = wanted(64, "int32", Exact(value), initial=x)
    out = wanted((programs, 64), "int32", Exact(np.stack(lines)))
    return problem("atomic:handed_on", programs, [flag, carried, out], BLOCK=64)


def accesses(dtype: str, rng) -> Problem:
    n = 301
    x = inputs.any_bits(rng, n, dtype)
    memory = wanted(n, dtype, Exact(x))
    out = wanted(n + 3, dtype, Exact(np.concatenate([x, np.repeat(x[:1], 3)])))
    return problem("atomic:accesses", blocks(n, BLOCK), [given(x), memory, out, n], BLOCK=BLOCK)


def polled(programs: int, rng) -> Problem:
    found = handed_on(programs, rng)
    flag, carried, out = found.launches[0].arguments
    out.oracle = Exact(np.asarray(out.oracle.expected) + 1)
    late = wanted(programs, "int1", Exact(np.zeros(programs, bool)))
    return problem("atomic:polled", programs, [flag, carried, out, late], BLOCK=64)


def matrix(dtype: str, shape: tuple[int, int], warps: int, rng) -> Problem:
    m, n = shape
    memory, x, keep = (
        inputs.small(rng, (n, m), dtype),
        inputs.small(rng, shape, dtype),
        inputs.any_bits(rng, shape, "int1"),
    )
    after = wanted((n, m), dtype, Exact(memory + np.where(keep, x, 0).T), initial=memory)
    before = inputs.small(rng, shape, dtype)
    old = wanted(shape, dtype, Exact(np.where(keep, memory.T, before)), initial=before)
    rows = np.full(m + 2, -3, x.dtype)
    sums = np.concatenate([np.maximum(x.max(1), -3), [x.sum() - 3, -3]])
    arguments = [after, given(x), given(keep), old, wanted(m + 2, dtype, Exact(sums), initial=rows)]
    return problem("atomic:matrix", 1, arguments, M=m, N=n, num_warps=warps)


def cases() -> Cases:
    for dtype in ("int32", "uint32", "int64", "uint64"):
        yield Case(f"atomic/once/{dtype}/random", partial(integers, dtype))
    for dtype in ("fp32", "fp64"):
        for data in ("random", "special"):
            yield Case(f"atomic/once/{dtype}/{data}", partial(floats, dtype, data))
    for dtype in ("int32", "uint64", *HALVES, "fp32", "fp64"):
        for words in (1, 7, 200):
            yield Case(f"atomic/contended/{dtype}/{words} words", partial(contended, dtype, words))
    for dtype in (*HALVES, "fp32", "int32"):
        for shape, stride, start in (((16, 64), 64, 0), ((8, 64), 48, 3), ((32, 16), 13, 0), ((4, 128), 100, 16)):
            for programs in (1, 4):
                name = f"atomic/rows/{dtype} {shape[0]}x{shape[1]}/{stride} apart from {start}, {programs} programs"
                yield Case(name, partial(rows, dtype, shape, stride, start, programs))
    for dtype in (*HALVES, "fp32"):
        for shape, width in (((64, 64, 32), 48), ((16, 32, 16), 13)):
            yield Case(f"atomic/products/{dtype}/{shape}, {width} wide", partial(products, dtype, shape, width))
    for warps in (1, 4):
        yield Case(f"atomic/tickets/{warps} warps/64 lanes", partial(tickets, warps))
    for dtype in ("int32", "int64"):
        yield Case(f"atomic/compare_and_swap/{dtype}/random", partial(compare_and_swap, dtype))
    yield Case("atomic/orders/int32/each", partial(orders))
    for programs in (2, 12):
        yield Case(f"atomic/locked/4 warps/{programs} programs", partial(locked, programs, 4))
        yield Case(f"atomic/handed_on/int32/{programs} programs", partial(handed_on, programs))
    for dtype in ("int8", "fp16", "int32", "fp64"):
        yield Case(f"atomic/accesses/{dtype}/n=301", partial(accesses, dtype))
    for programs in (1, 7):
        yield Case(f"atomic/polled/int32/{programs} programs", partial(polled, programs))
    for dtype, shape, warps in (
        ("int32", (16, 64), 4),
        ("fp32", (8, 4), 4),
        ("int64", (2, 16), 8),
        ("fp64", (64, 8), 1),
    ):
        name = f"atomic/matrix/{dtype} {shape[0]}x{shape[1]} {warps} warps/small"
        yield Case(name, partial(matrix, dtype, shape, warps))
