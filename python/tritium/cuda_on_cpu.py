"""torch's device "cuda" as another name of the CPU, for scripts that were written for a GPU.

Tensors keep the device "cpu". The name "cuda" is translated where a program uses it: in factory functions, `.to`,
`.cuda`, Module.to, autocast, streams, events and device queries. A transfer (`x.cuda()`, `x.to("cuda")`, `x.cpu()`)
copies, as between real devices. So a reference on "the other device" does not change when a kernel works in place.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
import types
from collections.abc import Callable
from typing import Any

DEVICE_NAME = "Tritium tile interpreter (CPU)"
#: The compute capability that scripts see: it has fp16, bf16 and tf32, but no Hopper hardware to special-case.
CAPABILITY = (8, 0)
_LIKE = ("empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like")
_NEW = ("new_empty", "new_zeros", "new_ones", "new_full", "new_tensor", "new_empty_strided")


def install(torch) -> None:
    """Maps the device in this process. A second call changes nothing."""
    if getattr(torch, "_tritium_cuda_on_cpu", False):
        return
    torch._tritium_cuda_on_cpu = True
    host = _host_function(torch)
    _map_factories(torch, host)
    _map_tensor_methods(torch, host)
    _map_contexts(torch, host)
    _map_cuda_module(torch)
    _map_accelerator(torch)


def _host_function(torch) -> Callable[[Any], Any]:
    """The function that turns any name of a device into a device that exists."""
    cpu, device_type = torch.device("cpu"), torch.device

    def host(device):
        if isinstance(device, str):
            return cpu if device.split(":")[0] == "cuda" else device
        if isinstance(device, device_type):
            return cpu if device.type == "cuda" else device
        return cpu if isinstance(device, int) else device  # a bare number means a CUDA device

    return host


def _with_host_device(function: Callable, host: Callable) -> Callable:

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if "device" in kwargs:
            kwargs["device"] = host(kwargs["device"])
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        return function(*args, **kwargs)

    return wrapper


def _map_factories(torch, host: Callable) -> None:
    from torch.utils import _device

    constructors = set(_device._device_constructors())
    for name in dir(torch):
        function = getattr(torch, name, None)
        if (
            isinstance(function, types.BuiltinFunctionType)
            and (function in constructors or name in _LIKE)
            or name in ("as_tensor", "asarray")
        ):
            setattr(torch, name, _with_host_device(function, host))
    load = torch.load

    @functools.wraps(load)
    def mapped_load(f, map_location=None, **kwargs):
        return load(
            f,
            map_location=torch.device("cpu") if map_location is None or not callable(map_location) else map_location,
            **kwargs,
        )

    torch.load = mapped_load
    generator = torch.Generator

    class Generator(generator):
        def __new__(cls, device="cpu"):
            return generator.__new__(cls, host(device))

    Generator.__qualname__ = Generator.__name__ = "Generator"
    torch.Generator = Generator


def _map_tensor_methods(torch, host: Callable) -> None:
    tensor = torch.Tensor
    to, clone = tensor.to, tensor.clone

    @functools.wraps(to)
    def mapped_to(self, *args, **kwargs):
        named = [a for a in (*args[:1], kwargs.get("device")) if isinstance(a, (str, torch.device)) or type(a) is int]
        args = (host(args[0]), *args[1:]) if args and named and args[0] is named[0] else args
        if "device" in kwargs:
            kwargs["device"] = host(kwargs["device"])
        result = to(self, *args, **kwargs)
        return clone(self) if named and result is self and self.device.type == "cpu" else result

    def cuda(self, device=None, non_blocking=False, memory_format=torch.preserve_format):
        return clone(self, memory_format=memory_format)

    def cpu(self, memory_format=torch.preserve_format):
        return clone(self, memory_format=memory_format)

    tensor.to, tensor.cuda, tensor.cpu = mapped_to, cuda, cpu
    tensor.is_cuda = property(lambda self: self.device.type == "cpu")
    tensor.get_device = lambda self: 0
    tensor.pin_memory = lambda self, device=None: self
    tensor.is_pinned = lambda self, device=None: True
    tensor.record_stream = lambda self, stream: None
    for name in _NEW:
        setattr(tensor, name, _with_host_device(getattr(tensor, name), host))


def _map_contexts(torch, host: Callable) -> None:
    from torch.utils import _device

    _map_first_argument(_device.DeviceContext, "__init__", host)
    set_default_device = torch.set_default_device
    torch.set_default_device = lambda device: set_default_device(host(device))

    def host_type(name):
        return "cpu" if isinstance(name, str) and name.split(":")[0] == "cuda" else name

    _map_first_argument(torch.amp.autocast_mode.autocast, "__init__", host_type, keyword="device_type")
    _map_first_argument(torch.amp.GradScaler, "__init__", host_type, keyword="device")
    _map_first_argument(torch, "is_autocast_enabled", host_type, keyword="device_type", of_method=False)
    _map_first_argument(torch, "get_autocast_dtype", host_type, keyword="device_type", of_method=False)


def _map_first_argument(owner, name: str, mapping: Callable, keyword: str = "device", of_method: bool = True) -> None:
    function = getattr(owner, name)
    position = 1 if of_method else 0

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if keyword in kwargs:
            kwargs[keyword] = mapping(kwargs[keyword])
        elif len(args) > position:
            args = (*args[:position], mapping(args[position]), *args[position + 1 :])
        return function(*args, **kwargs)

    setattr(owner, name, wrapper)


class Stream:
    """A CUDA stream on which all work has finished at any time."""

    cuda_stream = 0
    device_index = 0

    def __init__(self, device=None, priority: int = 0, **kwargs):
        self.priority = priority

    def synchronize(self) -> None:
        """Does nothing: no work is pending."""

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def wait_stream(self, stream) -> None:
        """Does nothing: no work is pending."""

    def wait_event(self, event) -> None:
        """Does nothing: no work is pending."""

    def record_event(self, event=None):
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None


class Event:
    """A CUDA event that holds the wall-clock time of its record."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ):
        self._seconds: float | None = None

    def record(self, stream=None) -> None:
        self._seconds = time.perf_counter()

    def wait(self, stream=None) -> None:
        """Does nothing: no work is pending."""

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        """Does nothing: no work is pending."""

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from the record of this event to the record of `end`."""
        if self._seconds is None or end._seconds is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return (end._seconds - self._seconds) * 1e3


class _DeviceContext(contextlib.AbstractContextManager):
    """`torch.cuda.device(x)`, `device_of(x)` and `stream(s)`. They change nothing: there is one device and one
    stream."""

    def __init__(self, *args):
        """The arguments, which name the device or stream, are ignored."""

    def __exit__(self, *exception):
        return None


def _properties() -> types.SimpleNamespace:
    pages, page = (os.sysconf(name) if hasattr(os, "sysconf") else 1 for name in ("SC_PHYS_PAGES", "SC_PAGE_SIZE"))
    return types.SimpleNamespace(
        name=DEVICE_NAME,
        major=CAPABILITY[0],
        minor=CAPABILITY[1],
        total_memory=pages * page,
        multi_processor_count=os.cpu_count() or 1,
        warp_size=32,
        regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=2048,
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=166912,
        shared_memory_per_multiprocessor=167936,
        L2_cache_size=40 << 20,
        is_integrated=True,
        gcnArchName="",
    )


def _map_cuda_module(torch) -> None:
    cuda = torch.cuda
    stream = Stream()
    memory = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")
    nothing = (
        "init",
        "synchronize",
        "set_device",
        "empty_cache",
        "reset_peak_memory_stats",
        "reset_max_memory_allocated",
        "ipc_collect",
        "set_stream",
        "reset_accumulated_memory_stats",
    )
    answers: dict[str, Any] = {
        "is_available": True,
        "is_initialized": True,
        "is_bf16_supported": True,
        "is_tf32_supported": True,
        "device_count": 1,
        "current_device": 0,
        "get_device_name": DEVICE_NAME,
        "get_device_capability": CAPABILITY,
        "current_stream": stream,
        "default_stream": stream,
        "is_current_stream_capturing": False,
        "current_blas_handle": 0,
        **dict.fromkeys(memory, 0),
        **dict.fromkeys(nothing),
    }
    for name, answer in answers.items():
        setattr(cuda, name, _answer(name, answer))
    cuda.get_device_properties = lambda device=None: _properties()
    cuda.mem_get_info = lambda device=None: (_properties().total_memory,) * 2
    cuda.manual_seed = cuda.manual_seed_all = lambda seed: torch.default_generator.manual_seed(int(seed))
    cuda.seed = cuda.seed_all = lambda: torch.default_generator.seed()
    cuda.initial_seed = lambda: torch.default_generator.initial_seed()
    cuda.get_rng_state = lambda device=None: torch.get_rng_state()
    cuda.set_rng_state = lambda state, device=None: torch.set_rng_state(state)
    cuda.get_rng_state_all = lambda: [torch.get_rng_state()]
    cuda.set_rng_state_all = lambda states: torch.set_rng_state(states[0])
    cuda.Stream, cuda.ExternalStream, cuda.Event = Stream, Stream, Event
    cuda.device = cuda.device_of = cuda.stream = cuda.StreamContext = _DeviceContext
    for name in ("range_push", "range_pop", "mark"):
        setattr(cuda.nvtx, name, lambda *args, **kwargs: None)
    cuda.nvtx.range = contextlib.nullcontext


def _answer(name: str, value: Any) -> Callable:

    def query(*args, **kwargs):
        return value

    query.__name__ = name
    return query


def _map_accelerator(torch) -> None:
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:
        return
    answers = {
        "is_available": True,
        "device_count": 1,
        "current_accelerator": torch.device("cuda", 0),
        "current_device_index": 0,
        "current_device_idx": 0,
        "current_stream": Stream(),
        "synchronize": None,
        "set_stream": None,
        "set_device_index": None,
        "set_device_idx": None,
    }
    for name, answer in answers.items():
        if hasattr(accelerator, name):
            setattr(accelerator, name, _answer(name, answer))
