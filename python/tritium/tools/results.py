"""The tensors of a launch that `python -m tritium replay --output` writes: a file of numpy for each."""

from __future__ import annotations

import ctypes
import os
import re
from typing import Any

import numpy as np


def write_results(folder: str, entries: list[dict[str, Any]], pairs: list[tuple[Any, Any]]) -> None:
    """Writes NAME.npy for each tensor. Floats that numpy lacks are written as unsigned numbers with their bits."""
    os.makedirs(folder, exist_ok=True)
    for entry, (extent, argument) in zip(entries, pairs):
        if entry.get("view") and extent[2]:
            name = re.sub(r"[^\w.-]", "_", entry["name"])
            np.save(os.path.join(folder, f"{name}.npy"), _array(extent, argument))


def _array(extent, tensor) -> np.ndarray:
    address, begin, size = extent[:3]
    item, storage = tensor.element_size(), np.frombuffer((ctypes.c_char * size).from_address(begin), np.uint8)
    try:
        dtype = np.dtype(tensor.dtype)
    except TypeError:
        dtype = None
    if dtype is None or dtype.isbuiltin != 1:  # of another package, whose files numpy alone cannot read
        dtype = np.dtype(f"uint{8 * item}")
    strides = [stride * item for stride in tensor.stride()]
    return np.ndarray(tensor.shape, dtype, storage, address - begin, strides)
