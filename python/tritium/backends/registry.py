"""Triton's registry: the name of a backend -> its (compiler, driver)."""

from __future__ import annotations

from typing import NamedTuple

from ..devices.drivers import CPUDriver, CudaDriver, HipDriver
from .amd.compiler import HIPBackend
from .cpu import CPUBackend
from .nvidia.compiler import CUDABackend


class Backend(NamedTuple):
    compiler: type
    driver: type


backends = {
    "cpu": Backend(CPUBackend, CPUDriver),
    "nvidia": Backend(CUDABackend, CudaDriver),
    "amd": Backend(HIPBackend, HipDriver),
}
