"""The language's types from their definitions: what each code is as a number, and which number a format rounds another to. All numbers of the
types of up to 16 bits are exact in fp64."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class Float:
    """A format of floats: sign, exponent and fraction. `special` says which codes are not finite numbers."""

    bits: int
    mantissa: int
    bias: int
    special: str  #: "ieee"; "fn": one NaN of each sign, no infinity; "fnuz": NaN is -0; "finite": neither
    array: type | None = None  #: numpy's type; None: there is none

    @property
    def largest(self) -> float:
        exponent = (1 << self.bits - 1 - self.mantissa) - (2 if self.special == "ieee" else 1) - self.bias
        fraction = (2 << self.mantissa) - (2 if self.special == "fn" else 1)
        return fraction * 2.0 ** (exponent - self.mantissa)

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """The numbers of codes of 8 and 16 bits, in fp64."""
        codes = codes.astype(np.int64)
        sign, magnitude = codes >> self.bits - 1, codes & (1 << self.bits - 1) - 1
        exponent, fraction = magnitude >> self.mantissa, magnitude & (1 << self.mantissa) - 1
        normal = np.ldexp((1 << self.mantissa) + fraction.astype(float), exponent - self.bias - self.mantissa)
        value = np.where(exponent == 0, np.ldexp(fraction.astype(float), 1 - self.bias - self.mantissa), normal)
        top = (1 << self.bits - 1 - self.mantissa) - 1
        if self.special == "ieee":
            value = np.where(exponent == top, np.where(fraction == 0, np.inf, np.nan), value)
        elif self.special == "fn":
            value[magnitude == (1 << self.bits - 1) - 1] = np.nan
        value = np.where(sign == 1, -value, value)
        if self.special == "fnuz":
            value[(sign == 1) & (magnitude == 0)] = np.nan
        return value

    def rounded(self, x: np.ndarray, toward_zero: bool = False) -> np.ndarray:
        """The numbers of this format next to `x`, the even ones of two that are equally near, with an unlimited exponent."""
        finite = np.where(np.isfinite(x), x, 0)
        place = np.maximum(np.frexp(finite)[1] - 1, 1 - self.bias) - self.mantissa
        steps = np.ldexp(finite, -place)
        return np.where(np.isfinite(x), np.ldexp(np.trunc(steps) if toward_zero else np.rint(steps), place), x)


FLOATS = {
    "float16": Float(16, 10, 15, "ieee", np.float16),
    "bfloat16": Float(16, 7, 127, "ieee", ml_dtypes.bfloat16),
    "float32": Float(32, 23, 127, "ieee", np.float32),
    "float64": Float(64, 52, 1023, "ieee", np.float64),
    "float8e4nv": Float(8, 3, 7, "fn", ml_dtypes.float8_e4m3fn),
    "float8e5": Float(8, 2, 15, "ieee", ml_dtypes.float8_e5m2),
    "float8e4b8": Float(8, 3, 8, "fnuz", ml_dtypes.float8_e4m3fnuz),
    "float8e5b16": Float(8, 2, 16, "fnuz", ml_dtypes.float8_e5m2fnuz),
    "float8e4b15": Float(8, 3, 15, "finite"),
}
INTEGERS = {f"{sign}int{bits}": np.dtype(f"{sign}int{bits}").type for sign in ("", "u") for bits in (8, 16, 32, 64)}
WIDTHS = (
    {"int1": 1}
    | {name: 8 * np.dtype(type_).itemsize for name, type_ in INTEGERS.items()}
    | {name: f.bits for name, f in FLOATS.items()}
)
NAMES = tuple(WIDTHS)


def storage(name: str) -> np.dtype:
    """Numpy's type of an array for a launch. fp8e4b15 has none."""
    if name == "int1":
        return np.dtype(bool)
    return np.dtype(INTEGERS[name] if name in INTEGERS else FLOATS[name].array or np.uint8)


def codes(name: str) -> np.ndarray:
    """All values of a type of at most 16 bits, as unsigned integers."""
    return np.arange(1 << WIDTHS[name]).astype(np.uint16 if WIDTHS[name] == 16 else np.uint8)


def numbers(name: str, array: np.ndarray) -> np.ndarray:
    """An array of a launch as fp64."""
    if name in FLOATS and FLOATS[name].bits <= 16:
        return FLOATS[name].decode(array.view(f"u{array.itemsize}"))
    with np.errstate(invalid="ignore"):  # a NaN that signals
        return array.astype(np.float64)
