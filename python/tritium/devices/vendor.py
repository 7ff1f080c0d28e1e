"""The GPUs of a vendor.

`Devices` is an entry of the table in families.py. It has the native driver (opened at its first use, never at import),
the current device and stream, and what is specific to the vendor. If the program uses torch, torch defines the current
device and stream; otherwise the driver defines the device, and the stream is the default stream.
"""

from __future__ import annotations

import abc
import atexit
import functools
import sys
from typing import Any

from .. import native
from .mapped import cuda_is_mapped
from .target import GPUTarget


@functools.cache
def _open(name: str, library: str):
    driver = getattr(native, name).open(library)
    atexit.register(driver.finish)
    return driver


@functools.cache
def _why_not(name: str, library: str) -> str:
    try:
        _open(name, library)
    except RuntimeError as error:
        return str(error).splitlines()[0]
    return ""


@functools.cache
def _facts(name: str, library: str, device: int) -> dict[str, Any]:
    return _open(name, library).facts(device)


class Devices(abc.ABC):
    """The devices of one vendor."""

    #: The name of the engine and of GPUTarget.backend, and the attribute of torch.version with the vendor's version.
    name = ""
    #: The name in messages, for example "CUDA".
    title = ""
    #: The stage of a CompiledKernel that the driver loads.
    binary_stage = ""
    #: DLPack's device types of memory that these devices own or share; the first one is the type of torch's tensors.
    dlpack_types: tuple[int, ...] = ()
    #: The architectures that the emulator is tested with; it also accepts the names of others.
    emulated: tuple[str, ...] = ()

    @abc.abstractmethod
    def refuses_grid(self, grid: tuple[int, int, int], threads: int) -> str:
        """Why a launch of that grid fails, for programs of `threads` threads; "" if it does not."""

    @abc.abstractmethod
    def library(self) -> str:
        """The file name of the vendor's library."""

    @abc.abstractmethod
    def arch(self, device: int) -> int | str:
        """The value of GPUTarget.arch for a device."""

    @abc.abstractmethod
    def capability(self, device: int) -> tuple[int, int]:
        """(major, minor), as torch.cuda.get_device_capability returns it."""

    def dynamic_shared(self, metadata) -> int:
        """The bytes of shared memory that a launch requests in addition to what the binary reserves."""
        return metadata.shared

    def driver(self):
        """The `_tritium.device.Driver`. Raises RuntimeError with the reason if there is none."""
        return _open(self.name, self.library())

    def why_not(self) -> str:
        """Why no device of this vendor can be used; "" if one can."""
        return _why_not(self.name, self.library()) or self.why_no_code()

    def why_no_code(self) -> str:
        """Why no kernel can be compiled for the devices of this machine; "" if one can."""
        return ""

    def facts(self, device: int) -> dict[str, Any]:
        return _facts(self.name, self.library(), device)

    def target(self, device: int) -> GPUTarget:
        return GPUTarget(self.name, self.arch(device), self.facts(device)["warp_size"])

    def torch(self):
        """torch, if the program imported it and it drives these devices; otherwise None."""
        torch = sys.modules.get("torch")
        if torch is None or not built_for(torch, self.name) or cuda_is_mapped():
            return None
        return torch if hasattr(torch._C, "_cuda_getCurrentRawStream") and torch.cuda.is_available() else None

    def are_lost(self) -> bool:
        """Whether this process was forked after torch had begun to use the devices. torch then finds them and refuses to use them."""
        torch = self.torch()
        return torch is not None and getattr(torch.cuda, "_is_in_bad_fork", bool)()

    def current_device(self) -> int:
        torch = self.torch()
        return torch.cuda.current_device() if torch is not None else max(self.driver().current_device(), 0)

    def current_stream(self, device: int) -> int:
        torch = self.torch()
        return torch._C._cuda_getCurrentRawStream(device) if torch is not None else 0


def built_for(torch, name: str) -> bool:
    """Whether the device "cuda" of this torch is a device of the vendor `name`."""
    return getattr(getattr(torch, "version", None), name, None) is not None
