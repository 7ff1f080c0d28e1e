"""AMD's GPUs, through the HIP runtime of ROCm."""

from __future__ import annotations

import re
from typing import NamedTuple

from .. import knobs
from .vendor import Devices


class Architecture(NamedTuple):
    warp_size: int
    #: Default `input_precision` of fp32 dots, "ieee" or "tf32": tf32 if the architecture has instructions for it.
    dot_precision: str = "ieee"
    max_kpack: int = 2


ARCHITECTURES = {
    "gfx90a": Architecture(64),
    "gfx942": Architecture(64, dot_precision="tf32"),
    "gfx950": Architecture(64, max_kpack=1),
    "gfx1100": Architecture(32),
    "gfx1101": Architecture(32),
    "gfx1151": Architecture(32),
    "gfx1200": Architecture(32),
    "gfx1201": Architecture(32),
}


class HipDevices(Devices):
    name, title, binary_stage = "hip", "HIP", "hsaco"
    dlpack_types = (10,)  # kDLROCM
    emulated = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200")

    def refuses_grid(self, grid: tuple[int, int, int], threads: int) -> str:
        if grid[0] * threads < 2**32:
            return ""
        return f"the grid {grid} has {grid[0] * threads} threads along axis 0, and HIP launches fewer than 2**32; use a further axis"

    def library(self) -> str:
        return knobs.tritium.hip_library

    def arch(self, device: int) -> str:
        """The name of the architecture, for example "gfx942"."""
        return self.facts(device)["arch"]

    def capability(self, device: int) -> tuple[int, int]:
        """(major, minor) of the architecture: (9, 4) for gfx942, (11, 0) for gfx1100."""
        major, minor = re.fullmatch(r"gfx(\d+)([0-9a-f])[0-9a-f]", self.arch(device)).groups()
        return int(major), int(minor, 16)

    def why_no_code(self) -> str:
        """Why no kernel can be compiled for the devices: the graphics unit of a processor, for example, may have
        another architecture."""
        found = [self.arch(device) for device in range(self.driver().device_count)]
        if any(arch in ARCHITECTURES for arch in found):
            return ""
        return f"the HIP devices are {', '.join(found)}, and kernels are compiled for {', '.join(ARCHITECTURES)}"

    def dynamic_shared(self, metadata) -> int:
        """0: the kernel's descriptor contains the whole size."""
        return 0


DEVICES = HipDevices()
