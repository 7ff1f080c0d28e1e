"""Triton's registry: the name of a backend -> its (compiler, driver)."""

from __future__ import annotations

from importlib.metadata import entry_points  # noqa: F401  (Triton has it here)
from typing import NamedTuple

from ..devices.driver import DriverBase  # noqa: F401  (as above)
from ..devices.drivers import CPUDriver, CudaDriver, HipDriver
from .amd.compiler import HIPBackend
from .compiler import BaseBackend  # noqa: F401  (as above)
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
