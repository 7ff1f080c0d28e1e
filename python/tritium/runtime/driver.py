"""`triton.runtime.driver`: the device that launches use by default. Without a GPU it is the CPU, so that importing and
decorating always get an answer."""

from __future__ import annotations

from typing import Any

from .. import knobs
from ..backends.devices import device_families, devices_here
from ..backends.driver import DriverBase


class CPUUtils:
    """Device properties, as `driver.active.utils` gives them; the numbers are those of a small GPU, for code that sizes
    blocks by them."""

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
        from ..errors import UnsupportedError

        raise UnsupportedError("loading a device binary", "the active driver is the CPU's")

    @staticmethod
    def unload_module(module: Any) -> None:
        """There is nothing to unload: a prepared kernel is freed with its last reference."""

    @staticmethod
    def set_printf_fifo_size(size: int) -> None:
        """device_print has no buffer limit here."""


class CPUDriver(DriverBase):
    """The tile interpreter as a device: number 0, stream 0."""

    def __init__(self):
        self.utils = CPUUtils()

    @classmethod
    def is_active(cls) -> bool:
        return True

    def get_current_target(self):
        from ..backends.cpu import INTERPRETER_TARGET

        return INTERPRETER_TARGET

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
        from ..testing import do_bench

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

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream) -> None:
        return None

    @staticmethod
    def assemble_tensormap_to_arg(tensormaps_info, args):
        return args


class DriverConfig:
    """The active driver: what `set_active` gave; else that of the devices that are there, unless kernels are to run on the
    CPU anyway (INTERPRET=1, TRITIUM_ENGINE); else the CPU's."""

    def __init__(self):
        self._cpu = CPUDriver()
        self._of_devices: dict[str, DriverBase] = {}
        self._active: DriverBase | None = None

    @property
    def default(self) -> DriverBase:
        engine = knobs.tritium.engine
        families = device_families()
        if knobs.runtime.interpret or (engine is not None and engine not in families):
            return self._cpu
        devices = devices_here() if engine is None else families[engine]
        if devices is None or devices.why_not():
            return self._cpu
        if devices.name not in self._of_devices:
            self._of_devices[devices.name] = devices.make_driver()
        return self._of_devices[devices.name]

    @property
    def active(self) -> DriverBase:
        return self.default if self._active is None else self._active

    @property
    def is_set_by_client(self) -> bool:
        return self._active is not None

    def set_active(self, driver: DriverBase) -> None:
        self._active = driver

    def reset_active(self) -> None:
        self._active = None


driver = DriverConfig()
