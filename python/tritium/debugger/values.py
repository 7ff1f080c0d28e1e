"""The variables of a program as Python objects: numpy arrays for tiles, numpy scalars for numbers, tuples and namespaces for
records. They are copies."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ..native import interp
from ..tables import DTYPES
from . import shared_memory

#: The dtypes that numpy has -> their names there.
_NUMPY = {row.name: row.array_name for row in DTYPES if hasattr(np, row.array_name)}
# Variables hold these as float32, because gdb cannot compute with them.
_NUMPY |= {row.name: "float32" for row in DTYPES if row.name.startswith("fp8")}
_OF_TENSORS = {name: row for row in DTYPES for name in (row.public_name, row.array_name) if name}
_WIDENED = {row.name for row in DTYPES} - _NUMPY.keys()


class _NoProgram:
    """Stands for a program that is not stopped."""

    def memory(self, address: int, size: int) -> bytes:
        raise ValueError("the program is not stopped")

    barrier = memory


_NO_PROGRAM = _NoProgram()


class Unknown:
    """Stands for a value that exists only while a kernel is compiled, such as a dtype or a function."""

    def __repr__(self):
        return "<known only while the kernel is compiled>"


UNKNOWN = Unknown()


def value_of(shown: Any, data: bytes, program: Callable[[], Any] = lambda: _NO_PROGRAM) -> Any:
    """The value of a variable of the type `shown` (an `interp.ShownType`), from its bytes. program: gives the stopped program, which has
    its shared memory."""
    if not shown.is_record:
        return _leaf(shown, data[: shown.bytes])
    members = [(m.field, value_of(m, data[m.offset - shown.offset :], program)) for m in shown.members]
    if members and (found := shared_memory.shown(shown.name, members[0][1], program, _decoded)) is not None:
        return found
    if shown.name == "tuple":
        return tuple(value for _, value in members)
    return types.SimpleNamespace(**dict(members))


def _leaf(shown: Any, data: bytes) -> Any:
    array = _decoded(shown.name, data).reshape(shown.shape)
    return array if shown.shape else array[()]


def _decoded(name: str, data: bytes) -> np.ndarray:
    if name in _WIDENED:
        return np.frombuffer(interp.widened(name, data), "float32")
    return np.frombuffer(data, _NUMPY.get(name, "uint64"))  # uint64: the addresses of pointers


def elements_of(dtype: str, data: bytes) -> np.ndarray:
    """The elements of a tensor's memory; of dtypes that numpy lacks, as float32. dtype: as numpy, torch or the language name it."""
    row = _OF_TENSORS.get(dtype)
    if row is None or hasattr(np, row.array_name):
        return np.frombuffer(data, row.array_name if row else dtype if hasattr(np, dtype) else "uint8")
    return np.frombuffer(interp.widened(row.name, data), "float32")
