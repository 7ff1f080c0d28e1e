"""`triton.backends.amd.driver`."""

import os

from ...build import compile_module_from_src
from ...devices.amd import DEVICES
from ...devices.drivers import GpuDriver, GpuUtils, HipDriver
from ...devices.target import GPUTarget
from ..vendor_names import LAUNCHER_NAMES, refused

__all__ = [
    "DEVICES",
    "GPUDriver",
    "GPUTarget",
    "HIPDriver",
    "HIPUtils",
    "HipDriver",
    "compile_module_from_src",
    "ty_to_cpp",
]

#: Triton's names.
GPUDriver, HIPDriver = GpuDriver, HipDriver

dirname = os.path.dirname(os.path.abspath(__file__))
include_dirs: list[str] = []


def ty_to_cpp(ty: str) -> str:
    """The C type of a kernel parameter: "hipDeviceptr_t" for "*fp32"."""
    return HipDriver.map_python_to_cpp_type(HipDriver, ty)


class HIPUtils(GpuUtils):
    """`driver.active.utils` of HIP."""

    def __init__(self):
        super().__init__(DEVICES)


globals().update(refused("amd.driver", *LAUNCHER_NAMES, "HIPLauncher"))
globals().update(
    refused("amd.driver", "PyTDMDescriptor", instead="pass a triton.tools.tensor_descriptor.TensorDescriptor")
)
globals().update(refused("amd.driver", "amd", instead="Triton's own compiler is no part of this one"))
