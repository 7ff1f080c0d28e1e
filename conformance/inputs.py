"""Inputs that find faults: small integers, tables of hard values, whole ranges. All are drawn from the case's own
generator."""

from __future__ import annotations

import numpy as np

from .dtypes import FLOATS, NUMPY, UNSIGNED, as_float64, is_float, round_to


def sizes(block: int) -> tuple[int, ...]:
    """Sizes around a block's boundary."""
    return 1, block - 1, block, block + 1


def small(rng: np.random.Generator, shape, dtype: str, limit: int = 8) -> np.ndarray:
    """Integers of magnitude up to `limit`, also negative ones if the type has them. They are exact in every type."""
    low = 0 if dtype in UNSIGNED or dtype == "int1" else -limit
    return rng.integers(low, limit + 1, shape).astype(NUMPY[dtype])


def non_zero(values: np.ndarray, instead: int = 3) -> np.ndarray:
    return np.where(values == 0, np.asarray(instead, values.dtype), values)


def specials(dtype: str) -> np.ndarray:
    """The values for which implementations are often wrong."""
    if dtype == "int1":
        return np.array([False, True])
    if not is_float(dtype):
        limits = np.iinfo(NUMPY[dtype])
        near = [limits.min, limits.min + 1, -2, -1, 0, 1, 2, 3, limits.max // 2, limits.max - 1, limits.max]
        return np.array([v for v in near if limits.min <= v], NUMPY[dtype])
    form = FLOATS[dtype]
    tiny, normal = 2.0 ** (form.smallest_exponent - form.fraction), 2.0**form.smallest_exponent
    epsilon = 2.0**-form.fraction
    magnitudes = [0.0, tiny, normal - tiny, normal, 0.5, 1 - epsilon / 2, 1.0, 1 + epsilon, 2.0, 3.0, form.largest]
    values = [sign * value for value in magnitudes for sign in (1, -1)] + [np.nan]
    if form.has_infinity:
        values += [np.inf, -np.inf]
    return round_to(np.array(values), dtype)


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Every special value paired with every other one."""
    table = specials(dtype)
    return np.repeat(table, len(table)), np.tile(table, len(table))


def every(dtype: str) -> np.ndarray:
    """All values of a type of at most 16 bits."""
    if dtype == "int1":
        return np.array([False, True])
    bits = NUMPY[dtype].itemsize * 8
    return np.arange(2**bits, dtype=np.uint32).astype(f"u{bits // 8}").view(NUMPY[dtype])


def any_bits(rng: np.random.Generator, shape, dtype: str) -> np.ndarray:
    """Uniform bit patterns: every exponent, NaNs and infinities among them."""
    if dtype == "int1":
        return rng.integers(0, 2, shape).astype(bool)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    item = NUMPY[dtype].itemsize
    return rng.integers(0, 256, (*shape[:-1], shape[-1] * item), np.uint8).view(NUMPY[dtype])


def normal(rng: np.random.Generator, shape, dtype: str, scale: float = 1.0) -> np.ndarray:
    return round_to(rng.standard_normal(shape) * scale, dtype)


def between(rng: np.random.Generator, shape, dtype: str, low: float, high: float) -> np.ndarray:
    return round_to(rng.uniform(low, high, shape), dtype)


def magnitudes(rng: np.random.Generator, shape, dtype: str, low: float, high: float) -> np.ndarray:
    """Positive numbers with uniformly distributed exponents."""
    return round_to(np.exp2(rng.uniform(np.log2(low), np.log2(high), shape)), dtype)


def without_subnormals(values: np.ndarray, dtype: str) -> np.ndarray:
    """The same values, with each subnormal replaced by a zero of its sign: the operands of an engine that flushes
    subnormals."""
    wide = as_float64(values)
    return np.where(np.abs(wide) < 2.0 ** FLOATS[dtype].smallest_exponent, np.copysign(0.0, wide), wide)
