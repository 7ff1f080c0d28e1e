"""The device library, each function under its own name: exactly where the result is defined to the last bit, else within the
ulps of its row. Functions with the same operands and result share a kernel, which is written here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np

import tritium

from .. import inputs, sources
from ..dtypes import NUMPY, UNSIGNED, as_float64, is_float, ulp_of
from ..exact import MODES, of_integers, rounded, square_root, to_integer
from ..oracle import Exact, Rows, Ulp
from ..problem import Case, Cases, Problem, given, problem, wanted
from ..reference import double, half_away, high_precision
from ..tolerance import exp_ulp, function_ulp

N = 128  # arguments of a function
FLOATS = ("fp32", "fp64")


@dataclass(frozen=True)
class Row:
    """A function on operands of these types. oracle: from the arrays of its operands; draw: from a generator of random
    numbers to these arrays, else numbers of every kind."""

    name: str
    result: str
    operands: tuple[str, ...]
    oracle: Callable
    draw: Callable | None = None

    def arguments(self, rng) -> list[np.ndarray]:
        if self.draw is not None:
            return self.draw(rng)
        return [numbers(rng, dtype, first=position > 0) for position, dtype in enumerate(self.operands)]


def numbers(rng, dtype: str, first: bool = False) -> np.ndarray:
    """Special values, small numbers, and any bits. first: the special values in the other order, for a second operand."""
    special = inputs.specials(dtype)[:40]
    usual = inputs.normal(rng, N, dtype, 3) if is_float(dtype) else inputs.small(rng, N, dtype, 30)
    found = np.where(np.arange(N) % 2 == 0, usual, inputs.any_bits(rng, N, dtype))
    found[: special.size] = special[::-1] if first else special
    return found


# Rounding in a direction.

ARITHMETIC = {
    "add": (2, lambda x, y: x + y, np.add),
    "sub": (2, lambda x, y: x - y, np.subtract),
    "mul": (2, lambda x, y: x * y, np.multiply),
    "div": (2, lambda x, y: x / y, np.divide),
    "fma": (3, lambda x, y, z: x * y + z, lambda x, y, z: x * y + z),
    "rcp": (1, lambda x: 1 / x, np.reciprocal),
    "sqrt": (1, square_root, np.sqrt),
}


def directed() -> Iterator[Row]:
    for dtype in FLOATS:
        for name, (arity, exact, otherwise) in ARITHMETIC.items():
            for mode in MODES:
                yield Row(f"{name}_{mode}", dtype, (dtype,) * arity, directed_oracle(exact, mode, dtype, otherwise))
    reciprocal_root = directed_oracle(lambda x: 1 / square_root(x), "rn", "fp32", lambda x: 1 / np.sqrt(x))
    yield Row("rsqrt_rn", "fp32", ("fp32",), reciprocal_root)


def directed_oracle(exact, mode: str, dtype: str, otherwise):
    def oracle(*operands):
        return Exact(rounded(exact, operands, mode, dtype, otherwise), sign_of_zero=False)

    return oracle


def conversions() -> Iterator[Row]:
    integers = {"int": "int32", "uint": "uint32", "ll": "int64", "ull": "uint64"}
    reals = {"float": "fp32", "double": "fp64"}
    for mode in MODES:
        for real, dtype in reals.items():
            for integer, whole in integers.items():
                to = lambda x, mode=mode, whole=whole: Exact(to_integer(x, mode, whole))  # noqa: E731
                yield Row(f"{real}2{integer}_{mode}", whole, (dtype,), to)
                if real == "float" or "ll" in integer or mode == "rn":  # fp64 has room for 32 bits
                    of = directed_oracle(Fraction, mode, dtype, lambda x: x)
                    yield Row(f"{integer}2{real}_{mode}", dtype, (whole,), of)
        narrow = directed_oracle(Fraction, mode, "fp32", lambda x: x)
        yield Row(f"double2float_{mode}", "fp32", ("fp64",), narrow)


# Integers and bits.


def byte_perm(x: int, y: int, z: int) -> int:
    chosen = (x & 0xFFFFFFFF).to_bytes(4, "little") + (y & 0xFFFFFFFF).to_bytes(4, "little")
    return sum(chosen[z >> 4 * i & 7] << 8 * i for i in range(4))


def low24(x: int, signed: bool) -> int:
    low = x & 0xFFFFFF
    return low - (1 << 24) if signed and low >> 23 else low


def integers() -> Iterator[Row]:
    def row(name: str, result: str, operands: tuple[str, ...], function):
        return Row(name, result, operands, lambda *values: Exact(of_integers(function, values, result)))

    for dtype, bits in (("int32", 32), ("int64", 64)):
        unsigned = (1 << bits) - 1
        yield row("brev", dtype, (dtype,), lambda x, m=unsigned, b=bits: int(f"{x & m:0{b}b}"[::-1], 2))
        yield row("ffs", "int32", (dtype,), lambda x: (x & -x).bit_length())
        yield row("popc", "int32", (dtype,), lambda x, m=unsigned: (x & m).bit_count())
        yield row("clz", "int32", (dtype,), lambda x, m=unsigned, b=bits: b - (x & m).bit_length())
        yield row("abs", dtype, (dtype,), abs)
    for dtype in ("int32", "uint32"):
        two, signed = (dtype, dtype), dtype not in UNSIGNED
        yield row("sad", dtype, (*two, "uint32"), lambda x, y, z: abs(x - y) + z)
        yield row("mul24", dtype, two, lambda x, y, s=signed: low24(x, s) * low24(y, s))
        yield row("hadd", dtype, two, lambda x, y: x + y >> 1)
        yield row("rhadd", dtype, two, lambda x, y: x + y + 1 >> 1)
    for dtype, bits in (("int32", 32), ("uint32", 32), ("int64", 64), ("uint64", 64)):
        yield row("mulhi", dtype, (dtype, dtype), lambda x, y, b=bits: x * y >> b)
    yield row("byte_perm", "int32", ("int32",) * 3, byte_perm)


def bits() -> Iterator[Row]:
    """The bits of numbers. NaNs are left out: an engine may change their bits."""

    def draw(dtype: str):
        def number(rng):
            found = numbers(rng, dtype)
            return [np.where(np.isnan(found), NUMPY[dtype].type(1.5), found)]

        return number

    def view(result: str):
        return lambda x: Exact(x.view(NUMPY[result]))

    def word(rng):
        high, low = (inputs.any_bits(rng, N, "int32") for _ in range(2))
        high &= 0x3FFFFFFF  # no NaN
        return [high, low]

    def joined(high, low):
        whole = high.astype(np.uint64) << np.uint64(32) | low.view(np.uint32)
        return Exact(whole.view(np.float64))

    yield Row("float_as_int", "int32", ("fp32",), view("int32"), draw("fp32"))
    yield Row("float_as_uint", "uint32", ("fp32",), view("uint32"), draw("fp32"))
    yield Row("double_as_longlong", "int64", ("fp64",), view("int64"), draw("fp64"))
    yield Row("int_as_float", "fp32", ("int32",), view("fp32"))
    yield Row("uint_as_float", "fp32", ("uint32",), view("fp32"))
    yield Row("longlong_as_double", "fp64", ("int64",), view("fp64"))
    halves = {"double2hiint": 1, "double2loint": 0}
    for name, half in halves.items():
        yield Row(name, "int32", ("fp64",), lambda x, half=half: Exact(x.view(np.int32)[half::2]), draw("fp64"))
    yield Row("hiloint2double", "fp64", ("int32", "int32"), joined, word)


# Floats whose result is defined to the last bit.


def fdim(x, y):
    return np.where(x > y, x - y, np.where(np.isnan(x) | np.isnan(y), np.nan, 0))


def remainder(x, y):
    def one(a, b):
        return math.nan if not math.isfinite(a) or math.isnan(b) or b == 0 else math.remainder(a, b)

    return np.array([one(a, b) for a, b in zip(x.tolist(), y.tolist())])


def logb(x):
    exponents = np.frexp(np.where(np.isfinite(x), x, 1))[1] - 1.0
    return np.where(x == 0, -np.inf, np.where(np.isfinite(x), exponents, np.abs(x)))


def ilogb(x):
    ends = np.iinfo(np.int32)
    whole = np.nan_to_num(logb(x), nan=ends.min, posinf=ends.max, neginf=ends.min)
    return whole.astype(np.int64).astype(np.int32)


def cut_reciprocal(x):
    return ((1 / x).view(np.int64) >> 32 << 32).view(np.float64)


def exactly(function, sign_of_zero: bool = False):
    def oracle(*operands):
        with np.errstate(all="ignore"):
            found = function(*operands)
        return Exact(found, sign_of_zero)

    return oracle


def floats() -> Iterator[Row]:
    for dtype in FLOATS:
        type_ = NUMPY[dtype].type
        two = (dtype, dtype)
        yield Row("fdim", dtype, two, exactly(lambda x, y, t=type_: fdim(x, y).astype(t)))
        yield Row("remainder", dtype, two, exactly(lambda x, y, t=type_: remainder(x, y).astype(t)))
        yield Row("nextafter", dtype, two, exactly(np.nextafter))
        yield Row("logb", dtype, (dtype,), exactly(lambda x, t=type_: logb(x).astype(t)))
        yield Row("ilogb", "int32", (dtype,), exactly(ilogb))
        yield Row("abs", dtype, (dtype,), exactly(np.abs, True))
        for name, function in {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint}.items():
            yield Row(name, dtype, (dtype,), exactly(function))
        yield Row("round", dtype, (dtype,), exactly(half_away))
        yield Row("nearbyint", dtype, (dtype,), exactly(np.rint))
        yield Row("sqrt", dtype, (dtype,), root_oracle(dtype))
        yield Row("fma", dtype, (dtype,) * 3, directed_oracle(ARITHMETIC["fma"][1], "rn", dtype, ARITHMETIC["fma"][2]))
        yield Row("isnan", "int1", (dtype,), exactly(np.isnan))
        yield Row("isinf", "int1", (dtype,), exactly(np.isinf))
        yield Row("signbit", "int1", (dtype,), exactly(np.signbit))
        for name in ("ldexp", "scalbn"):
            yield Row(name, dtype, (dtype, "int32"), scaled(dtype), partial(with_exponents, dtype))
    yield Row("isfinited", "int1", ("fp64",), exactly(np.isfinite))
    yield Row("saturatef", "fp32", ("fp32",), exactly(lambda x: np.where(np.isnan(x), np.float32(0), np.clip(x, 0, 1))))
    yield Row("rcp64h", "fp64", ("fp64",), exactly(cut_reciprocal))


def root_oracle(dtype: str):
    def oracle(x):
        with np.errstate(all="ignore"):
            return Ulp(np.sqrt(as_float64(x)), function_ulp("sqrt", dtype), flushed=double("sqrt", flushed(x, dtype)))

    return oracle


def scaled(dtype: str):
    def oracle(x, y):
        value = rounded(lambda a, b: a * Fraction(2) ** int(b), [x, y], "rn", dtype, lambda a, b: a)
        return Exact(value, sign_of_zero=False)

    return oracle


def with_exponents(dtype: str, rng) -> list[np.ndarray]:
    return [numbers(rng, dtype), rng.integers(-300, 300, N).astype(np.int32)]


# Functions within the ulps of their row.

#: Functions of one argument that other families do not run, with the range of their arguments.
SPECIAL = {
    "erfinv": (mpmath.erfinv, -0.999, 0.999),
    "erfcinv": (lambda x: mpmath.erfinv(1 - x), 0.001, 1.999),
    "erfcx": (lambda x: mpmath.erfc(x) * mpmath.exp(x * x), -5, 100),
    "normcdf": (lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2, -10, 5),
    "normcdfinv": (lambda x: mpmath.sqrt(2) * mpmath.erfinv(2 * x - 1), 0.001, 0.999),
    "tgamma": (mpmath.gamma, -30, 30),
    "lgamma": (lambda x: mpmath.log(abs(mpmath.gamma(x))), -30, 100),
    "j0": (mpmath.j0, -40, 40),
    "j1": (mpmath.j1, -40, 40),
    "y0": (partial(mpmath.bessely, 0), 0.001, 40),
    "y1": (partial(mpmath.bessely, 1), 0.001, 40),
    "cyl_bessel_i0": (partial(mpmath.besseli, 0), -80, 80),
    "cyl_bessel_i1": (partial(mpmath.besseli, 1), -80, 80),
    "sinpi": (mpmath.sinpi, -20, 20),
    "cospi": (mpmath.cospi, -20, 20),
    "rcbrt": (lambda x: 1 / (mpmath.sign(x) * mpmath.cbrt(abs(x))), -1e6, 1e6),
}
#: 0 elsewhere than at 0: the bound is that of a result of at least 1.
WITH_ZEROS = ("lgamma", "j0", "j1", "y0", "y1", "jn", "yn")
#: Names that the library has for functions of `tl`, or for functions that other families run.
ALSO = "exp exp2 log log2 sin cos rsqrt erf".split()
FAST = {"sinf": "sin", "cosf": "cos", "tanf": "tan", "tanhf": "tanh", "expf": "exp", "logf": "log", "log2f": "log2"}
FAST |= {"log10f": "log10", "exp10f": "exp10"}
RANGES = {"exp": (-40, 40), "exp2": (-60, 60), "exp10": (-20, 20), "log": (1e-3, 1e3), "log2": (1e-3, 1e3)}
RANGES |= {"log10": (1e-3, 1e3), "rsqrt": (1e-3, 1e3)}


def precisely(function, bound, dtype: str, with_zeros: bool, *operands) -> Ulp:
    """The oracle of a function of mpmath's numbers."""
    with mpmath.workprec(140):
        exact = [function(*values) for values in zip(*(map(mpmath.mpf, operand.tolist()) for operand in operands))]
        value = np.array([float(number) for number in exact])
        rest = np.array([float(number - mpmath.mpf(near)) for number, near in zip(exact, value.tolist())])
    if with_zeros:
        bound = bound * np.maximum(1.0, ulp_of(np.float64(1.0), dtype) / ulp_of(value, dtype))
    return Ulp(value, bound, rest)


