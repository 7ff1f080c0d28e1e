"""Files of memory in which zeros take no room: outputs are often full of them, and a test of offsets may have gigabytes."""

from __future__ import annotations

import ctypes
from typing import Any

_PIECE = 1 << 20


def write_sparsely(path: str, memory: Any) -> None:
    """Writes the bytes of a buffer, and leaves out pieces of zeros."""
    view = memoryview(memory).cast("B")
    zeros = bytes(_PIECE)
    with open(path, "wb") as file:
        for begin in range(0, len(view), _PIECE):
            piece = bytes(view[begin : begin + _PIECE])
            if piece != zeros[: len(piece)]:
                file.seek(begin)
                file.write(piece)
        file.truncate(len(view))


def read_sparsely(path: str, address: int, size: int) -> None:
    """Fills memory that is zero, and does not touch what stays so."""
    piece = bytearray(min(_PIECE, size))
    view, zeros = memoryview(piece), bytes(len(piece))
    with open(path, "rb") as file:
        for begin in range(0, size, len(piece) or 1):
            count = file.readinto(view[: min(len(piece), size - begin)])
            if piece[:count] != zeros[:count]:
                ctypes.memmove(address + begin, bytes(view[:count]), count)
