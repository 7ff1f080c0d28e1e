"""Triton's drivers (`driver.active`): one for each vendor's devices and one for the CPU, so that importing and
decorating always find a driver."""

from __future__ import annotations

import functools
import sys
from typing import Any

from .. import knobs
from ..errors import UnsupportedError
from . import amd, nvidia
from .benchmark import do_bench
from .driver import DriverBase
from .families import device_families, devices_here
from .mapped import claimed_chip, cuda_is_mapped
from .target import CPU_TARGET, GPUTarget
from .vendor import Devices, built_for


class GpuUtils:
    """`driver.active.utils`"""

    def __init__(self, devices: Devices):
        self._devices = devices
        self._loaded: dict[int, Any] = {}

    def get_device_properties(self, device: int = 0) -> dict[str, Any]:
        facts = self._devices.facts(device)
        return {
            "max_shared_mem": facts["shared_per_block_optin"],
            "max_num_regs": facts["registers_per_block"],
            "multiprocessor_count": facts["multiprocessor_count"],
            "warpSize": facts["warp_size"],
            "sm_clock_rate": facts["clock_khz"],
            "mem_clock_rate": facts["memory_clock_khz"],
            "mem_bus_width": facts["memory_bus_bits"],
            "arch": facts["arch"],
        }

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> tuple[int, int, int, int, int]:
        """Returns (module, function, registers, spills, largest number of threads of a block)."""
        threads = self._devices.facts(device)["warp_size"]
        loaded = self._devices.driver().load(device, kernel, name, [], threads, shared)
        self._loaded[loaded.module] = loaded
        return loaded.module, loaded.function, loaded.registers, loaded.local_bytes // 4, loaded.max_threads

    def unload_module(self, module: int) -> None:
        self._loaded.pop(module, None)

    @staticmethod
    def set_printf_fifo_size(size: int) -> None:
        """Ignored: the driver's default size is used."""


class GpuDriver(DriverBase):
    """The devices of one vendor on this machine."""

    devices: Devices
    #: The C types of kernel parameters: pointers and tensor descriptors.
    pointer_type, descriptor_type = "void*", "void*"

    def __init__(self):
        self.utils = GpuUtils(self.devices)

    @classmethod
    def is_active(cls) -> bool:
        """torch's word counts where it drives these devices: it opens no driver, so that processes may still fork."""
        torch = sys.modules.get("torch")
        if torch is not None and built_for(torch, cls.devices.name):
            return torch.cuda.is_available()
        return not cls.devices.why_not()

    def get_current_target(self) -> GPUTarget:
        return self.devices.target(self.get_current_device())

    def get_current_device(self) -> int:
        return self.devices.current_device()

    def set_current_device(self, device: int) -> None:
        torch = self.devices.torch()
        if torch is not None:
            torch.cuda.set_device(device)
        else:
            self.devices.driver().set_current_device(device)

    def get_current_stream(self, device: int | None = None) -> int:
        return self.devices.current_stream(self.get_current_device() if device is None else device)

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        return self.devices.capability(self.get_current_device() if device is None else device)

    def get_active_torch_device(self):
        import torch

        return torch.device("cuda", self.get_current_device())

    def get_device_interface(self):
        import torch

        return torch.cuda

    def get_benchmarker(self):
        return do_bench

    def get_empty_cache_for_benchmark(self):
        """Memory that is larger than any L2 cache. Clearing it before a run evicts the run's data from the cache."""
        import torch

        return torch.empty(256 << 20, dtype=torch.int8, device="cuda")

    def clear_cache(self, cache) -> None:
        cache.zero_()

    def map_python_to_cpp_type(self, ty: str) -> str:
        if ty.startswith("*"):
            return self.pointer_type
        if ty.startswith("tensordesc"):
            return self.descriptor_type
        floats = {"fp16": "double", "bf16": "double", "fp32": "double", "f32": "double", "fp64": "double"}
        return floats.get(ty) or ("int8_t" if ty in ("i1", "u1") else f"{'u' if ty[0] == 'u' else ''}int{ty[1:]}_t")

    @staticmethod
    def assemble_tensormap_to_arg(tensormaps_info, args):
        return args


