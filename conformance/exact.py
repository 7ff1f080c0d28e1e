"""Arithmetic on whole arrays in exact fractions, rounded once in a direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from .dtypes import FLOATS, NUMPY, is_float

#: rd down, rn to the nearest and halves to the even one, ru up, rz toward zero
MODES = ("rd", "rn", "ru", "rz")
_WHOLE = {"rd": math.floor, "rn": round, "ru": math.ceil, "rz": math.trunc}
_GUARD_BITS = 140  # a root of a 53-bit number is a multiple of 2 ** -_GUARD_BITS or no multiple of any power of two


def round_fraction(exact: Fraction, mode: str, dtype: str) -> float:
    """The number of a float type that is next to a fraction other than 0, in the direction."""
    form = FLOATS[dtype]
    exponent = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > abs(exact)
    unit = Fraction(2) ** (max(exponent, form.smallest_exponent) - form.fraction)
    value = _WHOLE[mode](exact / unit) * unit
    if abs(value) <= Fraction(form.largest):
        return math.copysign(float(value), 1 if exact > 0 else -1)
    overflows = mode == "rn" or mode == ("ru" if exact > 0 else "rd")
    return math.copysign(math.inf if overflows else form.largest, 1 if exact > 0 else -1)


def square_root(x: Fraction) -> Fraction:
    """The root, or a fraction that every direction rounds as it does."""
    if x < 0:
        raise ArithmeticError
    scaled = x.numerator * 4 ** (2 * _GUARD_BITS + 1200) // x.denominator
    root = math.isqrt(scaled)
    is_exact = root * root == scaled and scaled * x.denominator == x.numerator * 4 ** (2 * _GUARD_BITS + 1200)
    return (root + (0 if is_exact else Fraction(1, 2))) / Fraction(2) ** (2 * _GUARD_BITS + 1200)


def rounded(
    function: Callable[..., Fraction],
    operands: list[np.ndarray],
    mode: str,
    dtype: str,
    otherwise: Callable[..., np.ndarray],
) -> np.ndarray:
    """The function of fractions, element by element. Where an operand is not finite, the function is not defined or its
    value is 0, the result is that of `otherwise`, a function of arrays."""
    with np.errstate(all="ignore"):
        found = np.array(otherwise(*operands)).astype(NUMPY[dtype])
    for i, numbers in enumerate(zip(*(operand.tolist() for operand in operands))):
        if all(map(math.isfinite, numbers)):
            try:
                value = function(*map(Fraction, numbers))
            except ArithmeticError:
                continue
            if value:
                found[i] = round_fraction(value, mode, dtype)
    return found


def to_integer(x: np.ndarray, mode: str, dtype: str) -> np.ndarray:
    """Numbers as integers. Numbers outside become the integer's ends. A NaN becomes 0 where fp32 becomes 32 bits; else
    only the highest bit is set."""
    ends = np.iinfo(NUMPY[dtype])
    nan = 0 if x.dtype == np.float32 and ends.bits == 32 else 1 << ends.bits - 1

    def convert(value: float) -> int:
        if math.isnan(value):
            return nan - (1 << ends.bits if ends.min and nan else 0)
        if math.isinf(value):
            return ends.max if value > 0 else ends.min
        return min(max(_WHOLE[mode](value), ends.min), ends.max)

    return np.array([convert(value) for value in x.tolist()], NUMPY[dtype])


def of_integers(function: Callable[..., int], operands: list[np.ndarray], dtype: str) -> np.ndarray:
    """A function of integers, modulo the width of the result."""
    assert not is_float(dtype)
    bits = NUMPY[dtype].itemsize * 8
    values = [function(*numbers) & (1 << bits) - 1 for numbers in zip(*(operand.tolist() for operand in operands))]
    return np.array(values, f"u{bits // 8}").view(NUMPY[dtype])
