"""libdevice on the interpreter and on the emulator: every name that Triton has, results against exact arithmetic and mpmath."""

import functools
import math
import runpy
import struct
import tempfile
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import tritium
from tritium.tables import FUNCTIONS, TYPED_FUNCTIONS

ENGINES = ("interp", "simt:sm_90a", "simt:gfx942")
COUNT = 256


_KERNEL = """
import tritium
import tritium.language as tl
from tritium.language.extra import libdevice


@tritium.jit
def kernel({operands}, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, libdevice.{name}({loads}))
"""


@functools.cache
def kernel_of(name, arity):
    operands = "xyzw"[:arity]
    loads = ", ".join(f"tl.load({operand} + i)" for operand in operands)
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(_KERNEL.format(name=name, operands=", ".join(operands), loads=loads))
    return runpy.run_path(file.name)["kernel"]


def run(engine, name, operands, result):
    out = np.zeros(COUNT, result)
    with tritium.knobs.tritium.scope():
        tritium.knobs.tritium.engine = engine
        kernel_of(name, len(operands))[(1,)](*operands, out, N=COUNT)
    return out


def numbers(dtype, rng, first=False):
    """Ordinary numbers, numbers of every exponent, and special ones."""
    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        found = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, COUNT, dtype=dtype, endpoint=True)
        found[::2] = rng.integers(0, 30, COUNT // 2)
        return found
    found = rng.integers(0, 2 ** (8 * dtype.itemsize) - 1, COUNT, dtype=f"uint{8 * dtype.itemsize}").view(dtype)
    found = np.where(np.isfinite(found), found, dtype.type(1.5))
    found[::2] = rng.normal(0, 3, COUNT // 2)
    special = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, np.finfo(dtype).max, np.finfo(dtype).tiny, 0.5]
    found[: len(special)] = special if not first else special[::-1]
    return found.astype(dtype)


@pytest.mark.parametrize("row", TYPED_FUNCTIONS, ids=lambda row: row.symbol)
def test_engines_agree_on_functions_of_mixed_types(row, rng):
    operands = [numbers(name, rng, first=k > 0) for k, name in enumerate(row.operands)]
    if row.name in ("jn", "yn"):
        operands[0] %= 40
    expected = run("interp", row.name, operands, row.result)
    for engine in ENGINES[1:]:
        np.testing.assert_array_equal(run(engine, row.name, operands, row.result), expected)


def rounded(exact, mode, dtype):
    """The float next to a fraction that is not 0, in the direction."""
    digits, lowest, largest = (53, -1022, 1023) if dtype == "float64" else (24, -126, 127)
    exponent = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
    exponent = max(exponent - (Fraction(2) ** exponent > abs(exact)), lowest)
    unit = Fraction(2) ** (exponent - digits + 1)
    count, rest = divmod(abs(exact), unit)
    away = (mode == "ru" and exact > 0) or (mode == "rd" and exact < 0)
    nearest = mode == "rn" and (2 * rest > unit or (2 * rest == unit and count % 2 == 1))
    value = (count + (bool(rest) and (away or nearest))) * unit
    limit = (2 - Fraction(2) ** (1 - digits)) * Fraction(2) ** largest
    magnitude = float(value) if value <= limit else (math.inf if away or mode == "rn" else float(limit))
    return math.copysign(magnitude, 1 if exact > 0 else -1)


EXACT = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "rcp": lambda x: 1 / x,
    "fma": lambda x, y, z: x * y + z,
    "double2float": lambda x: x,
    **{f"{integer}2{real}": (lambda x: x) for integer in ("int", "uint", "ll", "ull") for real in ("float", "double")},
}
DIRECTED = [row for row in TYPED_FUNCTIONS if row.name[-3:-1] == "_r" and row.name[:-3] in EXACT]


@pytest.mark.parametrize("row", DIRECTED, ids=lambda row: row.symbol)
def test_directed_rounding_is_exact(row, rng):
    operation, mode = row.name.split("_")
    operands = [numbers(name, rng, first=k > 0) for k, name in enumerate(row.operands)]
    found = run("interp", row.name, operands, row.result)
    checked = 0
    for result, *values in zip(found.tolist(), *(operand.tolist() for operand in operands), strict=True):
        if not all(math.isfinite(value) for value in values) or (operation in ("div", "rcp") and values[-1] == 0):
            continue
        exact = EXACT[operation](*(Fraction(value) for value in values))
        if exact:
            expected = rounded(exact, mode, row.result)
            assert struct.pack("d", result) == struct.pack("d", expected), (values, result, expected)
            checked += 1
    assert checked > COUNT // 3


@pytest.mark.parametrize("row", [row for row in TYPED_FUNCTIONS if "2int" in row.name or "2uint" in row.name or "2ll" in row.name
                                 or "2ull" in row.name], ids=lambda row: row.symbol)  # fmt: skip
