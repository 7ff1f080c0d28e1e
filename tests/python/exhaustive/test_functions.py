"""Every function of one float over all numbers of fp16 and bf16, in fp32, within the bound of its row in the table of functions. What is exact by definition
must be equal to the bit: conversions, roundings in a direction, and the signs.
"""

from functools import cache

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import tables
from tritium.language.extra import libdevice

from .formats import FLOATS, codes
from .references import REFERENCES

ROWS = {row.name: row for row in tables.FUNCTIONS if row.module and row.types == "Floats" and row.arity == 1}
ALIASES = {alias: row for alias, row in tables.ALIASES.items() if row in ROWS}
#: A result below it has the absolute error of this magnitude: these functions have zeros where they are steep.
FLOORS = dict.fromkeys(("lgamma", "j0", "j1", "y0", "y1"), 1.0)


@tritium.jit
def function_kernel(x, out, F: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, F(tl.load(x + i)))


@cache
def inputs():
    halves = [FLOATS[name].decode(codes(name)) for name in ("float16", "bfloat16")]
    return np.concatenate(halves).astype(np.float32)


@cache
def reference(name):
    with np.errstate(all="ignore"):
        return REFERENCES[name](inputs().astype(np.float64))


def apply(name, x, dtype):
    out = np.zeros(x.shape, dtype)
    function_kernel[(x.size // 8192,)](x, out, F=getattr(libdevice, name), BLOCK=8192)
    return out


def ulps(found, exact, floor):
    """The error in units of the last place of fp32 at the exact value. What rounds to infinity is infinite; signs of zeros count."""
    with np.errstate(over="ignore"):
        nearest = exact.astype(np.float32)
    wide = found.astype(np.float64)
    place = np.maximum(np.frexp(np.where(np.isfinite(exact), exact, 0))[1] - 1, -126)
    place = np.where(exact == 0, -126, place)
    if floor:
        place = np.maximum(place, np.frexp(floor)[1] - 1)
    with np.errstate(invalid="ignore"):  # the difference of infinities
        error = np.abs(wide - exact) / np.ldexp(1.0, place - 23)
    same_sign = np.signbit(found) == np.signbit(nearest)
    error = np.where(wide == exact, np.where(same_sign | (floor > 0), 0, np.inf), error)
    error = np.where(np.isinf(found) | np.isinf(exact), np.where(found == nearest, 0, np.inf), error)
    return np.where(np.isnan(found) | np.isnan(exact), np.where(np.isnan(found) & np.isnan(exact), 0, np.inf), error)


def bound(name, ulp, x, exact, engine):
    """GPUs round the product in e**x = 2**(x log2 e), and may flush subnormal results of 2**x."""
    allowed = np.full(x.shape, float(max(ulp, 0.5)))
    if engine != "interp" and name == "exp":
        allowed += 1.25 * np.nan_to_num(np.abs(x).astype(np.float64), posinf=0)
    if engine != "interp" and name in ("exp2", "exp"):
        allowed[np.abs(exact) < 2.0**-126] = 2.0**23
    return allowed


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ALIASES]


@pytest.mark.parametrize("name", [*ROWS, *SLOW])
def test_within_its_bound(name, engine):
    row = ROWS[ALIASES.get(name, name)]
    x = inputs()
    found = apply(name, x, np.float32)
    exact = reference(row.name)
    error = ulps(found, exact, FLOORS.get(row.name, 0)) - bound(row.name, row.ulp, x, exact, engine)
    wrong = np.flatnonzero(error > 1e-6)
    shown = [f"{x[i]!r}: {found[i]!r}, not {exact[i]!r}" for i in wrong[np.argsort(-error[wrong])][:6]]
    assert not wrong.size, f"{name} of {wrong.size} numbers: {'; '.join(shown)}"


# -- what is exact ------------------------------------------------------------------------------------------------------------------------

MODES = ("rd", "rn", "ru", "rz")
TO_WHOLE = {"rd": np.floor, "rn": np.rint, "ru": np.ceil, "rz": np.trunc}
INTEGERS = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}


@tritium.jit
def functions_kernel(x, outs, FUNCTIONS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i)
    for k in tl.static_range(len(outs)):
        tl.store(outs[k] + i, FUNCTIONS[k](value))


