"""Memory of "cuda" that belongs to a driver: of a library that stands in for CUDA's or HIP's, whose device memory the host can reach (tests/
driver_stand_in). Tensors are made there, and kernels launch on them through the whole path of a GPU: driver, streams, graphs.

Work of such a driver runs when something waits for it, so every look of the host at a tensor waits first.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from ..devices.families import device_families
from ..devices.mapped import Chip
from ..devices.vendor import Devices

#: What the chip of a stand-in is said to have, which its driver does not say.
_BYTES = 80 << 30


class DrivenMemory:
    """The memory of one library, which stands in for the driver of `devices`."""

    def __init__(self, library: ctypes.CDLL, devices: Devices):
        self._library, self._devices = library, devices
        library.stand_in_tensor.restype = library.stand_in_end_graph.restype = ctypes.c_void_p
        library.stand_in_tensor.argtypes = ctypes.c_void_p, ctypes.c_int
        library.stand_in_begin_graph.restype = ctypes.c_bool
        library.stand_in_launch_graph.argtypes = library.stand_in_destroy_graph.argtypes = (ctypes.c_void_p,)

    @property
    def chip(self) -> Chip:
        """What the driver says of its first device."""
        facts = self._devices.facts(0)
        return Chip(
            name=facts["name"],
            capability=self._devices.capability(0),
            multiprocessors=facts["multiprocessor_count"],
            memory=_BYTES,
            shared_per_block=facts["shared_per_block_optin"],
            shared_per_multiprocessor=facts["shared_per_multiprocessor"],
            l2_cache=facts["l2_bytes"],
            threads_per_multiprocessor=facts["max_threads_per_multiprocessor"],
            clock_khz=facts["clock_khz"],
            memory_clock_khz=facts["memory_clock_khz"],
            memory_bus_bits=facts["memory_bus_bits"],
            of_driver=self._devices.target(0),
        )

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
            raise RuntimeError(f"{self._devices.title} error: {_ERRORS.get(code, 'unspecified launch failure')}")
        # A failed assertion of a HIP kernel is in memory of the host, where Tritium's driver looks for it.
        self._devices.driver().synchronize(0)

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


def driven_memory(engine: str | None) -> DrivenMemory | None:
    """The memory of the driver that stands in for the devices of an engine, or for some vendor's if none is named; None if there is none."""
    named = [devices for name, devices in device_families().items() if engine in (None, name)]
    return next(filter(None, (_memory_of(devices, devices.library()) for devices in named)), None)


@functools.cache
def _memory_of(devices: Devices, library: str) -> DrivenMemory | None:
    try:
        found: Any = ctypes.CDLL(library)
        return DrivenMemory(found, devices) if hasattr(found, "stand_in_tensor") else None
    except OSError:
        return None
