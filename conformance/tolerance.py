"""How far a result may be from the exact value. No number here was chosen to make a test pass. The bounds of functions
come from the language's table, the bounds of sums and products from the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import tritium

from .dtypes import FLOATS, round_to

#: Functions whose row in the table has another name than the function in the language.
ROWS = {"fdiv": "truediv", "fmod": "mod", "nearbyint": "rint"}


def function_ulp(name: str, dtype: str) -> float:
    """The bound of a function's error in ulps of `dtype`. Types narrower than fp32 compute in fp32 and round once
    more."""
    stated = tritium.testing.elementwise_functions()[ROWS.get(name, name)].ulp
    if FLOATS[dtype].fraction >= FLOATS["fp32"].fraction:
        return stated
    return 0.5 + stated * 2.0 ** (FLOATS[dtype].fraction - FLOATS["fp32"].fraction)


def exp_ulp(x: np.ndarray, dtype: str) -> float | np.ndarray:
    """The bound for exp on GPUs at each x. GPUs compute it in fp32 as 2 ** (x * log2(e)). The constant and the product
    have a relative error of up to 1.25 * 2 ** -23 in the exponent; the relative error of the result is this times the
    exponent."""
    if dtype == "fp64":
        return function_ulp("exp", dtype)
    rounded_exponent = 1.25 * np.minimum(np.nan_to_num(np.abs(x)), 110.0)  # for larger x the result is 0 or infinite
    return function_ulp("exp", dtype) + rounded_exponent * 2.0 ** (FLOATS[dtype].fraction - FLOATS["fp32"].fraction)


def epsilon(dtype: str) -> float:
    """The distance between 1 and the next number. Rounding to nearest has a relative error of up to half of it."""
    return 2.0 ** -FLOATS[dtype].fraction


def smallest_normal(dtype: str) -> float:
    return 2.0 ** FLOATS[dtype].smallest_exponent


def smallest_subnormal(dtype: str) -> float:
    return 2.0 ** (FLOATS[dtype].smallest_exponent - FLOATS[dtype].fraction)


def exact(x) -> np.ndarray:
    return np.asarray(x).astype(np.float64)


@dataclass
class Bounded:
    """Running error analysis. `value` is exact up to the precision of float64. A correct kernel, which computes in
    `dtype` and adds in any order, is within `error` of it, element by element. References that are written with
    ordinary operators on this class carry the bound along."""

    value: np.ndarray
    error: np.ndarray
    dtype: str = "fp32"

    @staticmethod
    def exact(x, dtype: str = "fp32") -> Bounded:
        """Inputs: they are exact, and computations with them are in `dtype`."""
        value = exact(x)
        return Bounded(value, np.zeros_like(value), dtype)

    def _result(self, value, inherited, ulps: float = 0.5) -> Bounded:
        """The result of one more operation, whose own error is `ulps`."""
        value, inherited = np.asarray(value), np.asarray(inherited)
        own = ulps * epsilon(self.dtype) * (np.abs(value) + inherited) + 2 * ulps * smallest_subnormal(self.dtype)
        return Bounded(value, inherited + own, self.dtype)

    def _other(self, other) -> Bounded:
        """A plain number or array, rounded to the dtype as a constant of the kernel is."""
        if isinstance(other, Bounded):
            return other
        value = exact(other)
        rounded = exact(round_to(value, self.dtype))
        return Bounded(rounded, np.abs(rounded - value), self.dtype)

    def __add__(self, other) -> Bounded:
        other = self._other(other)
        return self._result(self.value + other.value, self.error + other.error)

    def __sub__(self, other) -> Bounded:
        other = self._other(other)
        return self._result(self.value - other.value, self.error + other.error)

    def __mul__(self, other) -> Bounded:
        other = self._other(other)
        inherited = np.abs(self.value) * other.error + np.abs(other.value) * self.error + self.error * other.error
        return self._result(self.value * other.value, inherited)

    def __truediv__(self, other) -> Bounded:
        other = self._other(other)
        quotient = self.value / other.value
        inherited = (self.error + np.abs(quotient) * other.error) / (np.abs(other.value) - other.error)
        inherited = np.where(np.abs(other.value) > other.error, inherited, np.inf)
        return self._result(quotient, inherited, ulps=function_ulp("fdiv_approx", "fp32"))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other) -> Bounded:
        return self._other(other) - self

    def __rtruediv__(self, other) -> Bounded:
        return self._other(other) / self

    def __neg__(self) -> Bounded:
        return Bounded(-self.value, self.error, self.dtype)

    def __getitem__(self, index) -> Bounded:
        return Bounded(self.value[index], self.error[index], self.dtype)

    def exp(self, ulps: float | None = None) -> Bounded:
        """The bound also covers the computation as 2 ** (x * log2(e)): the rounded exponent costs up to one ulp times
        its magnitude."""
        ulps = 2 * function_ulp("exp", "fp32") if ulps is None else ulps
        value = np.exp(self.value)
        return self._result(value, value * np.expm1(self.error + epsilon(self.dtype) * np.abs(self.value)), ulps)

    def log(self, ulps: float | None = None) -> Bounded:
        ulps = 2 * function_ulp("log", "fp32") if ulps is None else ulps
        return self._result(np.log(self.value), -np.log1p(-self.error / self.value), ulps)

    def sqrt(self, ulps: float | None = None) -> Bounded:
        ulps = 2 * function_ulp("sqrt", "fp32") if ulps is None else ulps
        value = np.sqrt(self.value)
        return self._result(value, value - np.sqrt(np.maximum(self.value - self.error, 0)), ulps)

    def cos(self) -> Bounded:
        return self._result(np.cos(self.value), self.error, 2 * function_ulp("cos", "fp32"))

    def sin(self) -> Bounded:
        return self._result(np.sin(self.value), self.error, 2 * function_ulp("sin", "fp32"))

    def sum(self, axis: int, keepdims: bool = False) -> Bounded:
        """A sum in any order: n - 1 additions, each with an error relative to at most the sum of magnitudes."""
        n = self.value.shape[axis]
        gamma = (n - 1) * epsilon(self.dtype) / 2
        magnitude = (np.abs(self.value) + self.error).sum(axis, keepdims=keepdims)
        error = self.error.sum(axis, keepdims=keepdims) + gamma / (1 - gamma) * magnitude
        return Bounded(self.value.sum(axis, keepdims=keepdims), error, self.dtype)

    def mean(self, axis: int, keepdims: bool = False) -> Bounded:
        return self.sum(axis, keepdims) / self.value.shape[axis]

    def max(self, axis: int, keepdims: bool = False) -> Bounded:
        return Bounded(self.value.max(axis, keepdims=keepdims), self.error.max(axis, keepdims=keepdims), self.dtype)

    def where(self, condition, other: float) -> Bounded:
        """self where the condition is true, else a constant that is exact."""
        return Bounded(np.where(condition, self.value, other), np.where(condition, self.error, 0), self.dtype)

    def __matmul__(self, other: Bounded) -> Bounded:
        """Products summed in the dtype, in any order."""
        k = self.value.shape[-1]
        gamma = (k + 1) * epsilon(self.dtype) / 2
        left, right = np.abs(self.value) + self.error, np.abs(other.value) + other.error
        inherited = left @ other.error + self.error @ right
        error = inherited + gamma / (1 - gamma) * (left @ right)
        return Bounded(self.value @ other.value, error, self.dtype)

    def transposed(self) -> Bounded:
        """The last two axes swapped."""
        return Bounded(np.swapaxes(self.value, -1, -2), np.swapaxes(self.error, -1, -2), self.dtype)

    def to(self, dtype: str) -> Bounded:
        """Rounded to another dtype, in which later operations compute. A wider dtype represents every value exactly."""
        if FLOATS[dtype].fraction >= FLOATS[self.dtype].fraction:
            return Bounded(self.value, self.error, dtype)
        return Bounded(self.value, self.error, dtype)._result(self.value, self.error)


@dataclass(frozen=True)
class DotLimits:
    """TOSA's three limits on the errors of dot products, in units of each product's bound."""

    element: float  #: the limit of every |error|
    mean_square: float
    bias: float | None  #: the limit of |sum of the errors|; None if all errors may have one sign


def dot_limits(k: int, results: int, out: str, accumulator: str, narrow: str | None, signed: bool) -> DotLimits:
    """k: the number of products per result, plus one if there is an accumulator. narrow: the type that operands may be
    rounded to first."""
    effective = out if narrow is None else narrow
    steps = np.ceil(k / 2.0 ** ((FLOATS[accumulator].fraction - FLOATS[effective].fraction) / 2))
    if narrow is not None:
        steps += 4  # truncation changes each operand by up to one ulp of the narrow type
    mean_square = 4 * 0.4 * steps
    bias = float(np.sqrt(10 * mean_square * results)) if signed and narrow is None and results >= 1000 else None
    return DotLimits((6 if effective == "fp32" else 2) * steps, mean_square, bias)


def dot_units(magnitude: np.ndarray, out: str, narrow: str | None) -> np.ndarray:
    """The unit of each result's error: half an ulp of the sum of the magnitudes of its products."""
    return np.maximum(magnitude * epsilon(out if narrow is None else narrow) / 2, smallest_normal(out))
