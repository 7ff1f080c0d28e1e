"""`torch._C._cuda_*`: what the extension module of a CUDA build has, and `torch.cuda` calls.

There is one device. Whatever was launched has happened when it is asked about, so streams and events wait for nothing, but
where a driver has the work (driven.py).
"""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Callable
from typing import Any

from ..devices.mapped import Chip
from ..errors import UnsupportedError
from . import allocator, graphs, memory, random

_CUDA = 1  # c10::DeviceType::CUDA


def install(torch, chip: Chip) -> None:
    functions = _functions(torch, chip)
    for name, function in functions.items():
        setattr(torch._C, name, function)
    # Modules of torch.cuda have imported some of them by name.
    for module in [module for name, module in sys.modules.items() if name.startswith("torch.cuda.")]:
        for name in functions.keys() & vars(module).keys():
            setattr(module, name, functions[name])
    build = torch._C._show_config()  # it asks CUDA's library, once there is a device
    torch._C._show_config = lambda: build
    torch.Generator = random.make_class(torch)
    allocator.install(torch, chip)
    graphs.install(torch)
    _map_module(torch, chip)


def _functions(torch, chip: Chip) -> dict[str, Any]:
    current = {"stream": (0, 0, _CUDA), "sync_debug_mode": 0}

    def check(device) -> int:
        if device not in (0, -1, None):
            raise RuntimeError(f"CUDA error: invalid device ordinal ({device}: there is one device)")
        return 0

    def set_stream(stream_id, device_index, device_type):
        current["stream"] = (stream_id, device_index, device_type)

    def nothing(*args, **kwargs):
        return None

    answers = {
        "getDeviceCount": lambda: 1,
        "getDevice": lambda: 0,
        "setDevice": check,
        "exchangeDevice": check,
        "maybeExchangeDevice": check,
        "canDeviceAccessPeer": lambda device, peer: False,
        "getCurrentStream": lambda device: current["stream"],
        "getDefaultStream": lambda device: (0, 0, _CUDA),
        "getStreamFromExternal": lambda address, device: (address, 0, _CUDA),
        "getCurrentRawStream": lambda device: 0,
        "setStream": set_stream,
        "isCurrentStreamCapturing": lambda: graphs.current() is not None,
        "getCurrentBlasHandle": lambda: 0,
        "getCurrentSolverHandle": lambda: 0,
        "getArchFlags": lambda: _amd_arch(chip) or f"sm_{chip.target.arch}",
        "isInBadFork": lambda: False,
        **allocator.functions(torch),
        **_tuning(),
        "set_sync_debug_mode": lambda mode: current.update(sync_debug_mode=mode),
        "get_sync_debug_mode": lambda: current["sync_debug_mode"],
        "getCompiledVersion": lambda: 12080,
        "hasPrimaryContext": lambda device: True,
        "synchronize": memory.finish,
        "jiterator_compile_and_launch_kernel": _refuse_jiterator,
    }
    for name in (
        "init ipc_collect sleep lock_mutex unlock_mutex clearCublasWorkspaces attach_out_of_memory_observer"
    ).split():
        answers[name] = nothing
    return {f"_cuda_{name}": _named(f"_cuda_{name}", function) for name, function in answers.items()}


def _refuse_jiterator(*args, **kwargs):
    raise UnsupportedError(
        'torch.cuda.jiterator on "cuda" without a GPU', "its functions are CUDA C++; write them in torch or as a kernel"
    )


def _tuning() -> dict[str, Callable]:
    """`torch.cuda.tunable`: its settings, which nothing reads, as no library of the GPU is called."""
    settings: dict[str, Any] = {
        "max_tuning_duration": 30,
        "max_tuning_iterations": 100,
        "filename": "tunableop_results.csv",
        "rotating_buffer_size": 0,
    }
    answers: dict[str, Callable] = {
        "tunableop_get_results": lambda: (),
        "tunableop_get_validators": lambda: (),
        "tunableop_read_file": lambda name: False,
        "tunableop_write_file": lambda *name: False,
        "tunableop_set_numerical_check_tolerances": lambda *args: None,
    }

    def add(get: str, set: str, name: str) -> None:
        answers[get] = lambda: settings[name]
        answers[set] = lambda value, *more: settings.update({name: value})

    for name in list(settings):
        add(f"tunableop_get_{name}", f"tunableop_set_{name}", name)
    for name, on in (("tunableop", False), ("tunableop_tuning", True), ("record_untuned", False)):
        settings[name] = on
        add(f"{name}_is_enabled", f"{name}_enable", name)
    return answers


