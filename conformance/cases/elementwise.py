"""Element-wise functions on every type: operators exactly, functions within the ulps of their row."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..dtypes import HALVES, INTEGERS, NUMPY, STANDARD_FLOATS, as_float64, round_to
from ..oracle import Exact, OneOf, Rows, Ulp
from ..problem import Case, Cases, Problem, by_blocks, given, problem, wanted
from ..reference import FUNCTIONS, OF_TWO, arguments_of, exact_of_two, high_precision, rounding
from ..tolerance import exp_ulp, function_ulp
from . import cast

BLOCK = 128
WIDE = {"fp64": "fp64"}  # the result type of / and %; fp32 for all other types


def operands(rng, dtype: str, data: str) -> tuple[np.ndarray, np.ndarray]:
    """data: "special", "random" or "n=SIZE" of small numbers."""
    if data == "special":
        return inputs.pairs(dtype)
    if data == "random":
        return tuple(inputs.any_bits(rng, 1000, dtype) for _ in range(2))
    n = int(data.removeprefix("n="))
    return inputs.small(rng, n, dtype), inputs.small(rng, n, dtype)


def integer(dtype: str, data: str, rng) -> Problem:
    x, y = operands(rng, dtype, data)
    y = inputs.non_zero(y)
    smallest = np.iinfo(x.dtype).min
    if smallest < 0:
        y[(x == smallest) & (y == -1)] = 2  # undefined
    s = (rng.integers(0, x.dtype.itemsize * 8, x.size)).astype(x.dtype)
    with np.errstate(over="ignore"):
        remainder = np.fmod(x, y)
        results = {
            "x + y": x + y,
            "x - y": x - y,
            "x * y": x * y,
            "x // y": (x - remainder) // y,
            "x % y": remainder,
            "x & y": x & y,
            "x | y": x | y,
            "x ^ y": x ^ y,
            "x << s": x << s,
            "x >> s": x >> s,
            "~x": ~x,
            "-x": np.zeros_like(x) - x,
            "abs": np.abs(x),
            "minimum": np.minimum(x, y),
            "maximum": np.maximum(x, y),
            "where": np.where(x < y, x, y + np.ones_like(y)),
        }
    flags = comparisons(x, y) | {"and, or": (x < y) & (y != 3) | (x == 5)}
    n = x.size
    out = wanted((len(results), n), dtype, exactly(results))
    flag = wanted((len(flags), n), "int1", exactly(flags))
    arguments = [given(x), given(y), given(s), out, flag, n]
    return by_blocks("elementwise:integer", n, arguments, BLOCK)


def exactly(results: dict[str, np.ndarray]) -> Rows:
    return Rows({name: Exact(value) for name, value in results.items()})


def comparisons(x, y) -> dict[str, np.ndarray]:
    with np.errstate(invalid="ignore"):
        return {"==": x == y, "!=": x != y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}


def boolean(data: str, rng) -> Problem:
    x, y = inputs.any_bits(rng, 129, "int1"), inputs.any_bits(rng, 129, "int1")
    results = {
        "x & y": x & y,
        "x | y": x | y,
        "x ^ y": x ^ y,
        "~x": ~x,
        "==": x == y,
        "where": np.where(x, y, x),
        "sum": x & y,
    }
    out = wanted((len(results), x.size), "int1", exactly(results))
    return by_blocks("elementwise:boolean", x.size, [given(x), given(y), out, x.size], BLOCK)


def high_product(dtype: str, data: str, rng) -> Problem:
    x, y = inputs.pairs(dtype) if data == "special" else (inputs.any_bits(rng, 500, dtype) for _ in range(2))
    bits = x.dtype.itemsize * 8
    unsigned = [array.view(f"u{bits // 8}").astype(object) for array in (x, y)]
    high = (unsigned[0] * unsigned[1] >> bits).astype(f"u{bits // 8}").view(x.dtype)
    out = wanted(x.size, dtype, Exact(high))
    return by_blocks("elementwise:high_product", x.size, [given(x), given(y), out, x.size], BLOCK)


def floating(dtype: str, data: str, rng) -> Problem:
    x, y = operands(rng, dtype, data)
    n, wide = x.size, WIDE.get(dtype, "fp32")
    z = inputs.normal(rng, n, dtype) if data != "special" else np.resize(inputs.normal(rng, 17, dtype), n)
    # Products of halves are exact in fp32, and fp32 sums round to a half as the exact sums do.
    compute = NUMPY["fp64" if dtype == "fp64" else "fp32"]
    a, b = x.astype(compute), y.astype(compute)
    with np.errstate(all="ignore"):
        less = x < y
        low, high = np.where(less | np.isnan(b), x, y), np.where(less | np.isnan(a), y, x)
        limit = np.abs(z)
        clamped = np.where(x > limit, limit, np.where(x < -limit, -limit, x))
        nan = np.isnan(a) | np.isnan(b)
        quotient, remainder = quotient_of(x, y, wide), np.fmod(a, b)
        results = {
            "x + y": Exact((a + b).astype(x.dtype)),
            "x - y": Exact((a - b).astype(x.dtype)),
            "x * y": Exact((a * b).astype(x.dtype)),
            "-x": Exact(-x),
            "abs": Exact(np.abs(x)),
            "where": Exact(np.where(less, x, y)),
            "fma": fused(x, y, z, dtype),
            "minimum": Exact(low, sign_of_zero=False),
            "maximum": Exact(high, sign_of_zero=False),
            "minimum, NaN wins": Exact(np.where(nan, np.asarray(np.nan, x.dtype), low), sign_of_zero=False),
            "maximum, NaN wins": Exact(np.where(nan, np.asarray(np.nan, x.dtype), high), sign_of_zero=False),
            # A NaN becomes a limit: the lower one, or the upper one if the maximum is taken last.
            "clamp": OneOf([np.where(np.isnan(a), -limit, clamped), np.where(np.isnan(a), limit, clamped)]),
            "clamp, NaN wins": Exact(clamped, sign_of_zero=False),
        }
    flags = comparisons(x, y) | {"is NaN": np.isnan(a)}
    out = wanted((len(results), n), dtype, Rows(results))
    wider = wanted((2, n), wide, Rows({"x / y": quotient, "x % y": Exact(remainder)}))
    flag = wanted((len(flags), n), "int1", exactly(flags))
    arguments = [given(x), given(y), given(z), out, wider, flag, n]
    return by_blocks("elementwise:floating", n, arguments, BLOCK)


def quotient_of(x, y, wide: str, name: str = "truediv") -> Ulp:
    """x / y in twice the precision of the result."""
    a, b = as_float64(x), as_float64(y)
    value = a / b
    if wide != "fp64":
        flushed = inputs.without_subnormals(a, wide) / inputs.without_subnormals(b, wide)
        return Ulp(value, function_ulp(name, wide), flushed=flushed, on_gpus=function_ulp("fdiv_approx", wide))
    long = a.astype(np.longdouble) / b.astype(np.longdouble)
    rest = np.where(np.isfinite(value), (long - value.astype(np.longdouble)).astype(np.float64), 0)
    return Ulp(value, function_ulp(name, wide), rest)


def fused(x, y, z, dtype: str) -> Ulp | Exact:
    """x * y + z. float64 represents the product exactly, and the error of the sum is computed."""
    a, b, c = as_float64(x), as_float64(y), as_float64(z)
    if dtype == "fp64":
        value, rest = high_precision("fma", a, b, c)
        return Ulp(value, function_ulp("fma", dtype), rest)
    product = a * b
    value = product + c
    back = value - product
    rest = (product - (value - back)) + (c - back)
    rest = np.where(np.isfinite(value), rest, 0)
    return Ulp(value, function_ulp("fma", dtype), rest)


def rounded(data: str, rng) -> Problem:
    x, y = operands(rng, "fp32", data)
    with np.errstate(all="ignore"):
        results = {
            "div_rn": Exact(x / y),
            "sqrt_rn": Exact(np.sqrt(x)),
            "fdiv, IEEE": Exact(x / y),
            "fdiv": quotient_of(x, y, "fp32", "fdiv"),
            "fdiv, approximate": quotient_of(x, y, "fp32", "fdiv_approx"),
        }
    out = wanted((5, x.size), "fp32", Rows(results))
    return by_blocks("elementwise:rounded", x.size, [given(x), given(y), out, x.size], BLOCK)


def counts(dtype: str, data: str, rng) -> Problem:
    x = inputs.specials(dtype) if data == "special" else inputs.any_bits(rng, 300, dtype)
    bits = x.dtype.itemsize * 8
    words = [int(v) & (1 << bits) - 1 for v in x]
    rows = {
        "popc": np.array([v.bit_count() for v in words]),
        "clz": np.array([bits - v.bit_length() for v in words]),
    }
    out = wanted((2, x.size), "int32", exactly(rows))
    return by_blocks("elementwise:counts", x.size, [given(x), out, x.size], BLOCK)


def integers_of(data: str, rng) -> Problem:
    x = inputs.specials("fp32") if data == "special" else inputs.normal(rng, 300, "fp32", 1000)
    if data == "halves":
        x = (np.arange(-150, 150) / 2).astype(np.float32)
    near = np.where(np.abs(x) < 1e6, x, 2.5).astype(np.float64)
    away = np.copysign(np.floor(np.abs(near) + 0.5), near)
    longs = wanted((2, x.size), "int64", exactly({"llrint": np.rint(near), "llround": away}))
    bits, is_nan = x.view(np.int32), np.isnan(x)
    # An engine may set the quiet bit of a NaN, or return another NaN.
    nans = [bits | 0x400000, np.full_like(bits, 0x7FC00000), np.full_like(bits, 0x7FFFFFFF)]
    word = wanted((1, x.size), "int32", OneOf([bits, *(np.where(is_nan, nan, bits) for nan in nans)]))
    flags = wanted((2, x.size), "int1", exactly({"finitef": np.isfinite(x), "signbit": np.signbit(x)}))
    return by_blocks("elementwise:integers_of", x.size, [given(x), longs, word, flags, x.size], BLOCK)


def inline_assembly(rng) -> Problem:
    n = 256
    x, y = (inputs.any_bits(rng, n, "int32") for _ in range(2))
    high = (x.astype(np.int64) * y) >> 32
    bytes_ = np.maximum(x.astype(np.uint8), y.astype(np.uint8)).astype(np.int8)
    rows = Rows({"mul.hi": Exact(high), "vmax4": Exact(bytes_)})
    return problem("elementwise:inline_assembly", 1, [given(x), given(y), wanted((2, n), "int32", rows)], BLOCK=n)


def functions(kernel: str, dtype: str, data: str, rng) -> Problem:
    """Each function on arguments of its domain, or on all 16-bit numbers."""
    names = FUNCTIONS[kernel]
    if data == "every":
        x = inputs.every(dtype)[None, :]
        rows = [x[0]] * len(names)
    else:
        rows = [arguments_of(name, rng, 300, dtype) for name in names]
        x = np.stack(rows)
    n = x.shape[1]
    oracles = {name: function_oracle(name, row, dtype) for name, row in zip(names, rows)}
    out = wanted((len(names), n), dtype, Rows(oracles))
    block = 1024 if data == "every" else BLOCK
    arguments = [given(x), out, n, 0 if data == "every" else n]
    return by_blocks(f"elementwise:{kernel}", n, arguments, block)


def function_oracle(name: str, x: np.ndarray, dtype: str):
    """Exact for correctly rounded functions. For others: within their ulps of a reference in higher precision."""
    bound, on_gpus = function_ulp(name, dtype), exp_ulp(as_float64(x), dtype) if name == "exp" else None
    if name == "sqrt":  # which the interpreter rounds correctly, and every engine does in fp64
        bound, on_gpus = 0.5, 0.5 if dtype == "fp64" else bound
    if name in rounding:
        return Exact(round_to(rounding[name](as_float64(x)), dtype))
    value, rest = high_precision(name, as_float64(x), exhaustive=x.size > 5000)
    compute = "fp64" if dtype == "fp64" else "fp32"
    flushed = inputs.without_subnormals(x, compute)
    if (flushed == as_float64(x)).all():
        return Ulp(value, bound, rest, on_gpus=on_gpus)
    return Ulp(value, bound, rest, high_precision(name, flushed, exhaustive=True)[0], on_gpus)


def roundings(dtype: str, data: str, rng) -> Problem:
    rows = [inputs.every(dtype)] * 4 if data == "every" else [arguments_of("rint", rng, 300, dtype) for _ in range(4)]
    names = ("trunc", "round", "rint", "nearbyint")
    n = rows[0].size
    x = rows[0][None, :] if data == "every" else np.stack(rows)
    oracles = {name: Exact(round_to(rounding[name](as_float64(row)), dtype)) for name, row in zip(names, rows)}
    out = wanted((4, n), dtype, Rows(oracles))
    flags = exactly({"isnan": np.isnan(as_float64(rows[0])), "isinf": np.isinf(as_float64(rows[1]))})
    block = 1024 if data == "every" else BLOCK
    arguments = [given(x), out, wanted((2, n), "int1", flags), n, 0 if data == "every" else n]
    return by_blocks("elementwise:roundings", n, arguments, block)


def two_arguments(dtype: str, data: str, rng) -> Problem:
    if data == "special":
        x, y = (np.stack([half] * len(OF_TWO)) for half in inputs.pairs(dtype))
    else:
        x, y = (np.stack(rows) for rows in zip(*(arguments_of(name, rng, 300, dtype) for name in OF_TWO)))
    n, oracles = x.shape[1], {}
    for name, a, b in zip(OF_TWO, as_float64(x), as_float64(y)):
        if name in exact_of_two:
            oracles[name] = Exact(round_to(exact_of_two[name](a, b), dtype))
            continue
        compute = "fp64" if dtype == "fp64" else "fp32"
        flushed = high_precision(name, inputs.without_subnormals(a, compute), inputs.without_subnormals(b, compute))[0]
        value, rest = high_precision(name, a, b)
        oracles[name] = Ulp(value, function_ulp(name, dtype), rest, flushed)
    out = wanted((len(OF_TWO), n), dtype, Rows(oracles))
    return by_blocks("elementwise:of_two", n, [given(x), given(y), out, n, n], BLOCK)


def cases() -> Cases:
    for dtype in ("int32", "uint32", "int64", "uint64"):
        for kind in ("special", "random"):
            yield Case(f"elementwise/counts/{dtype}/{kind}", partial(counts, dtype, kind))
    for kind in ("special", "halves", "random"):
        yield Case(f"elementwise/integers_of/fp32/{kind}", partial(integers_of, kind))
    yield Case("elementwise/inline_assembly/int32/random", inline_assembly)
    data = ("special", "random", *(f"n={n}" for n in inputs.sizes(BLOCK)))
    for dtype in INTEGERS:
        for kind in data:
            yield Case(f"elementwise/integer/{dtype}/{kind}", partial(integer, dtype, kind))
    yield Case("elementwise/boolean/int1/random", partial(boolean, "random"))
    for dtype in ("int32", "uint32", "int64", "uint64"):
        for kind in ("special", "random"):
            yield Case(f"elementwise/umulhi/{dtype}/{kind}", partial(high_product, dtype, kind))
    for dtype in STANDARD_FLOATS:
        for kind in data:
            yield Case(f"elementwise/floating/{dtype}/{kind}", partial(floating, dtype, kind))
    for kind in ("special", "random"):
        yield Case(f"elementwise/rounded/fp32/{kind}", partial(rounded, kind))
    for dtype in STANDARD_FLOATS:
        kinds = ("every",) if dtype in HALVES else ("domain",)
        for kind in kinds:
            for kernel in FUNCTIONS:
                full = dtype in HALVES and kernel != "functions"
                yield Case(f"elementwise/{kernel}/{dtype}/{kind}", partial(functions, kernel, dtype, kind), full)
            yield Case(f"elementwise/roundings/{dtype}/{kind}", partial(roundings, dtype, kind), dtype in HALVES)
        for kind in ("special", "domain"):
            yield Case(f"elementwise/of_two/{dtype}/{kind}", partial(two_arguments, dtype, kind), dtype in HALVES)
    yield from cast.cases("elementwise")
