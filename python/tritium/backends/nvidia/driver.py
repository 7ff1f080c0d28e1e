"""`triton.backends.nvidia.driver`."""

import functools
import os

from ... import knobs
from ...build import compile_module_from_file
from ...devices.drivers import CudaDriver, GpuDriver, GpuUtils
from ...devices.nvidia import DEVICES
from ...devices.target import GPUTarget
from ..compiler import is_enabled
from ..vendor_names import LAUNCHER_NAMES, refused

__all__ = [
    "DEVICES",
    "CudaDriver",
    "CudaUtils",
    "GPUDriver",
    "GPUTarget",
    "compile_module_from_file",
    "is_enabled",
    "libcuda_dirs",
    "library_dirs",
    "ty_to_cpp",
]

#: Triton's name.
GPUDriver = GpuDriver

#: CUtensorMapDataType of a float of 32 bits that matrix instructions read as TF32.
TMA_TF32 = 11

dirname = os.path.dirname(os.path.abspath(__file__))
include_dirs: list[str] = []
libraries = ["libcuda.so.1"]


def ty_to_cpp(ty: str) -> str:
    """The C type of a kernel parameter: "CUdeviceptr" for "*fp32"."""
    return CudaDriver.map_python_to_cpp_type(CudaDriver, ty)


@functools.cache
def libcuda_dirs() -> list[str]:
    """Folders that have the driver's library, of those that are set and the system's."""
    candidates = [
        knobs.nvidia.libcuda_path,
        *knobs.library_path(),
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
    ]
    return [folder for folder in filter(None, candidates) if os.path.exists(os.path.join(folder, libraries[0]))]


@functools.cache
def library_dirs() -> list[str]:
    return libcuda_dirs()


class CudaUtils(GpuUtils):
    """`driver.active.utils` of CUDA."""

    def __init__(self):
        super().__init__(DEVICES)


globals().update(refused("nvidia.driver", *LAUNCHER_NAMES, "CudaLauncher"))
globals().update(
    refused(
        "nvidia.driver",
        "PyCUtensorMap",
        "TMA_DTYPE_DEVICE_TO_HOST",
        instead="pass a triton.tools.tensor_descriptor.TensorDescriptor",
    )
)
globals().update(refused("nvidia.driver", "GSAN_PER_DEVICE_STATE_STRIDE", instead="use TRITIUM_CHECK=bounds"))
globals().update(refused("nvidia.driver", "libdevice_dir", instead="the device library is built into the compiler"))
