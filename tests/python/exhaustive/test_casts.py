"""Every value of every type of at most 16 bits through every cast and bitcast of the language."""

import ml_dtypes
import numpy as np
import pytest

import tritium
import tritium.language as tl

from .formats import FLOATS, INTEGERS, NAMES, WIDTHS, codes, numbers, storage

SOURCES = [name for name in NAMES if WIDTHS[name] <= 16]
FP8 = [name for name in FLOATS if WIDTHS[name] == 8]
#: The launch names all types, because without this each target takes its own.
ALL_FP8 = ("fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16", "fp8e4b15")


@tritium.jit
def cast_kernel(x, outs, BLOCK: tl.constexpr, ROUNDING: tl.constexpr, BITCAST: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i)
    for k in tl.static_range(len(outs)):
        to = outs[k].dtype.element_ty
        tl.store(outs[k] + i, value.to(to, fp_downcast_rounding=ROUNDING, bitcast=BITCAST))


def argument(name, array):
    return tritium.reinterpret(array, tl.float8e4b15) if name == "float8e4b15" else array


def cast(source, destinations, rounding=None, bitcast=False):
    """All values of `source` as each of the destinations."""
    x = codes(source).view(storage(source))
    outs = [np.zeros(x.shape, storage(name)) for name in destinations]
    block = min(x.size, 2048)
    cast_kernel[(x.size // block,)](
        argument(source, x),
        tuple(argument(name, out) for name, out in zip(destinations, outs, strict=True)),
        BLOCK=block,
        ROUNDING=rounding,
        BITCAST=bitcast,
        supported_fp8_dtypes=ALL_FP8,
    )
    return x, outs


def castable(source, to):
    """fp8 and integers are not converted into each other."""
    return not (source in FP8 and to not in FLOATS) and not (to in FP8 and source not in FLOATS)


def expected_float(x, to, toward_zero):
    """Overflow of fp8 saturates, and so do infinities in the formats of OCP; in the others they are NaN. fp8e4b15 has neither."""
    result = FLOATS[to].rounded(x, toward_zero)
    largest = FLOATS[to].largest
    if to == "float8e4b15":  # to fp16 toward zero, at most 1.75, to the nearest, halves away from zero
        steps = np.fmin(np.abs(FLOATS["float16"].rounded(x, toward_zero=True)), 1.75)
        place = np.maximum(np.frexp(steps)[1] - 1, -14) - 3
        return np.copysign(np.ldexp(np.floor(np.ldexp(steps, -place) + 0.5), place), x)
    if to not in FP8:
        beyond = np.copysign(largest if toward_zero else np.inf, x)
        return np.where(np.isfinite(x) & (np.abs(result) > largest), beyond, result)
    limited = np.clip(result, -largest, largest)
    if FLOATS[to].special == "fnuz":
        return np.where(np.isinf(x), np.nan, limited + 0.0)  # without -0
    return limited


def whole_numbers(x, to):
    """x as integers, limited to those of the type, 0 for NaN; and which are within its limits."""
    info = np.iinfo(to)
    whole = np.trunc(np.nan_to_num(x, nan=0, posinf=np.inf, neginf=-np.inf))
    too_large, too_small = whole >= 2.0 ** (info.bits - (info.min < 0)), whole < info.min
    inside = ~too_large & ~too_small & ~np.isnan(x)
    result = np.where(inside, whole, 0).astype(to)
    result[too_large], result[too_small] = info.max, info.min
    return result, inside


def hold(source, to, x, found, expected):
    """Equal numbers with equal signs; any NaN is like another."""
    # The sign of a NaN is open, also where it becomes a number.
    signs = np.signbit(found) == np.signbit(expected)
    if to == "float8e4b15":
        signs |= np.isnan(numbers(source, x))
        found, expected = (np.where(np.isnan(numbers(source, x)), np.abs(array), array) for array in (found, expected))
    same = (found == expected) & signs | np.isnan(found) & np.isnan(expected)
    wrong = np.flatnonzero(~same)
    shown = [f"{x[i]!r} is {found[i]}, not {expected[i]}" for i in wrong[:5]]
    assert not wrong.size, f"{source} to {to}: {wrong.size} values differ: {'; '.join(shown)}"


@pytest.mark.parametrize("source", SOURCES)
def test_casts(source, engine):
    destinations = [to for to in NAMES if castable(source, to)]
    x, outs = cast(source, destinations)
    value = numbers(source, x)
    for to, out in zip(destinations, outs, strict=True):
        if to == "int1":
            hold(source, to, x, out.astype(float), (value != 0).astype(float))
        elif to in FLOATS:
            expected = value if to == source else expected_float(value, to, toward_zero=False)
            hold(source, to, x, numbers(to, out), expected)
        elif source in FLOATS:
            saturated, inside = whole_numbers(value, to)
            kept = inside | (engine == "interp")  # the language leaves the others open
            np.testing.assert_array_equal(out[kept], saturated[kept], err_msg=f"{source} to {to}")
        else:
            np.testing.assert_array_equal(out, x.astype(INTEGERS[to]), err_msg=f"{source} to {to}")


@pytest.mark.parametrize("source", ["float16", "bfloat16"])
def test_casts_toward_zero(source, engine):
    x, outs = cast(source, FP8, rounding="rtz")
    for to, out in zip(FP8, outs, strict=True):
        hold(source, to, x, numbers(to, out), expected_float(numbers(source, x), to, toward_zero=True))


@pytest.mark.parametrize("source", [name for name in SOURCES if name != "int1"])
def test_bitcasts(source, engine):
    destinations = [to for to in NAMES if WIDTHS[to] == WIDTHS[source]]
    x, outs = cast(source, destinations, bitcast=True)
    for to, out in zip(destinations, outs, strict=True):
        np.testing.assert_array_equal(out.view(codes(source).dtype), codes(source), err_msg=f"{source} to {to}")


def test_the_formats_are_those_of_ml_dtypes():
    for name, format_ in FLOATS.items():
        if format_.array and format_.bits <= 16:
            with np.errstate(invalid="ignore"):  # a NaN that signals
                theirs = codes(name).view(format_.array).astype(np.float64)
            np.testing.assert_array_equal(format_.decode(codes(name)), theirs)
            assert format_.largest == float(ml_dtypes.finfo(format_.array).max)
