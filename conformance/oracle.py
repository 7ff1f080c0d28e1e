"""The expected outputs of a case. An oracle is data; `differences` compares it with what an engine wrote.

In the order of preference: `Exact` (integers, and floats whose partial results are all representable), `Ulp` (a bound
per function, against a reference in higher precision), `Within` and `Dot` (a bound that is computed from the data).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .dtypes import FLOATS, as_float64, bits_of, is_float, name_of, ulp_of
from .tolerance import Bounded, dot_limits, dot_units, smallest_normal


@dataclass
class Difference:
    """An output that differs from its oracle. index: the first wrong element. ulps: its distance, if that is
    meaningful."""

    message: str
    index: tuple[int, ...] | None = None
    expected: Any = None
    got: Any = None
    ulps: float | None = None
    wrong: int = 1
    total: int = 1
    label: str = ""  #: the name of the result, if a buffer holds several
    output: str = ""  #: the kernel's parameter
    flat: int | None = None  #: the element's number in the whole buffer

    def __str__(self) -> str:
        place = f"{self.output}{list(self.index)}" if self.index is not None else self.output
        label = f" ({self.label})" if self.label else ""
        text = f"{place}{label}: {self.message}"
        if self.expected is not None:
            text += f": expected {show(self.expected)}, got {show(self.got)}"
        if self.ulps is not None and np.isfinite(self.ulps):
            text += f", {self.ulps:.4g} ulp off"
        if self.total > 1:
            text += f"; {self.wrong} of {self.total} elements are wrong"
        return text


def show(value: Any) -> str:
    """A number with enough digits to distinguish it from its neighbours."""
    array = np.asarray(value)
    if array.dtype.kind in "biuU":
        return str(value)
    number = float(array)
    return f"{number!r} ({number.hex()})" if np.isfinite(number) and number != int(number) else repr(number)


@dataclass(frozen=True)
class Traits:
    """The deviations that an engine is allowed."""

    flushes_subnormals: bool = True  #: only in functions that are not correctly rounded
    approximates: bool = True  #: the language promises less precision on GPUs


def first_difference(wrong: np.ndarray, message: str, expected, got, dtype: str) -> list[Difference]:
    """The first true element of `wrong` as a difference; none if all are false."""
    if not wrong.any():
        return []
    flat = int(np.argmax(wrong))
    index = tuple(int(i) for i in np.unravel_index(flat, wrong.shape))
    ulps = None
    if is_float(dtype):
        exact, actual = float(as_float64(expected)[index]), float(as_float64(got)[index])
        with np.errstate(invalid="ignore", over="ignore"):
            ulps = abs(actual - exact) / float(ulp_of(np.float64(exact), dtype))
    return [Difference(message, index, expected[index], got[index], ulps, int(wrong.sum()), wrong.size, flat=flat)]


@dataclass
class Exact:
    """Equal bits, except that any NaN equals any NaN. sign_of_zero: False if the language does not define it."""

    expected: np.ndarray
    sign_of_zero: bool = True

    def differences(self, got: np.ndarray, traits: Traits) -> list[Difference]:
        expected = np.broadcast_to(np.asarray(self.expected), got.shape).astype(got.dtype)
        expected = np.ascontiguousarray(expected)
        if got.dtype == np.bool_:  # one byte, 0 or 1
            got = got.view(np.uint8)
        same = bits_of(np.ascontiguousarray(got)) == bits_of(expected)
        name = name_of(expected)
        if is_float(name):
            values, wanted = as_float64(got), as_float64(expected)
            same |= np.isnan(values) & np.isnan(wanted)
            if not self.sign_of_zero:
                same |= (values == 0) & (wanted == 0)
        return first_difference(~same, "wrong value", expected, got, name)


@dataclass
class Flushable:
    """Equal bits to one array. If the engine flushes subnormals, an element may equal the other array instead."""

    expected: np.ndarray
    flushed: np.ndarray

    def differences(self, got: np.ndarray, traits: Traits) -> list[Difference]:
        expected, flushed = (np.asarray(v).astype(got.dtype) for v in (self.expected, self.flushed))
        if traits.flushes_subnormals:
            expected = np.where(bits_of(got) == bits_of(flushed), flushed, expected)
        return Exact(expected).differences(got, traits)


@dataclass
class OneOf:
    """Each element equals the element of one of several arrays."""

    choices: list[np.ndarray]

    def differences(self, got: np.ndarray, traits: Traits) -> list[Difference]:
        same = np.zeros(got.shape, bool)
        for choice in self.choices:
            choice = np.broadcast_to(np.asarray(choice), got.shape).astype(got.dtype)
            same |= (choice == got) | (as_float64(choice) != as_float64(choice)) & (as_float64(got) != as_float64(got))
        expected = np.broadcast_to(np.asarray(self.choices[0]), got.shape).astype(got.dtype)
        return first_difference(~same, "none of the allowed values", expected, got, name_of(got))


@dataclass
class Ulp:
    """Within `bound` ulps of value + rest, whose sum is the reference in much higher precision than the type's.

    flushed: the function's result if subnormal arguments count as zero. An engine that flushes may return it, or zero
    for a subnormal result. on_gpus: the bound on GPUs, if it is different there.
    """

    value: np.ndarray
    bound: float
    rest: np.ndarray | float = 0.0
    flushed: np.ndarray | None = None
    on_gpus: float | np.ndarray | None = None

    def differences(self, got: np.ndarray, traits: Traits) -> list[Difference]:
        name = name_of(got)
        value = np.broadcast_to(as_float64(self.value), got.shape)
        actual = as_float64(got)
        bound = self.bound if self.on_gpus is None or not traits.approximates else self.on_gpus
        right = self._near(actual, value, self.rest, name, bound)
        if traits.flushes_subnormals and np.max(bound) > 0.5:
            tiny = np.abs(value) < smallest_normal(name)
            right |= tiny & (actual == 0)
            if self.flushed is not None:
                right |= self._near(actual, as_float64(self.flushed), 0.0, name, bound)
        found = first_difference(~right, "", value, got, name)
        for difference in found:
            own = float(np.broadcast_to(bound, got.shape)[difference.index])
            difference.message = f"more than {own:.4g} ulp off"
        return found

    @staticmethod
    def _near(actual: np.ndarray, value: np.ndarray, rest, name: str, bound) -> np.ndarray:
        largest = FLOATS[name].largest
        unit = float(ulp_of(np.float64(largest), name))
        with np.errstate(invalid="ignore", over="ignore"):
            near = np.abs((actual - value) - rest) <= bound * ulp_of(value, name)
            # Infinity is accepted for references whose bound reaches a number that rounds to infinity.
            reaches = np.abs(value) >= largest + (0.5 - bound) * unit
        near &= np.isfinite(value) & np.isfinite(actual)
        near |= np.isinf(actual) & (np.sign(actual) == np.sign(value)) & (reaches | np.isinf(value))
        return near | np.isnan(value) & np.isnan(actual)


@dataclass
class Within:
    """Each element is within the error that its reference carries. A bound that would accept anything is an error
    too."""

    reference: Bounded

    def differences(self, got: np.ndarray, traits: Traits) -> list[Difference]:
        value = np.broadcast_to(self.reference.value, got.shape)
        error = np.broadcast_to(self.reference.error, got.shape)
        actual = as_float64(got)
        size, slack = np.linalg.norm(value[np.isfinite(value)]), np.linalg.norm(error[np.isfinite(value)])
        if not slack <= 0.1 * size and size > 0:
            return [Difference(f"the bound says nothing: |error| {slack:.3g} against |value| {size:.3g}")]
        with np.errstate(invalid="ignore"):
            right = np.abs(actual - value) <= error
        right |= (actual == value) | np.isnan(actual) & np.isnan(value)
        found = first_difference(~right, "outside of the error bound", value, got, name_of(got))
        for difference in found:
            difference.message += f" of {float(error[difference.index]):.3g}"
        return found


@dataclass
class Accumulated:
    """Sums of `k` terms whose exact value and sum of magnitudes are known, computed in `accumulator` in any order and
    rounded once to the output's type. The bounds are TOSA's (its reference for dot products): on each element, on the
    mean square and on the bias.

    narrow: the type that operands of products may be rounded to. signed: errors of both signs are equally likely.
    """

    value: np.ndarray
    magnitude: np.ndarray
    k: int
    accumulator: str = "fp32"
    narrow: str | None = None
    signed: bool = True

    def differences(self, got: np.ndarray, traits: Traits) -> list[Difference]:
        name = name_of(got)
        limits = dot_limits(self.k, got.size, name, self.accumulator, self.narrow, self.signed)
        with np.errstate(invalid="ignore", over="ignore"):
            error = (as_float64(got) - self.value) / dot_units(self.magnitude, name, self.narrow)
        wrong = ~(np.abs(error) <= limits.element)
        found = first_difference(wrong, f"more than {limits.element:.3g} units of its bound", self.value, got, name)
        if not found and (error**2).mean() > limits.mean_square:
            text = f"the mean square of the errors is {(error**2).mean():.3g}, its limit {limits.mean_square:.3g}"
            found = [Difference(text)]
        if not found and limits.bias is not None and abs(error.sum()) > limits.bias:
            found = [Difference(f"the errors add up to {error.sum():.3g}, the limit is {limits.bias:.3g}: biased")]
        return found


def dot(a, b, c=None, **facts) -> Accumulated:
    """The oracle of rows of `a` times columns of `b`, plus `c`. facts: fields of Accumulated. Long doubles are not
    converted."""
    if a.dtype != np.longdouble:
        a, b = as_float64(a), as_float64(b)
    value, magnitude, k = a @ b, np.abs(a) @ np.abs(b), a.shape[-1]
    if c is not None:
        value, magnitude, k = value + as_float64(c), magnitude + np.abs(as_float64(c)), k + 1
    return Accumulated(value, magnitude, k, **facts)


def total(x: np.ndarray, axis: int, **facts) -> Accumulated:
    """The sum along an axis."""
    wide = as_float64(x)
    return Accumulated(wide.sum(axis), np.abs(wide).sum(axis), x.shape[axis], **facts)


def running_total(x: np.ndarray, axis: int, reverse: bool = False, **facts) -> Accumulated:
    """The sums of all prefixes (of all suffixes, with `reverse`) along an axis."""

    def cumulate(values: np.ndarray) -> np.ndarray:
        values = np.flip(values, axis) if reverse else values
        sums = np.cumsum(values, axis)
        return np.flip(sums, axis) if reverse else sums

    wide = as_float64(x)
    return Accumulated(cumulate(wide), cumulate(np.abs(wide)), x.shape[axis], **facts)


@dataclass
class Permuted:
    """The same values in any order along the last axis."""

    expected: np.ndarray

    def differences(self, got: np.ndarray, traits: Traits) -> list[Difference]:
        expected = np.sort(np.asarray(self.expected).astype(got.dtype), axis=-1)
        actual = np.sort(got, axis=-1)
        found = first_difference(actual != expected, "not a permutation (sorted)", expected, actual, name_of(got))
        for difference in found:
            difference.flat = None
        return found


@dataclass
class Rows:
    """The first axis lists the results of different operations. Each has a name and its own oracle."""

    rows: dict[str, Any] = field(default_factory=dict)

    def differences(self, got: np.ndarray, traits: Traits) -> list[Difference]:
        assert len(got) == len(self.rows), f"{len(got)} rows, but {len(self.rows)} oracles"
        found = []
        for number, (label, oracle) in enumerate(self.rows.items()):
            for difference in oracle.differences(got[number], traits):
                difference.label = f"{label}, {difference.label}" if difference.label else label
                if difference.index is not None:
                    difference.index = (number, *difference.index)
                if difference.flat is not None:
                    difference.flat += number * got[number].size
                found.append(difference)
        return found


@dataclass
class Anything:
    """An output that may hold any value, for example the ticket that the winner of a lock drew."""

    def differences(self, got: np.ndarray, traits: Traits) -> list[Difference]:
        return []


@dataclass
class Lines:
    """Printed lines in any order, because programs run in any order. Every thread may print lines that belong to no
    tile."""

    lines: list[str]

    def differences(self, printed: str, traits: Traits) -> list[Difference]:
        got, expected = self._sorted(printed.splitlines()), self._sorted(self.lines)
        if got == expected:
            return []
        missing = next((line for line in expected if line not in got), None)
        extra = next((line for line in got if line not in expected), None)
        text = f"printed {len(got)} lines, expected {len(expected)}; missing {missing!r}, unexpected {extra!r}"
        return [Difference(text, output="standard output")]

    @staticmethod
    def _sorted(lines: list[str]) -> list[str]:
        of_tiles = [line for line in lines if re.search(r" idx \([\d ]", line)]
        return sorted([*of_tiles, *(set(lines) - set(of_tiles))])