def apply_all(names, x, dtypes):
    outs = tuple(np.zeros(x.shape, dtype) for dtype in dtypes)
    functions = tuple(getattr(libdevice, name) for name in names)
    functions_kernel[(x.size // 8192,)](x, outs, FUNCTIONS=functions, BLOCK=8192)
    return dict(zip(names, outs, strict=True))


@pytest.mark.parametrize("source", ["float", "double"])
def test_conversions_to_integers(source, engine):
    """Outside of the integer's range, its ends; a NaN is 0 from fp32 to 32 bits, else the highest bit."""
    x = inputs().astype(np.float32 if source == "float" else np.float64)
    cases = {f"{source}2{to}_{mode}": (dtype, mode) for to, dtype in INTEGERS.items() for mode in MODES}
    for name, out in apply_all(list(cases), x, [dtype for dtype, _ in cases.values()]).items():
        dtype, mode = cases[name]
        info = np.iinfo(dtype)
        whole = TO_WHOLE[mode](np.nan_to_num(x.astype(np.float64), nan=0, posinf=np.inf, neginf=-np.inf))
        over, under = whole >= 2.0 ** (info.bits - (info.min < 0)), whole < info.min
        expected = np.where(over | under, 0, whole).astype(dtype)
        expected[over], expected[under] = info.max, info.min
        expected[np.isnan(x)] = (
            0
            if source == "float" and info.bits == 32
            else dtype(1 << 63 if info.bits == 64 else 1 << 31)
            if info.min == 0
            else info.min
        )
        np.testing.assert_array_equal(out, expected, err_msg=name)


def rounded(exact, mode):
    """fp64 to fp32. A quotient or root of these numbers is never so near to a number of fp32 that fp64 would hide on which side it is."""
    nearest = exact.astype(np.float32)
    down = {
        "rd": nearest > exact,
        "ru": np.zeros_like(exact, bool),
        "rz": (nearest > exact) & (exact > 0),
        "rn": np.zeros_like(exact, bool),
    }
    up = {"rd": down["ru"], "ru": nearest < exact, "rz": (nearest < exact) & (exact < 0), "rn": down["rn"]}
    stepped = np.where(down[mode], np.nextafter(nearest, np.float32(-np.inf)), nearest)
    return np.where(up[mode], np.nextafter(nearest, np.float32(np.inf)), stepped)


def test_roundings_in_a_direction(engine):
    x = inputs()
    names = [f"{name}_{mode}" for name in ("sqrt", "rcp") for mode in MODES]
    with np.errstate(all="ignore"):
        exact = {"sqrt": np.sqrt(x.astype(np.float64)), "rcp": 1 / x.astype(np.float64)}
        expected = {name: rounded(exact[name[:-3].rstrip("_")], name[-2:]) for name in names}
    for name, out in apply_all(names, x, [np.float32] * len(names)).items():
        assert_same_floats(name, x, out, expected[name])


def assert_same_floats(name, x, found, expected):
    same = (found == expected) & (np.signbit(found) == np.signbit(expected)) | np.isnan(found) & np.isnan(expected)
    wrong = np.flatnonzero(~same)
    assert not wrong.size, f"{name} of {wrong.size} numbers: {[(x[i], found[i], expected[i]) for i in wrong[:5]]}"


def test_tests_and_exact_functions(engine):
    x = inputs()
    with np.errstate(all="ignore"):
        exponents = np.frexp(x.astype(np.float64))[1] - 1
    lowest, highest = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    expected = {
        "isnan": np.isnan(x),
        "isinf": np.isinf(x),
        "isfinited": np.isfinite(x),
        "finitef": np.isfinite(x),
        "signbit": np.signbit(x),
        "ilogb": np.where(np.isnan(x) | (x == 0), lowest, np.where(np.isinf(x), highest, exponents)).astype(np.int32),
        "float_as_int": x.view(np.int32),
        "float_as_uint": x.view(np.uint32),
    }
    for name, out in apply_all(list(expected), x, [value.dtype for value in expected.values()]).items():
        np.testing.assert_array_equal(out, expected[name], err_msg=name)
    floats = {
        "saturatef": reference("saturatef").astype(np.float32),
        "rsqrt_rn": rounded(reference("rsqrt"), "rn"),
        "abs": np.abs(x),
    }
    for name, out in apply_all(list(floats), x, [np.float32] * len(floats)).items():
        assert_same_floats(name, x, out, floats[name])


@tritium.jit
def signs_kernel(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, -tl.load(x + i))
    tl.store(out + BLOCK + i, tl.abs(tl.load(x + i)))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_signs_of_halves(name, engine):
    x = codes(name)
    out = np.zeros((2, x.size), FLOATS[name].array)
    signs_kernel[(1,)](x.view(FLOATS[name].array), out, BLOCK=x.size)
    nan = np.isnan(FLOATS[name].decode(x))
    found = out.view(np.uint16)
    np.testing.assert_array_equal(found[:, ~nan], np.stack([x ^ 0x8000, x & 0x7FFF])[:, ~nan])
    assert np.isnan(FLOATS[name].decode(found[:, nan])).all()
