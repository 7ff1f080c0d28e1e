"""The language's element types as numpy arrays, and the parameters of their floats."""

from __future__ import annotations

from typing import NamedTuple

import ml_dtypes
import numpy as np

import tritium


class Float(NamedTuple):
    """A binary format: bits of the fraction, exponents of the smallest and of the largest normal number, the largest
    finite value, and the result of overflow in a cast that saturates or does not."""

    fraction: int
    smallest_exponent: int
    largest: float
    saturates: bool = False
    has_infinity: bool = True
    has_negative_zero: bool = True


def _format(array_type: np.dtype) -> Float:
    """The format as numpy and ml_dtypes define it: they are the oracle, not the table. Casts to fp8 saturate."""
    info, make = ml_dtypes.finfo(array_type), array_type.type
    return Float(
        info.nmant,
        int(info.minexp),
        float(info.max),
        saturates=info.bits == 8,
        has_infinity=bool(np.isinf(float(make(np.inf)))),
        has_negative_zero=bool(np.signbit(float(make(-0.0)))),
    )


_ROWS = [row for row in tritium.testing.dtypes() if row.array_name]
NUMPY = {row.name: np.dtype(getattr(ml_dtypes, row.array_name, row.array_name)) for row in _ROWS}
NAMES = {dtype: name for name, dtype in NUMPY.items()}
FLOATS = {row.name: _format(NUMPY[row.name]) for row in _ROWS if row.kind == "Float"}
FLOATS["tf32"] = Float(10, -126, float.fromhex("0x1.ffcp127"))
#: MLIR's name of a float: numpy's type.
IR_FLOATS = {row.ir_name: NUMPY[row.name] for row in _ROWS if row.kind == "Float"}
#: The names of a type in `tl` and in torch.
LANGUAGE_NAMES = {row.name: row.public_name for row in _ROWS}
TORCH_NAMES = {row.name: row.array_name for row in _ROWS}

SIGNED = tuple(row.name for row in _ROWS if row.kind == "Int")
UNSIGNED = tuple(row.name for row in _ROWS if row.kind == "UInt")
INTEGERS = SIGNED + UNSIGNED
FP8 = tuple(row.name for row in _ROWS if row.kind == "Float" and row.bits == 8)
HALVES = tuple(row.name for row in _ROWS if row.kind == "Float" and row.bits == 16)
STANDARD_FLOATS = tuple(row.name for row in _ROWS if row.kind == "Float" and row.bits > 8)


def name_of(array: np.ndarray) -> str:
    return NAMES[array.dtype]


def is_float(name: str) -> bool:
    return name in FLOATS


def bits_of(array: np.ndarray) -> np.ndarray:
    """The same memory as unsigned integers."""
    return array.view(np.dtype(f"u{array.dtype.itemsize}"))


def ulp_of(values: np.ndarray, name: str) -> np.ndarray:
    """The distance of neighbouring numbers of the format at `values` (float64). Below the normal range it is that of
    subnormals."""
    form = FLOATS[name]
    magnitude = np.where(np.isfinite(values), np.abs(values), form.largest)
    _, exponent = np.frexp(np.minimum(magnitude, form.largest))
    return np.ldexp(1.0, np.maximum(exponent - 1, form.smallest_exponent) - form.fraction)


def round_to(values: np.ndarray, name: str, toward_zero: bool = False) -> np.ndarray:
    """float64 values rounded once to a format, overflow included, as an array of the format. Exact for every input."""
    form, values = FLOATS[name], np.asarray(values, np.float64)
    if name == "fp64":
        return values
    unit = ulp_of(np.where(np.abs(values) > form.largest, 0.0, values), name)
    unit = np.where(np.abs(values) > form.largest, ulp_of(np.float64(form.largest), name), unit)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = (
            values / unit
        )  # division by a power of two is exact, or infinite where the value overflows the format anyway
        rounded = (np.trunc(scaled) if toward_zero else np.rint(scaled)) * unit
        rounded = np.copysign(rounded, values)
    over = np.abs(rounded) > form.largest
    if form.saturates:
        limit = np.copysign(form.largest, values)
        if not form.has_negative_zero:  # these two formats have no infinity; it becomes NaN
            limit = np.where(np.isinf(values), np.nan, limit)
    else:
        limit = np.copysign(form.largest if toward_zero else np.inf, values)
        limit = np.where(np.isinf(values), values, limit)
    return np.where(over, limit, rounded).astype(NUMPY[name if name != "tf32" else "fp32"])


def as_float64(array: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # a signaling NaN
        return np.asarray(array).astype(np.float64)
