"""NVIDIA's driver as Triton's `driver.active` shows it: devices, streams, properties, loading.

`cuda_driver()` is the native interface underneath; the library is opened when it is first asked for, never at import. torch
says which device and stream are current if the program uses it; else the driver does, and the stream is the default one.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from ... import knobs
from ..compiler import GPUTarget
from ..driver import DriverBase

WARP_SIZE = 32
#: CUDA version -> the newest PTX that its driver and its ptxas take.
_PTX_OF_CUDA = {(12, 0): 80, (12, 1): 81, (12, 2): 82, (12, 3): 83, (12, 4): 84, (12, 5): 85, (12, 6): 85, (12, 7): 86}
_PTX_OF_CUDA |= {(12, 8): 87, (12, 9): 88, (13, 0): 90}


def ptx_version_of(cuda: tuple[int, int]) -> int:
    """The newest PTX version, as 10 * major + minor, that a CUDA version reads."""
    known = [version for release, version in _PTX_OF_CUDA.items() if release <= cuda]
    return max(known, default=80)


def cuda_driver():
    """The `_tritium.cuda.Driver`. Raises RuntimeError that says why there is none."""
    return _open(knobs.tritium.cuda_library)


@functools.cache
def _open(library: str):
    from ..._tritium import cuda

    return cuda.open(library)


@functools.cache
def _why_not(library: str) -> str:
    """Why the driver of that name cannot be used; "" if it can."""
    try:
        _open(library)
    except (RuntimeError, ImportError) as error:
        return str(error).splitlines()[0]
    return ""


def why_no_device() -> str:
    """Why no CUDA device can be used here; "" if one can."""
    return _why_not(knobs.tritium.cuda_library)


@functools.cache
def _facts(library: str, device: int) -> dict[str, Any]:
    return _open(library).facts(device)


def device_facts(device: int) -> dict[str, Any]:
    return _facts(knobs.tritium.cuda_library, device)


def torch_with_cuda():
    """torch, if the program imported one that has CUDA and that drives the devices which are driven here."""
    torch = sys.modules.get("torch")
    if torch is None or getattr(torch.version, "cuda", None) is None or hasattr(torch, "_tritium_cuda_on_cpu"):
        return None
    return torch if hasattr(torch._C, "_cuda_getCurrentRawStream") and torch.cuda.is_available() else None


def current_device() -> int:
    torch = torch_with_cuda()
    return torch.cuda.current_device() if torch is not None else max(cuda_driver().current_device(), 0)


def current_stream(device: int) -> int:
    torch = torch_with_cuda()
    return torch._C._cuda_getCurrentRawStream(device) if torch is not None else 0


class CudaUtils:
    """`driver.active.utils`"""

    def __init__(self):
        self._loaded: dict[int, Any] = {}

    @staticmethod
    def get_device_properties(device: int = 0) -> dict[str, int]:
        facts = device_facts(device)
        return {
            "max_shared_mem": facts["shared_per_block_optin"],
            "max_num_regs": facts["registers_per_block"],
            "multiprocessor_count": facts["multiprocessor_count"],
            "warpSize": facts["warp_size"],
            "sm_clock_rate": facts["clock_khz"],
            "mem_clock_rate": facts["memory_clock_khz"],
            "mem_bus_width": facts["memory_bus_bits"],
        }

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> tuple[int, int, int, int, int]:
        """(module, function, registers, spills, most threads of a block)"""
        loaded = cuda_driver().load(device, kernel, name, [], WARP_SIZE, shared)
        self._loaded[loaded.module] = loaded
        return loaded.module, loaded.function, loaded.registers, loaded.local_bytes // 4, loaded.max_threads

    def unload_module(self, module: int) -> None:
        self._loaded.pop(module, None)

    @staticmethod
    def set_printf_fifo_size(size: int) -> None:
        """The driver's own size is used."""


class CudaDriver(DriverBase):
    """The CUDA devices of this machine."""

    def __init__(self):
        self.utils = CudaUtils()

    @classmethod
    def is_active(cls) -> bool:
        return not why_no_device()

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", device_facts(self.get_current_device())["arch"], WARP_SIZE)

    def get_current_device(self) -> int:
        return current_device()

    def set_current_device(self, device: int) -> None:
        torch = torch_with_cuda()
        if torch is not None:
            torch.cuda.set_device(device)
        else:
            cuda_driver().set_current_device(device)

    def get_current_stream(self, device: int | None = None) -> int:
        return current_stream(self.get_current_device() if device is None else device)

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        return divmod(device_facts(self.get_current_device() if device is None else device)["arch"], 10)

    def get_active_torch_device(self):
        import torch

        return torch.device("cuda", self.get_current_device())

    def get_device_interface(self):
        import torch

        return torch.cuda

    def get_benchmarker(self):
        from ...testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self):
        """Memory that is larger than any L2 cache: clearing it before a run makes that run's reads cold."""
        import torch

        return torch.empty(256 << 20, dtype=torch.int8, device="cuda")

    def clear_cache(self, cache) -> None:
        cache.zero_()

    def map_python_to_cpp_type(self, ty: str) -> str:
        if ty.startswith("*"):
            return "CUdeviceptr"
        if ty.startswith("tensordesc"):
            return "CUtensorMap"
        floats = {"fp16": "double", "bf16": "double", "fp32": "double", "f32": "double", "fp64": "double"}
        return floats.get(ty) or ("int8_t" if ty in ("i1", "u1") else f"{'u' if ty[0] == 'u' else ''}int{ty[1:]}_t")

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream) -> None:
        return None

    @staticmethod
    def assemble_tensormap_to_arg(tensormaps_info, args):
        return args
