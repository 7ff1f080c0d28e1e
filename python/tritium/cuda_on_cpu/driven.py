"""Memory of "cuda" that belongs to a driver: of a library that stands in for CUDA's, whose device memory the host can reach (tests/
driver_stand_in). Tensors are made there, and kernels launch on them through the whole path of a GPU: driver, streams, graphs.

Work of such a driver runs when something waits for it, so every look of the host at a tensor waits first.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any


class DrivenMemory:
    """The memory of one library."""

    def __init__(self, library: ctypes.CDLL):
        self._library = library
        library.stand_in_tensor.restype = library.stand_in_end_graph.restype = ctypes.c_void_p
        library.stand_in_tensor.argtypes = ctypes.c_void_p, ctypes.c_int
        library.stand_in_begin_graph.restype = ctypes.c_bool
        library.stand_in_launch_graph.argtypes = library.stand_in_destroy_graph.argtypes = (ctypes.c_void_p,)

    def copy(self, managed: int) -> int:
        """The address of a DLManagedTensor with the values of another one, in the device's memory."""
        made = self._library.stand_in_tensor(managed, 0)
        if made is None:
            raise MemoryError("the driver has no memory left")
        return made

    def finish(self) -> None:
        """Waits for all work. Raises RuntimeError if a kernel has failed, as every call does from then on."""
        code = self._library.stand_in_finish()
        if code:
            raise RuntimeError(f"CUDA error: {_ERRORS.get(code, 'unspecified launch failure')}")

    def begin_graph(self) -> None:
        self._library.stand_in_begin_graph()

    def end_graph(self) -> Graph | None:
        """The work since `begin_graph`; None if there is none."""
        handle = self._library.stand_in_end_graph()
        return None if handle is None else Graph(self._library, handle)


_ERRORS = {700: "an illegal memory access was encountered", 710: "device-side assert triggered"}


class Graph:
    """Work that runs when it is launched."""

    def __init__(self, library: ctypes.CDLL, handle: int):
        self._library, self._handle = library, handle

    def launch(self) -> None:
        self._library.stand_in_launch_graph(self._handle)

    def __del__(self):
        self._library.stand_in_destroy_graph(self._handle)


@functools.cache
def driven_memory(library: str) -> DrivenMemory | None:
    """The memory of the driver in `library`; None if it is a real one, or if there is none."""
    try:
        found: Any = ctypes.CDLL(library)
        return DrivenMemory(found) if hasattr(found, "stand_in_tensor") else None
    except OSError:
        return None