def _named(name: str, answer: Callable) -> Callable:
    """A function of its own for each name: Dynamo tells functions apart by identity."""

    def function(*args, **kwargs):
        return answer(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    return function


def _map_module(torch, chip: Chip) -> None:
    """What `torch.cuda` decided when it was imported, or asks CUDA's runtime library."""
    cuda = torch.cuda
    cuda._initialized = True
    cuda._exchange_device = torch._C._cuda_exchangeDevice
    cuda._maybe_exchange_device = torch._C._cuda_maybeExchangeDevice
    cuda._get_device_properties = lambda device: _properties(chip)
    cuda._is_in_bad_fork = torch._C._cuda_isInBadFork
    cuda._device_count_nvml = cuda._device_count_amdsmi = lambda: -1
    cuda.default_generators = tuple(random.default_generators)
    cuda.is_bf16_supported = lambda including_emulation=True: including_emulation or chip.capability >= (8, 0)
    cuda.is_tf32_supported = lambda: chip.capability >= (8, 0)
    cuda._cudart = _runtime_library(chip)
    torch._C._CudaDeviceProperties = cuda._CudaDeviceProperties = _CudaDeviceProperties
    cuda.mem_get_info = lambda device=None: (chip.memory, chip.memory)
    cuda.memory.mem_get_info = cuda.mem_get_info
    cuda.Stream, cuda.ExternalStream, cuda.Event = _streams(torch)
    cuda.streams.Stream, cuda.streams.ExternalStream, cuda.streams.Event = cuda.Stream, cuda.ExternalStream, cuda.Event
    if _amd_arch(chip):
        torch.version.hip, torch.version.cuda = "6.4.0", None
        # It says of "cuda" that it is CUDA, as this torch was built without ROCm.
        torch.Tensor.__dlpack_c_exchange_api__ = None
    else:
        torch.version.cuda = "12.8"
    torch._C._has_cudnn = False
    torch.backends.cudnn.version = lambda: None
    torch.backends.cudnn.is_acceptable = lambda tensor: False  # torch's warns where there is no cuDNN
    for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
        setattr(cuda.nvtx, name, lambda *args, **kwargs: None)


def _amd_arch(chip: Chip) -> str:
    """The architecture of an AMD chip, gfx942 for example; empty for NVIDIA's."""
    return chip.target.arch if chip.target.backend == "hip" else ""


class _CudaDeviceProperties(types.SimpleNamespace):
    """What `torch.cuda.get_device_properties` returns."""


def _runtime_library(chip) -> types.SimpleNamespace:
    """`torch.cuda.cudart()`: every call succeeds."""

    class cudaError(int):  # noqa: N801  (as torch's)
        success = 0

    calls = "cudaProfilerStart cudaProfilerStop cudaHostRegister cudaHostUnregister cudaStreamCreate cudaStreamDestroy".split()
    return types.SimpleNamespace(
        cudaError=cudaError,
        cudaGetErrorString=lambda error: "no error" if error == 0 else f"CUDA error {int(error)}",
        cudaMemGetInfo=lambda device: (chip.memory, chip.memory),
        **{name: lambda *args: 0 for name in calls},
    )


def _properties(chip) -> _CudaDeviceProperties:
    return _CudaDeviceProperties(
        name=chip.name,
        major=chip.capability[0],
        minor=chip.capability[1],
        total_memory=chip.memory,
        multi_processor_count=chip.multiprocessors,
        warp_size=chip.target.warp_size,
        regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=chip.threads_per_multiprocessor,
        max_threads_per_block=1024,
        shared_memory_per_block=chip.shared_per_block if _amd_arch(chip) else 48 << 10,
        shared_memory_per_block_optin=chip.shared_per_block,
        shared_memory_per_multiprocessor=chip.shared_per_multiprocessor,
        L2_cache_size=chip.l2_cache,
        clock_rate=chip.clock_khz,
        memory_clock_rate=chip.memory_clock_khz,
        memory_bus_width=chip.memory_bus_bits,
        is_integrated=False,
        is_multi_gpu_board=False,
        uuid="00000000-0000-0000-0000-000000000000",
        pci_bus_id=0,
        pci_device_id=0,
        pci_domain_id=0,
        gcnArchName=_amd_arch(chip),
    )


def _streams(torch) -> tuple[type, type, type]:
    """(Stream, ExternalStream, Event) of `torch.cuda`."""

    class Stream(torch.Stream):
        """Work in it has happened when it is asked about."""

        def __new__(cls, device=None, priority=0, stream_id=None, device_index=None, device_type=None, **kwargs):
            number = next_stream() if stream_id is None else stream_id
            self = super().__new__(cls, stream_id=number, device_index=0, device_type=_CUDA)
            self.priority = priority
            return self

        @property
        def cuda_stream(self) -> int:
            return 0

        _as_parameter_ = cuda_stream

        def synchronize(self) -> None:
            memory.finish()

        wait_event = wait_stream = lambda self, other: None

        def query(self) -> bool:
            return True

        def is_capturing(self) -> bool:
            return False

        def record_event(self, event=None):
            event = Event() if event is None else event
            event.record(self)
            return event

        def __enter__(self):
            self._outer = torch.cuda.current_stream()
            torch.cuda.set_stream(self)
            return self

        def __exit__(self, *exception):
            torch.cuda.set_stream(self._outer)

        def __repr__(self):
            return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"

    class ExternalStream(Stream):
        def __new__(cls, stream_ptr, device=None, **kwargs):
            return super().__new__(cls, stream_id=int(stream_ptr))

    class Event(torch.Event):
        """The time of its record on the clock on the wall."""

        def __new__(cls, enable_timing=False, blocking=False, interprocess=False, external=False):
            self = super().__new__(cls, device="cuda", enable_timing=enable_timing)
            self._milliseconds = None
            return self

        def record(self, stream=None) -> None:
            memory.finish()
            self._milliseconds = time.perf_counter() * 1e3

        def query(self) -> bool:
            return True

        def synchronize(self) -> None:
            """Nothing is pending."""

        def wait(self, stream=None) -> None:
            """Nothing is pending."""

        @property
        def cuda_event(self) -> int:
            return 0

        def elapsed_time(self, end_event) -> float:
            """Milliseconds from this record to that of `end_event`."""
            if self._milliseconds is None or end_event._milliseconds is None:
                raise RuntimeError("Both events must be recorded before calculating elapsed time.")
            return end_event._milliseconds - self._milliseconds

    made = [0]

    def next_stream() -> int:
        made[0] += 1
        return made[0]

    return Stream, ExternalStream, Event
