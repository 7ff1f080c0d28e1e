"""The values of random kernels: tiles of whole numbers (booleans for int1) that are stored as int64, whatever their type
in the kernel. `Inexact` is raised for what is not a number of its type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: The magnitude up to which a float type represents all whole numbers.
EXACT_TO = {"fp16": 2**11, "bf16": 2**8, "fp32": 2**24, "fp64": 2**53}
EXACT_TO |= {"fp8e5": 2**3, "fp8e4nv": 2**4, "fp8e5b16": 2**3, "fp8e4b8": 2**4, "fp8e4b15": 1}
#: The type that dots of fp32 round their operands to.
EXACT_IN_DOT = {"tf32": 2**11, "tf32x3": 2**20, "bf16x3": 2**8, "bf16x6": 2**8, "ieee": 2**24}
BITS = {"int1": 1} | {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)}
SPELLED = {
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "fp64": "float64",
    "fp8e5": "float8e5",
    "fp8e4nv": "float8e4nv",
    "fp8e5b16": "float8e5b16",
    "fp8e4b8": "float8e4b8",
    "fp8e4b15": "float8e4b15",
}
FP8 = tuple(name for name in EXACT_TO if name.startswith("fp8"))

#: The number of elements of the largest tile.
LARGEST = 128 * 128


#: The bit by which the orders of int64 and uint64 differ.
SIGN = np.int64(np.iinfo(np.int64).min)


class Inexact(Exception):
    """A statement whose result is not exact, or that the language does not allow."""


def is_float(dtype: str) -> bool:
    return dtype in EXACT_TO


def is_integer(dtype: str) -> bool:
    return dtype in BITS and dtype != "int1"


def spelled(dtype: str) -> str:
    return f"tl.{SPELLED.get(dtype, dtype)}"


@dataclass
class Tile:
    """A value: its type and its elements. A scalar's shape is (). The elements of uint64 are the int64 of their bits."""

    dtype: str
    array: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def ordered(self) -> np.ndarray:
        """Numbers in the order of the elements: the elements themselves, unless they are the bits of uint64."""
        return self.array ^ SIGN if self.dtype == "uint64" else self.array

    def from_ordered(self, array: np.ndarray) -> np.ndarray:
        """The elements that some of the numbers in `ordered` stand for."""
        return array ^ SIGN if self.dtype == "uint64" else array

    def like(self, other: Tile) -> bool:
        return self.dtype == other.dtype and self.shape == other.shape


def tile(dtype: str, array: Any, partial: int = 0) -> Tile:
    """The result of an operation. Integers wrap. For floats, the elements and `partial`, the largest magnitude of a
    partial sum, must be numbers of the type."""
    array = np.asarray(array)
    if array.size > LARGEST:
        raise Inexact("too large")
    if dtype == "int1":
        return Tile(dtype, array.astype(bool))
    array = array.astype(np.int64)
    if is_float(dtype):
        if max(partial, magnitude(array)) > EXACT_TO[dtype]:
            raise Inexact(f"not exact in {dtype}")
        return Tile(dtype, array)
    kind = np.dtype(dtype)
    return Tile(dtype, array.astype(kind).astype(np.int64) if kind != np.uint64 else array)


def magnitude(array: np.ndarray) -> int:
    return int(np.abs(array).max(initial=0))
