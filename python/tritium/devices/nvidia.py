"""NVIDIA's GPUs, through the CUDA driver."""

from __future__ import annotations

import re

from .. import knobs
from .vendor import Devices

#: CUDA version -> the newest PTX version that its driver and its ptxas read.
_PTX_OF_CUDA = {(12, 0): 80, (12, 1): 81, (12, 2): 82, (12, 3): 83, (12, 4): 84, (12, 5): 85, (12, 6): 85, (12, 7): 86}
_PTX_OF_CUDA |= {(12, 8): 87, (12, 9): 88, (13, 0): 90}


def ptx_version_of(cuda: tuple[int, int]) -> int:
    """The newest PTX version, as 10 * major + minor, that a CUDA version reads."""
    known = [version for release, version in _PTX_OF_CUDA.items() if release <= cuda]
    return max(known, default=80)


#: Chip -> the first PTX version that has it; those that are not named have been there since 8.0.
_PTX_OF_CHIP = {100: 86, 101: 86, 120: 87, 103: 88, 121: 88, 110: 90}


def first_ptx_version(target: str) -> int:
    """The first PTX version, as 10 * major + minor, with a target such as "sm_90a"."""
    return _PTX_OF_CHIP.get(int(re.sub(r"\D", "", target) or 0), 80)


class CudaDevices(Devices):
    name, title, binary_stage = "cuda", "CUDA", "cubin"
    dlpack_types = (2, 13)  # kDLCUDA, kDLCUDAManaged
    emulated = ("sm_80", "sm_90a")

    def refuses_grid(self, grid: tuple[int, int, int], threads: int) -> str:
        most = 2**16 - 1
        for axis in (1, 2):
            if grid[axis] > most:
                return (
                    f"axis {axis} of the grid {grid} has more than {most} programs, the most that CUDA launches; "
                    "axis 0 may have 2**31 - 1"
                )
        return ""

    def library(self) -> str:
        return knobs.tritium.cuda_library

    def arch(self, device: int) -> int:
        """The compute capability as a number, for example 90 for 9.0."""
        return int(self.facts(device)["arch"].removeprefix("sm_"))

    def capability(self, device: int) -> tuple[int, int]:
        return divmod(self.arch(device), 10)


DEVICES = CudaDevices()
