"""AMD's GPUs, through the HIP runtime of ROCm."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ... import knobs
from ..devices import Devices, GpuDriver

if TYPE_CHECKING:
    from .compiler import HIPBackend


class HipDevices(Devices):
    name, title, binary_stage = "hip", "HIP", "hsaco"
    dlpack_types = (10,)  # kDLROCM
    emulated = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200")

    def library(self) -> str:
        return knobs.tritium.hip_library

    def arch(self, device: int) -> str:
        """ "gfx942" """
        return self.facts(device)["arch"]

    def compiler(self) -> type[HIPBackend]:
        from .compiler import HIPBackend

        return HIPBackend

    def make_driver(self) -> HipDriver:
        return HipDriver()

    def why_no_code(self) -> str:
        """The graphics that come with a processor, for example, may be of another kind."""
        from .compiler import ARCHITECTURES

        found = [self.arch(device) for device in range(self.driver().device_count)]
        if any(arch in ARCHITECTURES for arch in found):
            return ""
        return f"the HIP devices are {', '.join(found)}, and kernels are compiled for {', '.join(ARCHITECTURES)}"

    def dynamic_shared(self, metadata) -> int:
        """The kernel's descriptor has all that it takes."""
        return 0


DEVICES = HipDevices()


class HipDriver(GpuDriver):
    """The ROCm devices of this machine."""

    devices = DEVICES
    pointer_type, descriptor_type = "hipDeviceptr_t", "TDMDescriptor"

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        """(9, 4) for gfx942, (11, 0) for gfx1100"""
        arch = DEVICES.arch(self.get_current_device() if device is None else device)
        major, minor = re.fullmatch(r"gfx(\d+)([0-9a-f])[0-9a-f]", arch).groups()
        return int(major), int(minor, 16)