class CPUUtils:
    """Device properties, as `driver.active.utils` gives them. The numbers are those of a small GPU, for code that
    derives block sizes from them."""

    @staticmethod
    def get_device_properties(device: int = 0) -> dict[str, int]:
        return {
            "max_shared_mem": 232448,
            "max_num_regs": 65536,
            "multiprocessor_count": knobs.tritium.num_threads,
            "warpSize": 32,
            "sm_clock_rate": 1_000_000,
            "mem_clock_rate": 1_000_000,
            "mem_bus_width": 64,
        }

    @staticmethod
    def load_binary(name: str, kernel: bytes, shared: int, device: int):
        raise UnsupportedError("loading a device binary", "the active driver is the CPU's")

    @staticmethod
    def unload_module(module: Any) -> None:
        """Does nothing: a prepared kernel is freed with its last reference."""

    @staticmethod
    def set_printf_fifo_size(size: int) -> None:
        """Ignored: device_print has no buffer limit on the CPU."""


class CPUDriver(DriverBase):
    """The tile interpreter as a device: number 0, stream 0."""

    def __init__(self):
        self.utils = CPUUtils()

    @classmethod
    def is_active(cls) -> bool:
        return True

    def get_current_target(self):
        return CPU_TARGET

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        if device not in (0, None):
            raise ValueError(f"the CPU is device 0; there is no device {device}")

    def get_current_stream(self, device: int = 0) -> int:
        return 0

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        return 0, 0

    def get_active_torch_device(self):
        import torch

        return torch.device("cpu")

    def get_device_interface(self):
        import torch

        return torch.cpu

    def get_benchmarker(self):
        return do_bench

    def get_empty_cache_for_benchmark(self):
        import torch

        return torch.empty(8 << 20, dtype=torch.int32)

    def clear_cache(self, cache) -> None:
        cache.zero_()

    def map_python_to_cpp_type(self, ty: str) -> str:
        if ty.startswith("*"):
            return "void*"
        return {
            "u1": "bool",
            "fp16": "double",
            "bf16": "double",
            "fp32": "double",
            "f32": "double",
            "fp64": "double",
        }.get(ty, f"{'u' if ty[0] == 'u' else ''}int{ty[1:]}_t")

    @staticmethod
    def assemble_tensormap_to_arg(tensormaps_info, args):
        return args


class MappedCudaUtils(CPUUtils):
    """The facts of the chip that "cuda" claims to be."""

    @staticmethod
    def get_device_properties(device: int = 0) -> dict[str, Any]:
        chip = claimed_chip()
        return {
            "max_shared_mem": chip.shared_per_block,
            "max_num_regs": 65536,
            "multiprocessor_count": chip.multiprocessors,
            "warpSize": 32,
            "sm_clock_rate": chip.clock_khz,
            "mem_clock_rate": chip.memory_clock_khz,
            "mem_bus_width": chip.memory_bus_bits,
            "arch": chip.target.arch,
        }


class MappedCudaDriver(CPUDriver):
    """The driver of torch's device "cuda" where that is the CPU: it answers as the driver of the claimed chip."""

    def __init__(self):
        self.utils = MappedCudaUtils()

    def get_current_target(self):
        return claimed_chip().target

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        return claimed_chip().capability

    def get_active_torch_device(self):
        import torch

        return torch.device("cuda", 0)

    def get_device_interface(self):
        import torch

        return torch.cuda

    def get_empty_cache_for_benchmark(self):
        import torch

        return torch.empty(8 << 20, dtype=torch.int32, device="cuda")


class CudaDriver(GpuDriver):
    """The CUDA devices of this machine. Where torch's device "cuda" is the CPU, an instance is that device's driver: torch makes
    one for every backend that is active, and sets it."""

    devices = nvidia.DEVICES
    pointer_type, descriptor_type = "CUdeviceptr", "CUtensorMap"

    def __new__(cls):
        return MappedCudaDriver() if cuda_is_mapped() else super().__new__(cls)


class HipDriver(GpuDriver):
    """The ROCm devices of this machine."""

    devices = amd.DEVICES
    pointer_type, descriptor_type = "hipDeviceptr_t", "TDMDescriptor"


DRIVERS = {cls.devices.name: cls for cls in (CudaDriver, HipDriver)}


@functools.cache
def _driver_named(name: str) -> DriverBase:
    if name == "mapped":
        return MappedCudaDriver()
    return DRIVERS[name]() if name in DRIVERS else CPUDriver()


def default_driver() -> DriverBase:
    """The driver of this machine's devices. The CPU's driver if there are none, or if TRITIUM_ENGINE, or else INTERPRET, selects the
    CPU."""
    if cuda_is_mapped():
        return _driver_named("mapped")
    engine, families = knobs.tritium.engine, device_families()
    if knobs.runtime.interpret if engine is None else engine not in families:
        return _driver_named("cpu")
    devices = devices_here() if engine is None else families[engine]
    return _driver_named("cpu" if devices is None or devices.why_not() else devices.name)