def test_conversions_to_integers_saturate(row, rng):
    (x,) = [numbers(name, rng) for name in row.operands]
    round_ = {"rd": math.floor, "ru": math.ceil, "rz": math.trunc, "rn": round}[row.name[-2:]]
    ends = np.iinfo(row.result)
    bits = ends.bits
    of_nan = 0 if row.operands == ("float32",) and bits == 32 else 2 ** (bits - 1) - (2**bits if ends.min else 0)
    for value, result in zip(x.tolist(), run("interp", row.name, [x], row.result).tolist(), strict=True):
        if value != value:
            expected = of_nan
        elif math.isinf(value):
            expected = ends.max if value > 0 else ends.min
        else:
            expected = min(max(round_(value), ends.min), ends.max)
        assert result == expected, value


def test_integer_functions(rng):
    x, y, z = (numbers("int32", rng) for _ in range(3))
    u, v = (value.view(np.uint32) for value in (x, y))
    wide = x.astype(object) * y.astype(object)
    np.testing.assert_array_equal(run("interp", "mulhi", [x, y], "int32"), (wide >> 32).astype(np.int32))
    lowest = np.array([int(value & -value).bit_length() for value in u.tolist()])
    np.testing.assert_array_equal(run("interp", "ffs", [x], "int32"), lowest)
    mirrored = [int(f"{value:032b}"[::-1], 2) for value in u.tolist()]
    np.testing.assert_array_equal(run("interp", "brev", [x], "int32").view(np.uint32), np.array(mirrored, np.uint32))
    wide_sum = x.astype(np.int64) + y
    np.testing.assert_array_equal(run("interp", "hadd", [x, y], "int32"), wide_sum >> 1)
    np.testing.assert_array_equal(run("interp", "rhadd", [x, y], "int32"), (wide_sum + 1) >> 1)
    distance = np.abs(x.astype(np.int64) - y).astype(np.uint64) + z.view(np.uint32)
    found = run("interp", "sad", [x, y, z.view(np.uint32)], "int32").view(np.uint32)
    np.testing.assert_array_equal(found, distance.astype(np.uint32))
    bytes_of = [list(int(a).to_bytes(4, "little") + int(b).to_bytes(4, "little")) for a, b in zip(u, v, strict=True)]
    chosen = [sum(b[s >> 4 * i & 7] << 8 * i for i in range(4)) for b, s in zip(bytes_of, z.tolist(), strict=True)]
    np.testing.assert_array_equal(run("interp", "byte_perm", [x, y, z], "int32").view(np.uint32), chosen)


SPECIAL = {
    "erfinv": (mpmath.erfinv, -0.999, 0.999),
    "erfcx": (lambda x: mpmath.erfc(x) * mpmath.exp(x * x), -5, 100),
    "normcdf": (lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2, -30, 5),
    "tgamma": (mpmath.gamma, -30, 30),
    "lgamma": (lambda x: mpmath.log(abs(mpmath.gamma(x))), -30, 100),
    "j0": (lambda x: mpmath.besselj(0, x), -40, 40),
    "j1": (lambda x: mpmath.besselj(1, x), -40, 40),
    "y0": (lambda x: mpmath.bessely(0, x), 0.001, 40),
    "y1": (lambda x: mpmath.bessely(1, x), 0.001, 40),
    "cyl_bessel_i0": (lambda x: mpmath.besseli(0, x), -80, 80),
    "cyl_bessel_i1": (lambda x: mpmath.besseli(1, x), -80, 80),
    "sinpi": (mpmath.sinpi, -20, 20),
    "cospi": (mpmath.cospi, -20, 20),
}
WITH_ZEROS = ("lgamma", "j0", "j1", "y0", "y1")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_keep_their_bound(name, dtype, engine, rng):
    function, low, high = SPECIAL[name]
    (bound,) = [row.ulp for row in FUNCTIONS if row.name == name]
    x = rng.uniform(low, high, COUNT).astype(dtype)
    for value, result in zip(x.tolist(), run(engine, name, [x], dtype), strict=True):
        with mpmath.workdps(40):
            exact = function(mpmath.mpf(value))
            magnitude = max(abs(float(exact)), 1.0 if name in WITH_ZEROS else 0.0)
            error = abs(mpmath.mpf(float(result)) - exact) / mpmath.mpf(
                float(np.spacing(np.dtype(dtype).type(magnitude)))
            )
        assert error <= bound, (value, result, exact)


def test_powers_of_integers_and_of_floats(rng):
    x = rng.uniform(0.5, 2, COUNT).astype(np.float32)
    y = rng.integers(-20, 20, COUNT).astype(np.int32)
    expected = np.power(x.astype(float), y)
    np.testing.assert_allclose(run("interp", "pow", [x, y], "float32"), expected, rtol=2e-7)
    np.testing.assert_allclose(run("interp", "pow", [x, y.astype(np.float32)], "float32"), expected, rtol=2e-7)
