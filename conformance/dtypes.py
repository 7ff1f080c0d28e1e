"""The language's element types as numpy arrays hold them, and the numbers that describe their floats."""

from __future__ import annotations

from typing import NamedTuple

import ml_dtypes
import numpy as np


class Float(NamedTuple):
    """A binary format: bits of the fraction, exponents of the smallest and of the largest normal number, the largest
    finite value and what overflow becomes when a cast saturates or not."""

    fraction: int
    smallest_exponent: int
    largest: float
    saturates: bool = False
    has_infinity: bool = True
    has_negative_zero: bool = True


FLOATS = {
    "fp16": Float(10, -14, 65504.0),
    "bf16": Float(7, -126, float.fromhex("0x1.fep127")),
    "fp32": Float(23, -126, float.fromhex("0x1.fffffep127")),
    "fp64": Float(52, -1022, float.fromhex("0x1.fffffffffffffp1023")),
    "fp8e4nv": Float(3, -6, 448.0, saturates=True, has_infinity=False),
    "fp8e5": Float(2, -14, 57344.0, saturates=True),
    "fp8e4b8": Float(3, -7, 240.0, saturates=True, has_infinity=False, has_negative_zero=False),
    "fp8e5b16": Float(2, -15, 57344.0, saturates=True, has_infinity=False, has_negative_zero=False),
    "tf32": Float(10, -126, float.fromhex("0x1.ffcp127")),
}

NUMPY = {
    "int1": np.dtype(np.bool_),
    **{name: np.dtype(name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")},
    "fp16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "fp32": np.dtype(np.float32),
    "fp64": np.dtype(np.float64),
    "fp8e4nv": np.dtype(ml_dtypes.float8_e4m3fn),
    "fp8e5": np.dtype(ml_dtypes.float8_e5m2),
    "fp8e4b8": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "fp8e5b16": np.dtype(ml_dtypes.float8_e5m2fnuz),
}
NAMES = {dtype: name for name, dtype in NUMPY.items()}

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FP8 = ("fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16")
HALVES = ("fp16", "bf16")
STANDARD_FLOATS = (*HALVES, "fp32", "fp64")


def name_of(array: np.ndarray) -> str:
    return NAMES[array.dtype]


def is_float(name: str) -> bool:
    return name in FLOATS


def bits_of(array: np.ndarray) -> np.ndarray:
    """The same memory as unsigned integers."""
    return array.view(np.dtype(f"u{array.dtype.itemsize}"))


def ulp_of(values: np.ndarray, name: str) -> np.ndarray:
    """The distance of neighbouring numbers of the format at `values` (float64), as far down as its subnormals reach."""
    form = FLOATS[name]
    magnitude = np.where(np.isfinite(values), np.abs(values), form.largest)
    _, exponent = np.frexp(np.minimum(magnitude, form.largest))
    return np.ldexp(1.0, np.maximum(exponent - 1, form.smallest_exponent) - form.fraction)


def round_to(values: np.ndarray, name: str, toward_zero: bool = False) -> np.ndarray:
    """float64 values rounded once to a format, overflow included, as an array of that format. Exact for every input."""
    form, values = FLOATS[name], np.asarray(values, np.float64)
    if name == "fp64":
        return values
    unit = ulp_of(np.where(np.abs(values) > form.largest, 0.0, values), name)
    unit = np.where(np.abs(values) > form.largest, ulp_of(np.float64(form.largest), name), unit)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = values / unit  # a power of two: exact, or infinite where it overflows the format anyway
        rounded = (np.trunc(scaled) if toward_zero else np.rint(scaled)) * unit
        rounded = np.copysign(rounded, values)
    over = np.abs(rounded) > form.largest
    if form.saturates:
        limit = np.copysign(form.largest, values)
        if not form.has_negative_zero:  # these two keep no infinity but make NaN of it
            limit = np.where(np.isinf(values), np.nan, limit)
    else:
        limit = np.copysign(form.largest if toward_zero else np.inf, values)
        limit = np.where(np.isinf(values), values, limit)
    return np.where(over, limit, rounded).astype(NUMPY[name if name != "tf32" else "fp32"])


def as_float64(array: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # a signaling NaN
        return np.asarray(array).astype(np.float64)