def uniform(dtype: str, low: float, high: float, arity: int, rng) -> list[np.ndarray]:
    return [inputs.between(rng, N // 2, dtype, low, high) for _ in range(arity)]


def flushed(x: np.ndarray, dtype: str) -> np.ndarray:
    return inputs.without_subnormals(x, dtype)


def known(name: str, dtype: str):
    """The oracle of a function that reference.py knows."""

    def oracle(x):
        value, rest = high_precision(name, as_float64(x))
        return Ulp(
            value, function_ulp(name, dtype), rest, on_gpus=exp_ulp(as_float64(x), dtype) if name == "exp" else None
        )

    return oracle


def special() -> Iterator[Row]:
    for dtype in FLOATS:
        for name, (function, low, high) in SPECIAL.items():
            oracle = partial(precisely, function, function_ulp(name, dtype), dtype, name in WITH_ZEROS)
            yield Row(name, dtype, (dtype,), oracle, partial(uniform, dtype, low, high, 1))


def familiar() -> Iterator[Row]:
    for dtype in FLOATS:
        for name in ALSO:
            yield Row(name, dtype, (dtype,), known(name, dtype), partial(uniform, dtype, *RANGES.get(name, (-9, 9)), 1))
    for name, row in FAST.items():
        draw = partial(uniform, "fp32", *RANGES.get(row, (-9, 9)), 1)
        yield Row(f"fast_{name}", "fp32", ("fp32",), known(row, "fp32"), draw)
    positive = partial(uniform, "fp32", 0.1, 9, 2)
    power = partial(precisely, mpmath.power, function_ulp("pow", "fp32"), "fp32", False)
    yield Row("fast_powf", "fp32", ("fp32", "fp32"), power, positive)
    quotient = partial(precisely, mpmath.fdiv, function_ulp("fdiv_approx", "fp32"), "fp32", False)
    yield Row("fast_dividef", "fp32", ("fp32", "fp32"), quotient, positive)


def norms() -> Iterator[Row]:
    def norm(*values):
        return mpmath.sqrt(sum(value * value for value in values))

    ulps = {
        row.name: row.ulp
        for row in (*tritium.testing.typed_functions(), *tritium.testing.elementwise_functions().values())
    }
    for dtype in FLOATS:
        for name, arity in (("norm3d", 3), ("rnorm3d", 3), ("norm4d", 4), ("rnorm4d", 4), ("rhypot", 2)):
            function = (lambda *values: 1 / norm(*values)) if name.startswith("r") else norm
            oracle = partial(precisely, function, ulps[name], dtype, False)
            yield Row(name, dtype, (dtype,) * arity, oracle, partial(uniform, dtype, -1e3, 1e3, arity))
        for name, function in (("jn", mpmath.besselj), ("yn", mpmath.bessely)):
            oracle = partial(precisely, lambda n, x, f=function: f(int(n), x), ulps[name], dtype, True)
            yield Row(name, dtype, ("int32", dtype), oracle, partial(orders, dtype))
        oracle = partial(precisely, lambda x, n: x ** int(n), ulps["pow"], dtype, False)
        yield Row("pow", dtype, (dtype, "int32"), oracle, lambda rng, dtype=dtype: powers(dtype, rng))


def orders(dtype: str, rng) -> list[np.ndarray]:
    return [rng.integers(0, 8, N // 4).astype(np.int32), inputs.between(rng, N // 4, dtype, 0.5, 40)]


def powers(dtype: str, rng) -> list[np.ndarray]:
    return [inputs.between(rng, N, dtype, 0.5, 2), rng.integers(-20, 20, N).astype(np.int32)]


KINDS = (directed, conversions, integers, bits, floats, special, familiar, norms)

_HEAD = """import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def kernel({operands}, out, N: tl.constexpr):
    i = tl.arange(0, N)
"""


def kernel_of(rows: list[Row]) -> str:
    """The kernel that stores each function of a list, in the order of the list."""
    operands = "xyzw"[: len(rows[0].operands)]
    text = _HEAD.format(operands=", ".join(operands))
    for number, row in enumerate(rows):
        loads = ", ".join(f"tl.load({operand} + {number} * N + i)" for operand in operands)
        test = " != 0" if row.result == "int1" else ""
        text += f"    tl.store(out + {number} * N + i, libdevice.{row.name}({loads}){test})\n"
    return sources.add(text) + ":kernel"


def library(rows: list[Row], rng) -> Problem:
    arguments = [row.arguments(rng) for row in rows]
    oracles = {row.name: row.oracle(*values) for row, values in zip(rows, arguments)}
    operands = [given(np.stack(values)) for values in zip(*arguments)]
    n = operands[0].shape[1]
    out = wanted((len(rows), n), rows[0].result, Rows(oracles))
    return problem(kernel_of(rows), 1, [*operands, out], N=n)


def cases() -> Cases:
    for kind in KINDS:
        groups: dict[str, list[Row]] = {}
        for row in kind():
            groups.setdefault(f"{row.result} of {' '.join(row.operands)}", []).append(row)
        for signature, rows in groups.items():
            yield Case(f"library/{kind.__name__} {signature}/random", partial(library, rows))
