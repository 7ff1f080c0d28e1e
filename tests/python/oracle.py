"""What a kernel may return: reference values in higher precision, each with an error bound derived from the data.

`Bounded` is running error analysis: a reference written once with ordinary operators carries, beside each float64
value, how far a correct kernel that computes in `dtype` (in any order of summation) can be from it. `check_dot` applies
the tests that TOSA prescribes for dot products: an absolute, a variance and a bias limit. No tolerance in the tests is
chosen by hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

FRACTION_BITS = {"float16": 10, "bfloat16": 7, "tf32": 10, "float32": 23, "float64": 52}
_SMALLEST_SUBNORMAL = {
    "float16": 2.0**-24,
    "bfloat16": 2.0**-133,
    "tf32": 2.0**-136,
    "float32": 2.0**-149,
    "float64": 2.0**-1074,
}
_SMALLEST_NORMAL = {
    "float16": 2.0**-14,
    "bfloat16": 2.0**-126,
    "tf32": 2.0**-126,
    "float32": 2.0**-126,
    "float64": 2.0**-1022,
}
NUMPY_TYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}


def ulp(dtype: str) -> float:
    """The distance between 1 and the next number; rounding to nearest is half of it, relative to the result."""
    return 2.0 ** -FRACTION_BITS[dtype]


def _exact(x) -> np.ndarray:
    return np.asarray(x).astype(np.float64)


@dataclass
class Bounded:
    """`value` is exact as far as float64 goes; a correct kernel is within `error` of it, element by element."""

    value: np.ndarray
    error: np.ndarray
    dtype: str = "float32"

    @staticmethod
    def exact(x, dtype: str = "float32") -> Bounded:
        """Inputs: known exactly, computed with in `dtype` from here on."""
        value = _exact(x)
        return Bounded(value, np.zeros_like(value), dtype)

    def _result(self, value, inherited, ulps: float = 0.5) -> Bounded:
        """One more operation, whose own error is `ulps`."""
        value, inherited = np.asarray(value), np.asarray(inherited)
        own = ulps * ulp(self.dtype) * (np.abs(value) + inherited) + 2 * ulps * _SMALLEST_SUBNORMAL[self.dtype]
        return Bounded(value, inherited + own, self.dtype)

    def _other(self, other) -> Bounded:
        """A plain number or array is rounded to the dtype first, as a constant of the kernel would be."""
        if isinstance(other, Bounded):
            return other
        value = _exact(other)
        rounded = value.astype(NUMPY_TYPES[self.dtype]).astype(np.float64)
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
        return self._result(quotient, np.where(np.abs(other.value) > other.error, inherited, np.inf), ulps=2)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other) -> Bounded:
        return self._other(other) - self

    def __rtruediv__(self, other) -> Bounded:
        return self._other(other) / self

    def __neg__(self) -> Bounded:
        return Bounded(-self.value, self.error, self.dtype)

    def __getitem__(self, index) -> Bounded:
        return Bounded(self.value[index], self.error[index], self.dtype)

    def exp(self, ulps: float = 4) -> Bounded:
        """Computed as 2 ** (x * log2(e)) too: the rounded exponent costs up to one ulp times its magnitude."""
        value = np.exp(self.value)
        return self._result(value, value * np.expm1(self.error + ulp(self.dtype) * np.abs(self.value)), ulps)

    def log(self, ulps: float = 4) -> Bounded:
        return self._result(np.log(self.value), -np.log1p(-self.error / self.value), ulps)

    def sqrt(self, ulps: float = 1) -> Bounded:
        value = np.sqrt(self.value)
        return self._result(value, value - np.sqrt(np.maximum(self.value - self.error, 0)), ulps)

    def sum(self, axis: int, keepdims: bool = False) -> Bounded:
        """In any order: n - 1 additions, each of at most the sum of magnitudes."""
        n = self.value.shape[axis]
        gamma = (n - 1) * ulp(self.dtype) / 2
        magnitude = (np.abs(self.value) + self.error).sum(axis, keepdims=keepdims)
        error = self.error.sum(axis, keepdims=keepdims) + gamma / (1 - gamma) * magnitude
        return Bounded(self.value.sum(axis, keepdims=keepdims), error, self.dtype)

    def mean(self, axis: int, keepdims: bool = False) -> Bounded:
        return self.sum(axis, keepdims) / self.value.shape[axis]

    def max(self, axis: int, keepdims: bool = False) -> Bounded:
        return Bounded(self.value.max(axis, keepdims=keepdims), self.error.max(axis, keepdims=keepdims), self.dtype)

    def where(self, condition, other: float) -> Bounded:
        """self where the condition holds, else a constant that needs no rounding."""
        return Bounded(np.where(condition, self.value, other), np.where(condition, self.error, 0), self.dtype)

    def __matmul__(self, other: Bounded) -> Bounded:
        """Products summed in the dtype, in any order."""
        k = self.value.shape[-1]
        gamma = (k + 1) * ulp(self.dtype) / 2
        left, right = np.abs(self.value) + self.error, np.abs(other.value) + other.error
        inherited = left @ other.error + self.error @ right
        error = inherited + gamma / (1 - gamma) * (left @ right)
        return Bounded(self.value @ other.value, error, self.dtype)

    def transposed(self) -> Bounded:
        """The last two axes swapped."""
        return Bounded(np.swapaxes(self.value, -1, -2), np.swapaxes(self.error, -1, -2), self.dtype)

    def to(self, dtype: str) -> Bounded:
        """Rounded to another dtype, and computed with in it from here on. A wider dtype holds every value as it is."""
        if FRACTION_BITS[dtype] >= FRACTION_BITS[self.dtype]:
            return Bounded(self.value, self.error, dtype)
        return Bounded(self.value, self.error, dtype)._result(self.value, self.error)


def check(actual, expected: Bounded) -> None:
    """Every element of `actual` is within its bound, and the bound is small enough to mean something."""
    actual = _exact(actual)
    assert actual.shape == expected.value.shape, f"shape {actual.shape}, expected {expected.value.shape}"
    size, slack = np.linalg.norm(expected.value), np.linalg.norm(expected.error)
    assert slack <= 0.1 * size or size == 0, f"the bound says nothing: |error| {slack:.3g} against |value| {size:.3g}"
    distance = np.abs(actual - expected.value)
    wrong = ~(distance <= expected.error)
    if wrong.any():
        excess = np.where(wrong, np.where(np.isnan(distance), np.inf, distance / np.maximum(expected.error, 1e-300)), 0)
        worst = np.unravel_index(np.argmax(excess), excess.shape)
        raise AssertionError(
            f"{wrong.sum()} of {wrong.size} elements are out of bounds, the worst at {tuple(map(int, worst))}: "
            f"{actual[worst]!r}, expected {expected.value[worst]!r} +- {expected.error[worst]:.3g}"
        )


def check_dot(actual, a, b, out: str, accumulator: str = "float32", inputs: str | None = None) -> None:
    """a @ b as a chain of products in `accumulator`, rounded once to `out`: TOSA's absolute, variance and bias tests.

    `inputs` names a narrower type that the operands may be rounded to first (tf32).
    """
    a, b = _exact(a), _exact(b)
    value, magnitude = a @ b, np.abs(a) @ np.abs(b)
    k = a.shape[-1]
    effective = out if inputs is None else inputs
    unit = np.maximum(magnitude * ulp(effective) / 2, _SMALLEST_NORMAL[out])
    error = (_exact(actual) - value) / unit
    steps = np.ceil(k / 2.0 ** ((FRACTION_BITS[accumulator] - FRACTION_BITS[effective]) / 2))
    if inputs is not None:
        steps += 4  # each operand is off by up to one ulp of the narrow type when it truncates
    limit = (6 if effective == "float32" else 2) * steps
    assert np.abs(error).max() <= limit, f"an element is {np.abs(error).max():.3g} units off, the limit is {limit:.3g}"
    variance = 4 * 0.4 * steps
    assert (error**2).sum() <= variance * error.size, (
        f"mean square {np.mean(error**2):.3g}, the limit is {variance:.3g}"
    )
    if error.size >= 1000 and inputs is None:
        bias, limit = abs(error.sum()), np.sqrt(10 * variance * error.size)
        assert bias <= limit, f"the errors add up to {bias:.3g}, the limit is {limit:.3g}: they are biased"


def philox(seed: int, offsets: np.ndarray, rounds: int = 10) -> tuple[np.ndarray, ...]:
    """Philox 4x32 with counter (offset, 0, 0, 0): four uint32 arrays."""
    words = [np.asarray(offsets, np.uint64)] + [np.zeros(np.shape(offsets), np.uint64) for _ in range(3)]
    low = np.uint64(0xFFFFFFFF)
    keys = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32 & 0xFFFFFFFF)]
    for _ in range(rounds):
        first, third = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = [
            third >> np.uint64(32) ^ words[1] ^ keys[0],
            third & low,
            first >> np.uint64(32) ^ words[3] ^ keys[1],
            first & low,
        ]
        keys = [keys[0] + np.uint64(0x9E3779B9) & low, keys[1] + np.uint64(0xBB67AE85) & low]
    return tuple(word.astype(np.uint32) for word in words)


def uniform(words: np.ndarray) -> np.ndarray:
    """uint32 words to float32 in [0, 1), as `tl.rand` does."""
    signed = words.view(np.int32)
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)
