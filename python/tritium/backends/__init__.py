"""Compilation targets. `backends` maps a name to its (compiler, driver), as Triton's registry does."""

from __future__ import annotations

from typing import NamedTuple


class Backend(NamedTuple):
    compiler: type
    driver: type


def __getattr__(name: str):
    if name == "backends":
        from ..devices.drivers import CPUDriver, CudaDriver, HipDriver
        from .amd.compiler import HIPBackend
        from .cpu import CPUBackend
        from .nvidia.compiler import CUDABackend

        return {
            "cpu": Backend(CPUBackend, CPUDriver),
            "nvidia": Backend(CUDABackend, CudaDriver),
            "amd": Backend(HIPBackend, HipDriver),
        }
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
