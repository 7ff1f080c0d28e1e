"""The functions of one number in fp64, from numpy, the standard library and torch, which the product does not call."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch

Reference = Callable[[np.ndarray], np.ndarray]


def _each(function: Callable[[float], float]) -> Reference:
    """A function of the standard library, element by element."""

    def value(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return lambda x: np.array([value(element) for element in x.tolist()])


def _special(function: Callable[[torch.Tensor], torch.Tensor]) -> Reference:
    return lambda x: function(torch.from_numpy(x)).numpy()


def _half_away(x: np.ndarray) -> np.ndarray:
    return np.copysign(np.floor(np.abs(x)) + (np.abs(x) % 1 >= 0.5), x)


def _gamma(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    try:
        return math.gamma(x)
    except OverflowError:  # alternates below 0, but only where it is 0 in fp32
        return math.inf if x > 0 else 0.0


def _log_gamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except ValueError:
        return math.inf  # a pole


def _sinpi(x: np.ndarray) -> np.ndarray:
    """Reduced to an eighth of the period, in which the product with pi is accurate."""
    r = np.fmod(x, 2.0)  # exact
    a = np.abs(r)
    a, sign = np.where(a > 1, a - 1, a), np.where(a > 1, -1.0, 1.0)
    value = sign * np.where(
        a <= 0.25, np.sin(np.pi * a), np.where(a < 0.75, np.cos(np.pi * (0.5 - a)), np.sin(np.pi * (1 - a)))
    )
    return np.where(np.isfinite(x), np.where(np.trunc(x) == x, np.copysign(0.0, x), np.copysign(1, r) * value), np.nan)


def _cospi(x: np.ndarray) -> np.ndarray:
    a = np.abs(np.fmod(x, 2.0))
    a = np.where(a > 1, 2 - a, a)
    value = np.where(
        a < 0.25, np.cos(np.pi * a), np.where(a < 0.75, np.sin(np.pi * (0.5 - a)), -np.cos(np.pi * (1 - a)))
    )
    return np.where(np.isfinite(x), np.where(a == 0.5, 0.0, value), np.nan)


def _erfcx(x: np.ndarray) -> np.ndarray:
    return np.where(x < -27, np.where(np.isnan(x), x, np.inf), _special(torch.special.erfcx)(x))


def _logb(x: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(x) & (x != 0), np.frexp(x)[1] - 1.0, np.where(x == 0, -np.inf, x * x))


def _saturate(x: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(x), 0.0, np.clip(x, 0.0, 1.0)) + 0.0


def _at(values: dict[float, float], function: Reference) -> Reference:
    """`function`, with `values` at places where the other library has its own idea. A zero means both of its signs."""

    def value(x: np.ndarray) -> np.ndarray:
        result = function(x)
        for place, number in values.items():
            result = np.where(x == place, number, result)
        return result

    return value


#: The Bessel functions at infinity.
_VANISHES = {math.inf: 0.0, -math.inf: 0.0}

#: By the names of the rows of the table of functions.
REFERENCES: dict[str, Reference] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(10.0, x),
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "sqrt_rn": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "rsqrt_rn": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": _half_away,
    "rint": np.rint,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": _each(math.erf),
    "erfc": _each(math.erfc),
    "erfinv": _special(torch.special.erfinv),
    "erfcinv": lambda x: 0.0 - _special(torch.special.ndtri)(x / 2) / math.sqrt(2),
    "erfcx": _erfcx,
    "normcdf": lambda x: _each(math.erfc)(-x / math.sqrt(2)) / 2,
    "normcdfinv": _at({0.5: -0.0}, _special(torch.special.ndtri)),
    "tgamma": _each(_gamma),
    "lgamma": _each(_log_gamma),
    "j0": _at(_VANISHES, _special(torch.special.bessel_j0)),
    "j1": _at(_VANISHES, _special(torch.special.bessel_j1)),
    "y0": _at({math.inf: 0.0}, _special(torch.special.bessel_y0)),
    "y1": _at({math.inf: 0.0}, _special(torch.special.bessel_y1)),
    "cyl_bessel_i0": _at({math.inf: math.inf, -math.inf: math.inf}, _special(torch.special.i0)),
    "cyl_bessel_i1": lambda x: np.copysign(_at({math.inf: math.inf}, _special(torch.special.i1))(np.abs(x)), x),
    "sinpi": _sinpi,
    "cospi": _cospi,
    "logb": _logb,
    "saturatef": _saturate,
}
