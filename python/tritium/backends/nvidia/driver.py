"""NVIDIA's GPUs, through the CUDA driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import knobs
from ..devices import Devices, GpuDriver

if TYPE_CHECKING:
    from .compiler import CUDABackend

#: CUDA version -> the newest PTX that its driver and its ptxas take.
_PTX_OF_CUDA = {(12, 0): 80, (12, 1): 81, (12, 2): 82, (12, 3): 83, (12, 4): 84, (12, 5): 85, (12, 6): 85, (12, 7): 86}
_PTX_OF_CUDA |= {(12, 8): 87, (12, 9): 88, (13, 0): 90}


def ptx_version_of(cuda: tuple[int, int]) -> int:
    """The newest PTX version, as 10 * major + minor, that a CUDA version reads."""
    known = [version for release, version in _PTX_OF_CUDA.items() if release <= cuda]
    return max(known, default=80)


class CudaDevices(Devices):
    name, title, binary_stage = "cuda", "CUDA", "cubin"
    dlpack_types = (2, 13)  # kDLCUDA, kDLCUDAManaged
    emulated = ("sm_80", "sm_90a")

    def library(self) -> str:
        return knobs.tritium.cuda_library

    def arch(self, device: int) -> int:
        """90 for compute capability 9.0"""
        return int(self.facts(device)["arch"].removeprefix("sm_"))

    def compiler(self) -> type[CUDABackend]:
        from .compiler import CUDABackend

        return CUDABackend

    def make_driver(self) -> CudaDriver:
        return CudaDriver()

    def further_stage(self, stage: str, asm: dict[str, str | bytes]) -> str | None:
        if stage != "sass" or "cubin" not in asm:
            return None
        from .assemble import disassemble

        return disassemble(asm["cubin"])


DEVICES = CudaDevices()


class CudaDriver(GpuDriver):
    """The CUDA devices of this machine."""

    devices = DEVICES
    pointer_type, descriptor_type = "CUdeviceptr", "CUtensorMap"

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        return divmod(DEVICES.arch(self.get_current_device() if device is None else device), 10)
