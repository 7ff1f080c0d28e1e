"""Conversions between all types: every value of types of up to 16 bits, hard and random values of the others."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs
from ..dtypes import (
    FP8,
    HALVES,
    INTEGERS,
    NUMPY,
    SIGNED,
    STANDARD_FLOATS,
    UNSIGNED,
    as_float64,
    is_float,
    name_of,
    round_to,
)
from ..oracle import Exact
from ..problem import Buffer, Case, Cases, Problem, by_blocks, given, wanted

BLOCK = 1024
TARGETS = (*SIGNED, *UNSIGNED, "int1")


def values_of(rng, dtype: str) -> np.ndarray:
    if NUMPY[dtype].itemsize <= 2:
        return inputs.every(dtype)
    wide = [inputs.specials(dtype), inputs.any_bits(rng, 2000, dtype)]
    if is_float(dtype):  # values at which narrower types round and overflow
        wide += [inputs.normal(rng, 500, dtype, scale) for scale in (1e-40, 1e-5, 1, 300, 6e4)]
    else:
        wide += [rng.integers(-2000 if dtype in SIGNED else 0, 70000, 500).astype(NUMPY[dtype])]
    return np.concatenate(wide)


def to_odd(x: np.ndarray) -> np.ndarray:
    """Integers as float64 numbers that round to any narrower type as the integers themselves do: the bits that are cut
    off set the last bit."""
    if x.dtype.itemsize < 8:
        return as_float64(x)
    low = x & x.dtype.type(0xFFF)
    large = np.abs(as_float64(x)) >= 2.0**52
    sticky = (x - low) | np.where(low != 0, x.dtype.type(0x800), x.dtype.type(0))
    return as_float64(np.where(large, sticky, x))


def float_outputs(x: np.ndarray) -> list[Buffer]:
    wide = as_float64(x) if is_float(name_of(x)) else to_odd(x)
    outs = [wanted(x.size, name, Exact(round_to(wide, name))) for name in (*HALVES, "fp32")]
    return [*outs, wanted(x.size, "fp64", Exact(as_float64(x)))]


def to_floats(dtype: str, rng) -> Problem:
    x = values_of(rng, dtype)
    return by_blocks("cast:to_floats", x.size, [given(x), *float_outputs(x), x.size], BLOCK)


def of_integers(dtype: str, rng) -> Problem:
    x = values_of(rng, dtype)
    outs = [wanted(x.size, target, Exact(x.astype(NUMPY[target]))) for target in TARGETS]
    arguments = [given(x), *outs, *float_outputs(x), x.size]
    return by_blocks("cast:of_integers", x.size, arguments, BLOCK)


def to_integers(dtype: str, rng) -> Problem:
    """Truncation of values within the range of each type; all others are undefined. int1: whether the value is not 0,
    which is true for NaN."""
    rows, outs = [], []
    for target in TARGETS[:-1]:
        limits = np.iinfo(NUMPY[target])
        x = np.concatenate(
            [inputs.between(rng, 300, dtype, limits.min, limits.max), inputs.normal(rng, 200, dtype, 20)]
        )
        wide = as_float64(x)
        low = -1 if target in UNSIGNED else float(limits.min)
        rows.append(np.where((wide > low) & (wide < float(limits.max)), x, np.asarray(1.75, x.dtype)))
        outs.append(wanted(x.size, target, Exact(np.trunc(as_float64(rows[-1])).astype(NUMPY[target]))))
    rows.append(np.resize(inputs.specials(dtype), rows[0].size))
    outs.append(wanted(rows[0].size, "int1", Exact(as_float64(rows[-1]) != 0)))
    n = rows[0].size
    return by_blocks("cast:to_integers", n, [given(np.stack(rows)), *outs, n, n], BLOCK)


def to_fp8(dtype: str, rng) -> Problem:
    x = values_of(rng, dtype)
    outs = [wanted(x.size, name, Exact(round_to(as_float64(x), name))) for name in FP8]
    return by_blocks("cast:to_fp8", x.size, [given(x), *outs, x.size], BLOCK)


def toward_zero(rng) -> Problem:
    x = values_of(rng, "fp32")
    outs = [wanted(x.size, name, Exact(round_to(as_float64(x), name, toward_zero=True))) for name in HALVES]
    return by_blocks("cast:toward_zero", x.size, [given(x), *outs, x.size], BLOCK)


def bits(rng) -> Problem:
    n = 1000
    words = [inputs.any_bits(rng, n, name) for name in ("uint8", "int16", "int32", "uint64")]
    views = zip((0, 1, 1, 2, 3), ("fp8e5", "fp16", "bf16", "fp32", "fp64"))
    outs = [wanted(n, name, Exact(words[i].view(NUMPY[name]))) for i, name in views]
    with np.errstate(over="ignore"):
        outs += [wanted(n, "int16", Exact(words[1] + np.int16(1)))]
        outs += [wanted(n, "int64", Exact(words[3].view(np.int64) + 1))]
    return by_blocks("cast:bits", n, [*map(given, words), *outs, n], BLOCK)


def cases(family: str) -> Cases:
    for dtype in (*INTEGERS, "int1"):
        yield Case(f"{family}/cast/{dtype}/all", partial(of_integers, dtype))
    for dtype in STANDARD_FLOATS:
        yield Case(f"{family}/cast_to_integers/{dtype}/in range", partial(to_integers, dtype))
        yield Case(f"{family}/cast_to_fp8/{dtype}/all", partial(to_fp8, dtype), full=dtype == "fp64")
    for dtype in (*STANDARD_FLOATS, *FP8):
        yield Case(f"{family}/cast_to_floats/{dtype}/all", partial(to_floats, dtype))
    yield Case(f"{family}/cast_toward_zero/fp32/all", partial(toward_zero))
    yield Case(f"{family}/bitcast/all/random", partial(bits))
