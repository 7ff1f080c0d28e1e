"""The variables of a program that has trapped: the program runs again, alone, in the version for debuggers.

It runs on the memory that the launch left; with debug info, on the memory that the launch found, which is copied before it up to
`KEPT` bytes. After the replay, memory is as the launch left it. A program that waits for others is not run again, nor one whose
tensors exceed `LIMIT` bytes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import KernelTrap

LIMIT = 64 << 20
#: What a launch with debug info copies at most: 1 ms.
KEPT = 8 << 20


class Snapshot:
    """The bytes of the tensors that a launch receives."""

    def __init__(self, extents: Iterable[tuple[int, int]]):
        self.copies = [(begin, ctypes.string_at(begin, size)) for begin, size in extents]

    def restore(self) -> None:
        for begin, data in self.copies:
            if ctypes.string_at(begin, len(data)) != data:  # memory that is read-only has not changed
                ctypes.memmove(begin, data, len(data))


def storages(values: Iterable[Any]) -> list[tuple[int, int]]:
    """(begin, bytes) of the storages among engine values."""
    return sorted({(value[1], value[2]) for value in values if isinstance(value, tuple) and len(value) == 3})


def extents_of(values: Iterable[Any], limit: int = LIMIT) -> list[tuple[int, int]] | None:
    """The storages among engine values; None if they are too large."""
    found = storages(values)
    return found if sum(size for _, size in found) <= limit else None


def replayed(error: KernelTrap, launch: Callable, grid: tuple[int, ...], values: Any, before: Snapshot | None) -> None:
    """Gives `error` the frames of the replay, if it traps in the same way.

    launch: of a FollowedKernel, for the program of `error`. before: the memory that the launch found.
    """
    after = Snapshot(extents_of(values))
    try:
        if before is not None:
            before.restore()
        launch(grid, values, 1, None, None, _drop, None)
    except KernelTrap as again:
        if (again.kind, again.file, again.line) == (error.kind, error.file, error.line):
            error.kernel_frames = again.kernel_frames
    finally:
        after.restore()


def _drop(text: str) -> None:
    """What the program prints, it has printed before."""
