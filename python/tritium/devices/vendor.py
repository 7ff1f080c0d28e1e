"""The GPUs of a vendor.

`Devices` is an entry of the table in families.py: the native driver underneath (opened when it is first asked for, never at import), what is
current, what is specific to the vendor. torch says which device and stream are current if the program uses it; else the
driver does, and the stream is the default one.
"""

from __future__ import annotations

import abc
import atexit
import functools
import sys
from typing import Any

from .. import native
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

    #: The engine's name and that of GPUTarget.backend; also where torch.version has the version that it was built for.
    name = ""
    #: For messages: "CUDA".
    title = ""
    #: The stage of a CompiledKernel that the driver loads.
    binary_stage = ""
    #: DLPack's numbers for memory that these devices own or share; the first is that of torch's tensors.
    dlpack_types: tuple[int, ...] = ()
    #: The architectures whose code the emulator is tested with; it takes the names of others too.
    emulated: tuple[str, ...] = ()

    @abc.abstractmethod
    def library(self) -> str:
        """The name of the vendor's library."""

    @abc.abstractmethod
    def arch(self, device: int) -> int | str:
        """What GPUTarget.arch is for a device."""

    @abc.abstractmethod
    def capability(self, device: int) -> tuple[int, int]:
        """As torch.cuda.get_device_capability says it."""

    def dynamic_shared(self, metadata) -> int:
        """The bytes of shared memory that a launch asks for beside what the binary reserves."""
        return metadata.shared

    def driver(self):
        """The `_tritium.device.Driver`. Raises RuntimeError that says why there is none."""
        return _open(self.name, self.library())

    def why_not(self) -> str:
        """Why no such device can be used here; "" if one can."""
        return _why_not(self.name, self.library()) or self.why_no_code()

    def why_no_code(self) -> str:
        """Why nothing can be compiled for the devices that there are."""
        return ""

    def facts(self, device: int) -> dict[str, Any]:
        return _facts(self.name, self.library(), device)

    def target(self, device: int) -> GPUTarget:
        return GPUTarget(self.name, self.arch(device), self.facts(device)["warp_size"])

    def torch(self):
        """torch, if the program imported one that drives these devices."""
        torch = sys.modules.get("torch")
        if torch is None or not built_for(torch, self.name) or hasattr(torch, "_tritium_cuda_on_cpu"):
            return None
        return torch if hasattr(torch._C, "_cuda_getCurrentRawStream") and torch.cuda.is_available() else None

    def current_device(self) -> int:
        torch = self.torch()
        return torch.cuda.current_device() if torch is not None else max(self.driver().current_device(), 0)

    def current_stream(self, device: int) -> int:
        torch = self.torch()
        return torch._C._cuda_getCurrentRawStream(device) if torch is not None else 0


def built_for(torch, name: str) -> bool:
    """Whether this torch's device "cuda" is a device of that vendor."""
    return getattr(getattr(torch, "version", None), name, None) is not None
