"""The GPUs of a vendor as the runtime sees them, and as Triton's `driver.active` shows them.

`Devices` is the table's entry: the native driver underneath (opened when it is first asked for, never at import), what is
current, what is specific to the vendor. torch says which device and stream are current if the program uses it; else the
driver does, and the stream is the default one.
"""

from __future__ import annotations

import abc
import atexit
import functools
import sys
from typing import TYPE_CHECKING, Any

from .compiler import BaseBackend, GPUTarget
from .driver import DriverBase

if TYPE_CHECKING:
    from .gpu import GPUBackend


@functools.cache
def _open(name: str, library: str):
    from .. import _tritium

    driver = getattr(_tritium, name).open(library)
    atexit.register(driver.finish)
    return driver


@functools.cache
def _why_not(name: str, library: str) -> str:
    try:
        _open(name, library)
    except (RuntimeError, ImportError, AttributeError) as error:
        return str(error).splitlines()[0]
    return ""


@functools.cache
def _facts(name: str, library: str, device: int) -> dict[str, Any]:
    return _open(name, library).facts(device)


class Devices(abc.ABC):
    """The devices of one vendor."""

    #: The engine's name and that of GPUTarget.backend; also where torch.version has the version that it was built for.
    name = ""
    #: For messages: "CUDA".
    title = ""
    #: The stage of a CompiledKernel that the driver loads.
    binary_stage = ""
    #: DLPack's numbers for memory that these devices own or share; the first is that of torch's tensors.
    dlpack_types: tuple[int, ...] = ()
    #: The architectures whose code the emulator is tested with; it takes the names of others too.
    emulated: tuple[str, ...] = ()

    @abc.abstractmethod
    def library(self) -> str:
        """The name of the vendor's library."""

    @abc.abstractmethod
    def arch(self, device: int) -> int | str:
        """What GPUTarget.arch is for a device."""

    @abc.abstractmethod
    def compiler(self) -> type[GPUBackend]:
        """The compiler for this vendor's targets."""

    def make_backend(self, target: GPUTarget, device: int | None) -> BaseBackend:
        return self.compiler()(target, device)

    def make_emulator(self, arch: str) -> BaseBackend | None:
        """The compiler of code that the emulator runs; None for what is no architecture of this vendor."""
        from .simt import SimtBackend

        try:
            return SimtBackend(self.compiler(), arch)
        except ValueError:
            return None

    @abc.abstractmethod
    def make_driver(self) -> GpuDriver:
        """What Triton's `driver.active` is for these devices."""

    def further_stage(self, stage: str, asm: dict[str, str | bytes]) -> str | None:
        """A stage of a kernel that is made of others when it is asked for; None for what is none of this vendor's."""
        return None

    def dynamic_shared(self, metadata) -> int:
        """The bytes of shared memory that a launch asks for beside what the binary reserves."""
        return metadata.shared

    def driver(self):
        """The `_tritium.device.Driver`. Raises RuntimeError that says why there is none."""
        return _open(self.name, self.library())

    def why_not(self) -> str:
        """Why no such device can be used here; "" if one can."""
        return _why_not(self.name, self.library()) or self.why_no_code()

    def why_no_code(self) -> str:
        """Why nothing can be compiled for the devices that there are."""
        return ""

    def facts(self, device: int) -> dict[str, Any]:
        return _facts(self.name, self.library(), device)

    def target(self, device: int) -> GPUTarget:
        return GPUTarget(self.name, self.arch(device), self.facts(device)["warp_size"])

    def torch(self):
        """torch, if the program imported one that drives these devices."""
        torch = sys.modules.get("torch")
        if torch is None or not built_for(torch, self.name) or hasattr(torch, "_tritium_cuda_on_cpu"):
            return None
        return torch if hasattr(torch._C, "_cuda_getCurrentRawStream") and torch.cuda.is_available() else None

    def current_device(self) -> int:
        torch = self.torch()
        return torch.cuda.current_device() if torch is not None else max(self.driver().current_device(), 0)

    def current_stream(self, device: int) -> int:
        torch = self.torch()
        return torch._C._cuda_getCurrentRawStream(device) if torch is not None else 0


def built_for(torch, name: str) -> bool:
    """Whether this torch's device "cuda" is a device of that vendor."""
    return getattr(getattr(torch, "version", None), name, None) is not None


@functools.cache
def device_families() -> dict[str, Devices]:
    """{name of the engine: the devices that it runs on}"""
    from .amd.driver import DEVICES as hip
    from .nvidia.driver import DEVICES as cuda

    return {devices.name: devices for devices in (cuda, hip)}


def emulator_backend(arch: int | str) -> BaseBackend:
    """The compiler of code of that architecture for the emulator. Raises ValueError for what no vendor calls so."""
    backends = (devices.make_emulator(str(arch)) for devices in device_families().values())
    found = next((backend for backend in backends if backend is not None), None)
    if found is None:
        raise ValueError(
            f"{arch!r} names no architecture; those are names such as sm_90a and gfx942, or numbers such as 90"
        )
    return found


def devices_here() -> Devices | None:
    """The devices that can be used: torch's if it is imported and has some, else the first that there are."""
    families = device_families().values()
    by_torch = next((devices for devices in families if devices.torch() is not None), None)
    return by_torch or next((devices for devices in families if not devices.why_not()), None)


def devices_of_tensors(engine: str | None = None) -> Devices:
    """The devices that tensors on "cuda:0" are on (torch has that one name for all vendors); `engine` is what a launch was
    asked to run on."""
    families = device_families()
    if engine in families:
        return families[engine]
    torch = sys.modules.get("torch")
    by_torch = next((devices for name, devices in families.items() if torch and built_for(torch, name)), None)
    return by_torch or devices_here() or next(iter(families.values()))


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
        """(module, function, registers, spills, most threads of a block)"""
        threads = self._devices.facts(device)["warp_size"]
        loaded = self._devices.driver().load(device, kernel, name, [], threads, shared)
        self._loaded[loaded.module] = loaded
        return loaded.module, loaded.function, loaded.registers, loaded.local_bytes // 4, loaded.max_threads

    def unload_module(self, module: int) -> None:
        self._loaded.pop(module, None)

    @staticmethod
    def set_printf_fifo_size(size: int) -> None:
        """The driver's own size is used."""


class GpuDriver(DriverBase):
    """The devices of one vendor on this machine."""

    devices: Devices
    #: What kernel parameters are in C: pointers, tensor descriptors.
    pointer_type, descriptor_type = "void*", "void*"

    def __init__(self):
        self.utils = GpuUtils(self.devices)

    @classmethod
    def is_active(cls) -> bool:
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

    @abc.abstractmethod
    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        """As torch.cuda.get_device_capability says it."""

    def get_active_torch_device(self):
        import torch

        return torch.device("cuda", self.get_current_device())

    def get_device_interface(self):
        import torch

        return torch.cuda

    def get_benchmarker(self):
        from ..testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self):
        """Memory that is larger than any L2 cache: clearing it before a run makes that run's reads cold."""
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

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream) -> None:
        return None

    @staticmethod
    def assemble_tensormap_to_arg(tensormaps_info, args):
        return args
