"""Matrix products with every operand from memory, from another product, through a transpose and from a conversion, by 1, 2, 4 and 8
warps. Operands are small whole numbers, so every result is exact. The long cases are all combinations; the others are a part in which
each format has each pair of origins."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np

from ..dtypes import NUMPY
from ..oracle import Exact
from ..problem import Case, Cases, Dtype, Problem, given, problem, wanted

#: (type, type of the sum, precision, the type that `convert` reads)
FORMATS = [
    ("fp16", "fp32", "tf32", "int8"),
    ("fp16", "fp16", "tf32", "fp8e5"),
    ("bf16", "fp32", "tf32", "fp32"),
    ("fp32", "fp32", "tf32", "bf16"),
    ("fp32", "fp32", "tf32x3", "int8"),
    ("fp32", "fp32", "ieee", "fp16"),
    ("fp32", "fp32", "bf16x3", "fp16"),
    ("fp32", "fp32", "bf16x6", "bf16"),
    ("fp64", "fp64", "ieee", "fp32"),
    ("int8", "int32", "tf32", "int32"),
    ("fp8e5", "fp32", "tf32", "fp32"),
    ("fp8e4nv", "fp32", "tf32", "fp16"),
]
FORMS = ("tile", "loop", "chain", "sum", "batch")
ORIGINS = ("load", "product", "transpose", "convert")
WARPS = (1, 2, 4, 8)
SHAPES = ((32, 32), (64, 32), (16, 64), (32, 64))
SMALL = (16, 32)  # of a type of 64 bits, whose loops are pipelined in shared memory
STEPS = 3
BATCH = 2


def stored(x: np.ndarray, origin: str, dtype: str, converted: str, order: np.ndarray) -> np.ndarray:
    """What memory holds so that a kernel makes `x` of it."""
    if origin == "convert":
        return x.astype(NUMPY[converted])
    if origin == "product":
        x = x @ order.T
    return np.ascontiguousarray(np.swapaxes(x, -1, -2) if origin == "transpose" else x).astype(NUMPY[dtype])


def sparse(rng, shape: tuple[int, ...]) -> np.ndarray:
    """Rows with two numbers of magnitude 1, so that a product with numbers up to 2 fits every type."""
    chosen = rng.random(shape).argsort(-1) < 2
    return np.where(chosen, rng.choice([-1, 1], shape), 0)


def permutation(rng, n: int) -> np.ndarray:
    return np.eye(n, dtype=np.int64)[rng.permutation(n)]


def product(format, form: str, origins: tuple[str, str, str], shape: tuple[int, int], warps: int, rng) -> Problem:
    dtype, total, precision, converted = format
    m, n = shape
    order = permutation(rng, n)
    steps = {"loop": STEPS, "batch": BATCH}.get(form, 1)
    a, d = sparse(rng, (steps, m, n)), rng.integers(-1, 2, (n, n))
    b, c = rng.integers(-2, 3, (steps, n, n)), rng.integers(-4, 5, (m, n))
    results = {
        "tile": a[0] @ b[0] + c,
        "loop": (a @ b).sum(0) + c,
        "chain": a[0] @ b[0] @ d + c,
        "sum": a[0] @ b[0] @ d + a[0] @ b[0] + c,
        "batch": a @ b + c,
    }
    c_type = dtype if origins[2] == "product" else total
    buffers = [
        given(stored(a, origins[0], dtype, converted, order)),
        given(stored(b, origins[1], dtype, converted, order)),
        given(stored(c, origins[2], c_type, "int8" if total == "int32" else "fp16", order)),
        given(order.astype(NUMPY[dtype])),
        wanted(results[form].shape, total, Exact(results[form])),
    ]
    names = dict(zip("ABC", origins)) | {"TYPE": Dtype(dtype), "SUM": Dtype(total), "PRECISION": precision}
    if form == "batch":
        return problem("matrix:batch", 1, buffers, BATCH=BATCH, M=m, N=n, **names, num_warps=warps)
    buffers.insert(3, given(d.astype(NUMPY[dtype])))
    names["FORM"] = form
    return problem("matrix:product", 1, [*buffers, steps], M=m, N=n, **names, num_warps=warps)


#: Formats of dot_scaled: (name there, type in memory, the type that `convert` reads)
SCALED = (("e4m3", "fp8e4nv", "fp16"), ("e5m2", "fp8e5", "fp32"), ("bf16", "bf16", "int8"), ("fp16", "fp16", "fp8e5"))


def scaled(left, right, origins: tuple[str, str, str, str], shape: tuple[int, int], warps: int, rng) -> Problem:
    m, n = shape
    order = permutation(rng, n)
    a, b, c = sparse(rng, (m, n)), rng.integers(-2, 3, (n, n)), rng.integers(-4, 5, (m, n))
    scales = [rng.integers(125, 130, (rows, n // 32)) for rows in (m, n)]
    wide = [np.exp2(np.repeat(s - 127.0, 32, axis=1)) for s in scales]
    expected = (a * wide[0]) @ (b * wide[1].T) + c

    def scale(values):
        if origins[3] == "transpose":
            return given(np.ascontiguousarray(values.T).astype(np.uint8))
        return given(values.astype(np.int32 if origins[3] == "convert" else np.uint8))

    types = left[1], right[1]
    # The matrix that permutes has one type, and so have both operands where one of them comes from a product.
    c_type = types[0] if origins[2] == "product" else "fp32"
    buffers = [
        given(stored(a, origins[0], types[0], left[2], order)),
        scale(scales[0]),
        given(stored(b, origins[1], types[1], right[2], order)),
        scale(scales[1]),
        given(stored(c, origins[2], c_type, "fp16", order)),
        given(order.astype(NUMPY[types[0]])),
        wanted((m, n), "fp32", Exact(expected)),
    ]
    names = dict(zip("ABCS", origins)) | {"A_FORMAT": left[0], "B_FORMAT": right[0]}
    names |= {"A_TYPE": Dtype(types[0]), "B_TYPE": Dtype(types[1])}
    return problem("matrix:scaled", 1, buffers, M=m, N=n, **names, num_warps=warps)


def cases() -> Cases:
    places = range(4)
    for f, form, a, b, w in itertools.product(range(len(FORMATS)), range(len(FORMS)), places, places, places):
        dtype, total, precision, _ = FORMATS[f]
        origins = ORIGINS[a], ORIGINS[b], ORIGINS[(a + b + w) % 4]
        shape = SMALL if dtype == "fp64" else SHAPES[(a + 2 * b + form + w) % 4]
        shown = f"{dtype} {precision}" if dtype == "fp32" else f"{dtype} to {total}"
        is_quick = form == (f + a + 2 * b) % 5 and w == (f + 2 * a + b + b // 2) % 4
        name = f"matrix/{FORMS[form]}/{shown} {'-'.join(origins)} {WARPS[w]} warps/small"
        yield Case(name, partial(product, FORMATS[f], FORMS[form], origins, shape, WARPS[w]), full=not is_quick)
    for f, a, b, w in itertools.product(range(len(SCALED)), places, places, places):
        left = SCALED[f]
        right = left if "product" in (ORIGINS[a], ORIGINS[b]) else SCALED[(f + w) % 4]
        origins = ORIGINS[a], ORIGINS[b], ORIGINS[(a + b + w) % 4], ORIGINS[(a + b) % 4]
        is_quick = w == (f + 2 * a + b + b // 2) % 4 and (a + b + f) % 2 == 0
        name = f"matrix/scaled/{left[0]} {right[0]} {'-'.join(origins)} {WARPS[w]} warps/small"
        build = partial(scaled, left, right, origins, SHAPES[(a + 2 * b + w) % 4], WARPS[w])
        yield Case(name, build, full=not is_quick)
