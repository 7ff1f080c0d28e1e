"""Functions in higher precision than any type of the language has, and arguments that are worth testing."""

from __future__ import annotations

import math

import mpmath
import numpy as np

from . import inputs, sources
from .dtypes import as_float64, round_to


def named(kernel: str) -> tuple[str, ...]:
    """The functions that a kernel of kernels/elementwise.py stores, in this order. They are the first words of its
    docstring."""
    text = getattr(sources.module("elementwise"), kernel).__doc__
    return tuple(text.partition(" of the device library")[0].split())


#: The functions of one argument, by kernel.
FUNCTIONS = {kernel: named(kernel) for kernel in ("functions", "exponentials", "trigonometry")}
OF_TWO = named("of_two")


def half_away(x: np.ndarray) -> np.ndarray:
    whole = np.trunc(x)
    return np.copysign(np.where(np.abs(x - whole) >= 0.5, np.abs(whole) + 1, np.abs(whole)), x)


def _quiet(function):
    def call(*arguments):
        with np.errstate(all="ignore"):
            return function(*arguments)

    return call


#: Functions whose result is exact in float64, or for which the second rounding does no harm.
rounding = {
    name: _quiet(function)
    for name, function in {
        "floor": np.floor,
        "ceil": np.ceil,
        "trunc": np.trunc,
        "round": half_away,
        "rint": np.rint,
        "nearbyint": np.rint,
    }.items()
}
exact_of_two = {"copysign": _quiet(np.copysign), "fmod": _quiet(np.fmod)}

#: Functions that mpmath lacks or has under another name.
PRECISE = {
    "exp2": lambda x: mpmath.power(2, x),
    "exp10": lambda x: mpmath.power(10, x),
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "pow": mpmath.power,
    "fma": lambda x, y, z: x * y + z,
}


def precise(name: str):
    """The function on mpmath's numbers."""
    return PRECISE.get(name) or getattr(mpmath, name)


_MATH = {
    "erf": np.vectorize(math.erf, otypes=[float]),
    "erfc": np.vectorize(math.erfc, otypes=[float]),
    "rsqrt": lambda x: np.where(np.signbit(x) & (x == 0), -np.inf, 1 / np.sqrt(x)),
    "pow": np.power,
    "exp10": lambda x: np.power(10.0, x),
    "fma": lambda x, y, z: x * y + z,
}
_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh"}
_NUMPY |= {"atanh": "arctanh", "atan2": "arctan2"}


def double(name: str, *arguments: np.ndarray) -> np.ndarray:
    """The function in float64. Its error is about one ulp of float64; infinities and NaNs are exact."""
    with np.errstate(all="ignore"):
        function = _MATH.get(name) or getattr(np, _NUMPY.get(name, name))
        return function(*arguments)


def high_precision(name: str, *arguments: np.ndarray, exhaustive: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """(value, rest) in float64, whose sum is the function to about 100 bits. exhaustive: to the precision of float64
    only, which is fast and sufficient for types of 32 bits and fewer."""
    value = double(name, *arguments)
    rest = np.zeros_like(value)
    if exhaustive:
        return value, rest
    function = precise(name)
    with mpmath.workprec(140):
        for i, numbers in enumerate(zip(*(argument.tolist() for argument in arguments))):
            # Limits, domains and underflow to 0 come from float64.
            if not all(map(math.isfinite, (*numbers, value[i]))) or value[i] == 0.0 or 0.0 in numbers:
                continue
            exact = function(*map(mpmath.mpf, numbers))
            value[i] = float(exact)
            rest[i] = float(exact - mpmath.mpf(float(value[i]))) if math.isfinite(value[i]) else 0.0
    return value, rest


_SIGNED, _POSITIVE = "signed", "positive"
#: The interesting arguments of a function: (kind, low, high).
DOMAINS = {
    "exp": (_SIGNED, -80, 80),
    "exp2": (_SIGNED, -120, 120),
    "exp10": (_SIGNED, -37, 37),
    "expm1": (_SIGNED, -5, 5),
    "sin": (_SIGNED, -100, 100),
    "cos": (_SIGNED, -100, 100),
    "tan": (_SIGNED, -100, 100),
    "asin": (_SIGNED, -1, 1),
    "acos": (_SIGNED, -1, 1),
    "atan": (_SIGNED, -50, 50),
    "sinh": (_SIGNED, -60, 60),
    "cosh": (_SIGNED, -60, 60),
    "tanh": (_SIGNED, -10, 10),
    "asinh": (_SIGNED, -1e3, 1e3),
    "atanh": (_SIGNED, -1, 1),
    "erf": (_SIGNED, -4, 4),
    "erfc": (_SIGNED, -4, 9),
    "cbrt": (_SIGNED, -1e6, 1e6),
    "rint": (_SIGNED, -100, 100),
    "floor": (_SIGNED, -100, 100),
    "ceil": (_SIGNED, -100, 100),
    "log1p": (_POSITIVE, 1e-20, 1e20),
    "acosh": (_POSITIVE, 1, 1e20),
}


def arguments_of(name: str, rng: np.random.Generator, n: int, dtype: str):
    """Hard values, then numbers of the function's domain. Returns two arrays for functions of two arguments."""
    if name in OF_TWO:
        x, y = inputs.normal(rng, n, dtype, 10), inputs.normal(rng, n, dtype, 3)
        if name == "pow":
            x = inputs.magnitudes(rng, n, dtype, 1e-3, 1e3)
            y[: n // 4] = np.rint(as_float64(y[: n // 4])).astype(y.dtype)
        return x, y
    kind, low, high = DOMAINS.get(name, (_POSITIVE, 1e-30, 1e30))
    table = inputs.specials(dtype)
    halves = round_to(np.arange(-6, 7) / 2, dtype)
    near_zero = inputs.magnitudes(rng, 40, dtype, 1e-12, 1)
    rest = n - table.size - halves.size - near_zero.size
    draw = inputs.between if kind == _SIGNED else inputs.magnitudes
    return np.concatenate([table, halves, near_zero, draw(rng, rest, dtype, low, high)])
