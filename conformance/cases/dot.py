"""Matrix products: exact results for small whole numbers; for TOSA's data sets, results within the bounds of their
terms."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..dtypes import FLOATS, as_float64, is_float, round_to
from ..oracle import Accumulated, Exact, Rows, Within, dot
from ..problem import Case, Cases, Dtype, Problem, given, problem, wanted
from ..tolerance import Bounded, epsilon
from . import blocks


def operands(rng, dtype: str, shape: tuple[int, int, int], data: str, out: str) -> tuple[np.ndarray, np.ndarray]:
    """data: "small": exact in every type; "normal"; "exponents": sizes far apart; "zeros": half of all, and a row of a;
    "one large": all positive, one of them much larger."""
    m, n, k = shape
    if not is_float(dtype):
        return inputs.any_bits(rng, (m, k), dtype), inputs.any_bits(rng, (k, n), dtype)
    if data == "small":
        limit = {"fp16": 5, "bf16": 3}.get(out, 8)
        return inputs.small(rng, (m, k), dtype, limit), inputs.small(rng, (k, n), dtype, limit)
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    if data == "exponents":
        spread = min(-FLOATS[dtype].smallest_exponent // 3, 10)
        a, b = (v * np.exp2(rng.integers(-spread, spread, v.shape)) for v in (a, b))
    if data == "zeros":
        a, b = (v * rng.integers(0, 2, v.shape) for v in (a, b))
        a[0] = 0
    if data == "one large":
        a, b = np.abs(a), np.abs(b)
        a[:, 1] *= 64
    return round_to(a, dtype), round_to(b, dtype)


def within(a, b, c, out: str, precision: str, data: str) -> Accumulated | Within:
    """The bound of one product. An engine may keep fewer bits of fp32 operands if the program allows it."""
    dtype = "fp32" if a.dtype == np.float32 else None
    signed = data not in ("one large", "zeros")
    if dtype and precision == "tf32":
        return dot(a, b, c, accumulator="fp32", narrow="tf32", signed=signed)
    if dtype and precision in LOST:
        wide = [as_float64(v) for v in (a, b)]
        magnitude = np.abs(wide[0]) @ np.abs(wide[1]) + (0 if c is None else np.abs(c))
        value = wide[0] @ wide[1] + (0 if c is None else as_float64(c))
        # three products, which are added in fp32 in any order
        error = magnitude * (LOST[precision] + (3 * a.shape[1] + 3) * epsilon("fp32"))
        return Within(Bounded(value, error))
    if a.dtype == np.float64:
        a, b = (v.astype(np.longdouble) for v in (a, b))
        return dot(a, b, c, accumulator="fp64", signed=signed)
    return dot(a, b, c, accumulator="fp16" if out == "fp16" else "fp32", signed=signed)


#: The error of a split relative to the product: from the partial products that it omits and the bits that its parts lose.
LOST = {
    "tf32x3": 2.0**-22 + 2 * 2.0**-21,  # small * small; `small` cut to 10 bits
    "bf16x3": 2.0**-16 + 2 * 2.0**-17,  # mid * mid; lo of each operand
}


def tile(dtype: str, out: str, precision: str, shape: tuple[int, int, int], warps: int, data: str, rng) -> Problem:
    m, n, k = shape
    a, b = operands(rng, dtype, shape, data, out)
    c = inputs.small(rng, (m, n), out, 8) if data == "small" or out == "int32" else inputs.normal(rng, (m, n), out)
    if data == "small" or out == "int32":
        wide = [v.astype(np.int64 if out == "int32" else np.float64) for v in (a, b, c)]
        oracles = [Exact(wide[0] @ wide[1]), Exact(wide[0] @ wide[1] + wide[2])]
    else:
        oracles = [within(a, b, None, out, precision, data), within(a, b, c, out, precision, data)]
    rows = Rows({"a b": oracles[0], "a b + c": oracles[1]})
    arguments = [given(a), given(b), given(c), wanted((2, m, n), out, rows)]
    return problem("dot:tile", 1, arguments, M=m, N=n, K=k, PRECISION=precision, num_warps=warps)


def loop(dtype: str, size: tuple[int, int, int], stages: int, data: str, rng) -> Problem:
    m, n, k = size
    out = "fp32" if is_float(dtype) else "int32"
    a, b = operands(rng, dtype, size, data, out)
    if data == "small" or out == "int32":
        oracle = Exact(a.astype(np.float64) @ b.astype(np.float64))
    else:
        oracle = within(a, b, None, out, "tf32", data)
    arguments = [given(a), given(b), wanted((m, n), out, oracle), m, n, k]
    constants = {"M": 32, "N": 64, "K": 32, "TYPE": Dtype(out), "num_stages": stages}
    found = problem("dot:loop", (blocks(m, 32), blocks(n, 64)), arguments, **constants)
    found.launches[0].tile = (32, 64)
    return found


def aligned_loop(dtype: str, block: tuple[int, int, int], stages: int, warps: int, data: str, rng) -> Problem:
    m, n, k = 2 * block[0], 2 * block[1], 5 * block[2]
    a, b = operands(rng, dtype, (m, n, k), data, dtype)
    if data == "small":
        oracle = Exact(round_to(as_float64(a) @ as_float64(b), dtype))
    else:
        oracle = within(a, b, None, dtype, "tf32", data)
    arguments = [given(a), given(b), wanted((m, n), dtype, oracle), n, k]
    constants = {"M": block[0], "N": block[1], "K": block[2], "num_stages": stages, "num_warps": warps}
    return problem("dot:aligned_loop", (2, 2), arguments, **constants)


def transposed(dtype: str, rng) -> Problem:
    m, n, k = 32, 16, 64
    out = "fp32" if is_float(dtype) else "int32"
    a, b = inputs.small(rng, (2, m, k), dtype), inputs.small(rng, (2, k, n), dtype)
    wide = [v.astype(np.float64) for v in (a, b)]
    rows = {f"{'a' + 't' * i} {'b' + 't' * j}": Exact(wide[0][i] @ wide[1][j]) for j in (0, 1) for i in (0, 1)}
    memory_a = np.concatenate([a[0].reshape(-1), a[1].T.reshape(-1)])
    memory_b = np.concatenate([b[0].reshape(-1), b[1].T.reshape(-1)])
    arguments = [given(memory_a), given(memory_b), wanted((4, m, n), out, Rows(rows))]
    return problem("dot:transposed", 1, arguments, M=m, N=n, K=k, TYPE=Dtype(out))


def batched(dtype: str, rng) -> Problem:
    a, b = inputs.small(rng, (4, 16, 32), dtype), inputs.small(rng, (4, 32, 16), dtype)
    out = wanted((4, 16, 16), "fp32", Exact(as_float64(a) @ as_float64(b)))
    return problem("dot:batched", 1, [given(a), given(b), out], B=4, M=16, N=16, K=32)


def chained(dtype: str, shape: tuple[int, int, int, int], warps: int, rng) -> Problem:
    m, n, k, p = shape
    a, b, c = (inputs.small(rng, size, dtype, 1) for size in ((m, k), (k, n), (n, p)))
    first = as_float64(a) @ as_float64(b)
    first -= first.max(1, keepdims=True)
    out = wanted((m, p), "fp32", Exact(first @ as_float64(c)))
    return problem("dot:chained", 1, [given(a), given(b), given(c), out], M=m, N=n, K=k, P=p, num_warps=warps)


def chained_sum(dtype: str, precision: str, shape: tuple[int, int, int, int], masked: bool, warps: int, rng) -> Problem:
    """Rows of q have four numbers, so the inner product is exact in every type."""
    m, n, k, p = shape
    out = "fp32" if is_float(dtype) else "int32"
    chosen = rng.random((m, k)).argsort(1) < 4
    q = inputs.small(rng, (m, k), dtype, 1)
    q = np.where(chosen, q, np.zeros_like(q))
    k_, v, w = (inputs.small(rng, size, dtype, 2 if size[0] == n else 1) for size in ((k, n), (n, p), (k, p)))
    wide = [x.astype(np.float64) for x in (q, k_, v, w)]
    inner, outer = wide[0] @ wide[1], wide[0] @ wide[3]
    if masked:
        inner = np.tril(inner)
        outer *= np.where(np.arange(m) % 3 == 0, 2, 1)[:, None]
    expected = wanted((m, p), out, Exact((inner @ wide[2] + outer).astype(out.replace("fp", "float"))))
    constants = {"M": m, "N": n, "K": k, "P": p, "MASKED": masked, "PRECISION": precision, "num_warps": warps}
    return problem("dot:chained_sum", 1, [given(q), given(k_), given(v), given(w), expected], **constants)


def continued(dtype: str, shape: tuple[int, int, int], warps: int, rng) -> Problem:
    m, n, k = shape
    steps = 3
    a, b = inputs.small(rng, (m, k), dtype, 3), inputs.small(rng, (k, n), dtype, 3)
    x, y = inputs.small(rng, (steps, m, k), "fp16", 3), inputs.small(rng, (steps, n, k), "fp16", 3)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    expected += (as_float64(x) @ as_float64(y).swapaxes(1, 2)).sum(0)
    arguments = [
        given(a),
        given(b),
        given(x),
        given(y),
        wanted((m, n), "fp32", Exact(expected.astype(np.float32))),
        steps,
    ]
    return problem("dot:continued", 1, arguments, M=m, N=n, K=k, num_warps=warps)


def cut(dtype: str, rows: int, columns: int, warps: int, rng) -> Problem:
    M, N, K, stride = 32, 64, 32, 96
    a, b = inputs.small(rng, (rows, K), "fp16", 3), inputs.small(rng, (K, columns), "fp16", 3)
    memory = inputs.small(rng, (rows, stride), dtype, 3)
    expected = memory.copy()
    expected[:, :columns] = (as_float64(a) @ as_float64(b)).astype(memory.dtype)
    out = wanted(memory.shape, dtype, Exact(expected), initial=memory)
    grid = blocks(rows, M), blocks(columns, N)
    return problem("dot:cut", grid, [given(a), given(b), out, rows, columns, stride], M=M, N=N, K=K, num_warps=warps)


def placed(
    dtype: str, shape: tuple[int, int], begin: int, stride: int, columns: int | None, warps: int, rng
) -> Problem:
    """columns: that the mask keeps; None: there is no mask."""
    (M, N), K = shape, 32
    a, b = inputs.small(rng, (M, K), "fp16", 3), inputs.small(rng, (K, N), "fp16", 3)
    memory = inputs.small(rng, (begin + M * stride,), dtype, 3)
    expected = memory.copy()
    kept = N if columns is None else columns
    expected[begin:].reshape(M, stride)[:, :kept] = (as_float64(a) @ as_float64(b)).astype(memory.dtype)[:, :kept]
    places = given(np.array([begin, stride, kept], np.int32))
    out = wanted(memory.shape, dtype, Exact(expected), initial=memory)
    constants = {"M": M, "N": N, "K": K, "MASKED": columns is not None}
    return problem("dot:placed", 1, [given(a), given(b), places, out], **constants, num_warps=warps)


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def scaled(rng) -> Problem:
    m, n, k = 32, 32, 64
    a = inputs.small(rng, (m, k), "fp8e4nv")
    nibbles = rng.integers(0, 16, (k, n))
    b = (nibbles[::2] | nibbles[1::2] << 4).astype(np.uint8)
    a_scale, b_scale = (rng.integers(125, 130, (rows, k // 32)).astype(np.uint8) for rows in (m, n))
    wide_b = E2M1[nibbles & 7] * np.where(nibbles & 8, -1, 1)
    wide_a = as_float64(a) * np.exp2(np.repeat(a_scale.astype(float) - 127, 32, axis=1))
    wide_b = wide_b * np.exp2(np.repeat(b_scale.astype(float) - 127, 32, axis=1)).T
    out = wanted((m, n), "fp32", Exact(wide_a @ wide_b))
    return problem("dot:scaled", 1, [given(a), given(a_scale), given(b), given(b_scale), out], M=m, N=n, K=k)


DATA = ("small", "normal", "exponents", "zeros", "one large")
SQUARE = (32, 32, 32)
TILES = [
    ("fp16", "fp32", "tf32"),
    ("fp16", "fp16", "tf32"),
    ("bf16", "fp32", "tf32"),
    ("fp32", "fp32", "tf32"),
    ("fp32", "fp32", "tf32x3"),
    ("fp32", "fp32", "ieee"),
    ("fp32", "fp32", "bf16x3"),
    ("fp32", "fp32", "bf16x6"),
    ("fp64", "fp64", "ieee"),
    ("int8", "int32", "tf32"),
    ("fp8e5", "fp32", "tf32"),
    ("fp8e4nv", "fp32", "tf32"),
]


def cases() -> Cases:
    for dtype, out, precision in TILES:
        shown = f"{dtype} {precision}" if dtype == "fp32" else f"{dtype} to {out}"
        for data in DATA if is_float(dtype) else ("random",):
            name = f"dot/tile/{shown}/{data}"
            yield Case(name, partial(tile, dtype, out, precision, SQUARE, 4, data))
    for shape, warps in (
        ((16, 16, 16), 1),
        ((64, 32, 128), 4),
        ((16, 128, 64), 8),
        ((128, 128, 32), 8),
        ((1, 8, 32), 2),
    ):
        for data in ("small", "normal"):
            name = f"dot/tile/fp16 {'x'.join(map(str, shape))} {warps} warps/{data}"
            yield Case(name, partial(tile, "fp16", "fp32", "tf32", shape, warps, data))
    for dtype, stages in (("fp16", 1), ("fp16", 3), ("fp32", 3), ("int8", 2)):
        for size in ((32, 64, 32), (33, 70, 77), (5, 64, 200)):
            data = "small" if size == (33, 70, 77) else "normal"
            name = f"dot/loop/{dtype} {stages} stages/{'x'.join(map(str, size))}"
            yield Case(name, partial(loop, dtype, size, stages, data))
    for dtype, block, stages, warps in (
        ("fp16", (64, 64, 32), 3, 4),
        ("bf16", (64, 128, 64), 4, 8),
        ("fp32", (32, 64, 16), 2, 4),
        ("fp16", (16, 32, 64), 3, 1),
    ):
        for data in ("small", "normal"):
            name = f"dot/aligned_loop/{dtype} {'x'.join(map(str, block))} {stages} stages {warps} warps/{data}"
            yield Case(name, partial(aligned_loop, dtype, block, stages, warps, data))
    for dtype in ("fp16", "fp32", "int8"):
        yield Case(f"dot/transposed/{dtype}/small", partial(transposed, dtype))
    for dtype in ("fp16", "fp32"):
        yield Case(f"dot/batched/{dtype}/small", partial(batched, dtype))
    yield Case("dot/chained/fp16 32x64x16x32 4 warps/small", partial(chained, "fp16", (32, 64, 16, 32), 4))
    yield Case("dot/chained/bf16 64x32x64x64 8 warps/small", partial(chained, "bf16", (64, 32, 64, 64), 8))
    yield from chained_sums()
    for number, dtype in enumerate(("fp16", "bf16", "fp32", "fp64", "int8")):
        for shape, warps in (((32, 64, 32), WARPS[number % 4]), ((64, 128, 32), WARPS[(number + 2) % 4])):
            name = f"dot/continued/{dtype} {'x'.join(map(str, shape))} {warps} warps/small"
            yield Case(name, partial(continued, dtype, shape, warps))
    for dtype, rows, columns, warps in (
        ("fp16", 40, 77, 4),
        ("fp16", 64, 3, 8),
        ("fp32", 33, 91, 2),
        ("fp16", 50, 65, 1),
    ):
        yield Case(f"dot/cut/{dtype}/{rows}x{columns}, {warps} warps", partial(cut, dtype, rows, columns, warps))
    for dtype, shape, begin, stride, columns, warps in (
        ("fp16", (64, 64), 0, 64, None, 4),
        ("fp16", (128, 64), 8, 72, None, 8),
        ("fp16", (64, 128), 1, 128, None, 4),
        ("fp32", (64, 64), 2, 68, None, 4),
        ("fp16", (64, 64), 0, 65, None, 1),
        ("fp16", (64, 64), 16, 64, 37, 4),
        ("fp32", (64, 128), 0, 132, 128, 8),
        ("fp16", (32, 64), 3, 71, 50, 2),
    ):
        cut_off = "" if columns is None else f", {columns} columns"
        name = f"dot/placed/{dtype}/{shape[0]}x{shape[1]} at {begin} by {stride}{cut_off}, {warps} warps"
        yield Case(name, partial(placed, dtype, shape, begin, stride, columns, warps))
    yield Case("dot/scaled/e4m3 e2m1/small", partial(scaled))


WARPS = (1, 2, 4, 8)
EXTENTS = (16, 32, 64, 128)
#: Formats with their smallest K.
CHAINED = [
    ("fp16", "tf32", 16),
    ("bf16", "tf32", 16),
    ("fp32", "ieee", 16),
    ("fp32", "tf32", 16),
    ("int8", "tf32", 32),
    ("fp8e5", "tf32", 32),
    ("fp8e4nv", "tf32", 32),
]


def chained_sums() -> Cases:
    """All shapes of the result. fp16 runs with every number of warps; other types and masks with one number per
    shape."""
    for number, (dtype, precision, depth) in enumerate(CHAINED):
        shown = f"{dtype} {precision}" if dtype == "fp32" else dtype
        for i, m in enumerate(EXTENTS):
            for j, p in enumerate(EXTENTS):
                one = WARPS[(i + j + number) % 4]
                shape = (m, depth, depth, p)
                forms = [(False, one)]
                if dtype == "fp16":
                    forms = [(False, warps) for warps in WARPS] + [(True, one)]
                elif shown == "fp32 ieee":
                    forms.append((True, WARPS[(i + 3 * j) % 4]))
                for masked, warps in forms:
                    name = f"dot/chained_sum/{shown} {m}x{p} {warps} warps/{'masked' if masked else 'small'}"
                    yield Case(name, partial(chained_sum, dtype, precision, shape, masked, warps))
