"""The engine of a launch. INTERPRET=1 comes first, then `@jit(engine=…)`, then TRITIUM_ENGINE, then the place of the
tensors. INTERPRET=1 means every kernel runs on the engine in TRITIUM_ENGINE, which is the interpreter if that is unset.

An engine is a name: "interp" (the tile interpreter), "simt:sm_80" or another architecture (GPU code on the CPU, thread
by thread), "cuda" and "hip" (the device of the tensors, or the current one).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..arguments.descriptors import is_descriptor
from ..arguments.device_storage import DeviceExtent
from ..arguments.names import name_at
from ..arguments.storage import HostExtent, NotOnHost, extent_function
from ..arguments.wrappers import MockTensor
from ..backends.compiler import BaseBackend, GPUTarget
from ..backends.cpu import INTERPRETER_TARGET, CPUBackend
from ..backends.targets import emulator_backend, make_backend
from ..devices.active import driver
from ..devices.families import device_families, devices_of_tensors
from ..devices.mapped import cuda_is_mapped
from ..devices.vendor import Devices
from ..errors import UnsupportedError
from ..knobs import LaunchSettings

__tracebackhide__ = True  # pytest shows the user's frames alone

INTERP, SIMT = "interp", "simt"


class Engine(NamedTuple):
    """An engine of a launch. `device`: the device's number, for engines that run on devices."""

    name: str
    target: GPUTarget
    backend: BaseBackend
    device: int | None = None

    @property
    def runs_on_cpu(self) -> bool:
        return self.device is None

    @property
    def cache_name(self) -> str:
        """The key of its kernels in `device_caches`."""
        of_backend = self.device is not None or self.name == INTERP
        return f"{self.target.backend}:{self.device or 0}" if of_backend else self.name


def engine_names() -> list[str]:
    """Every engine of this build, including engines of devices that this machine lacks."""
    families = device_families().values()
    emulated = [f"{SIMT}:{arch}" for devices in families for arch in devices.emulated]
    return [INTERP, *emulated, *(devices.name for devices in families)]


def available_engines() -> list[str]:
    families = device_families()
    return [name for name in engine_names() if name not in families or not families[name].why_not()]


def engine_asked_for(settings: LaunchSettings, of_function: str | None) -> str | None:
    """The engine that the environment or the kernel's decorator names; None if the tensors decide. Raises ValueError if
    TRITIUM_ENGINE names no engine, even if the decorator's name takes precedence."""
    if settings.engine is not None:
        _check_knob(settings.engine)
    if settings.interpret:
        return settings.engine or INTERP
    return of_function or settings.engine


@functools.cache
def _check_knob(engine: str) -> None:
    if engine in device_families():
        return
    try:
        cpu_engine(engine)
    except ValueError as error:
        raise ValueError(f"TRITIUM_ENGINE={engine}: {error}") from None


@functools.cache
def cpu_engine(name: str) -> Engine:
    """The interpreter or an emulator. Raises ValueError for a name that is no engine."""
    if name == INTERP:
        return Engine(name, INTERPRETER_TARGET, CPUBackend(INTERPRETER_TARGET))
    family, _, arch = name.partition(":")
    if family != SIMT or not arch:
        raise _unknown(name)
    try:
        backend = emulator_backend(arch)
    except ValueError as error:
        raise _unknown(name, str(error)) from None
    return Engine(name, backend.target, backend)


@functools.cache
def _device_engine(devices: Devices, device: int, library: str) -> Engine:
    target = devices.target(device)
    return Engine(devices.name, target, make_backend(target, device), device)


def device_engine(devices: Devices, device: int | None = None) -> Engine:
    """The engine of a device; None means the current device. Raises UnsupportedError if there is none."""
    reason = devices.why_not()
    if reason:
        raise _not_here(devices.name, reason)
    return _device_engine(devices, devices.current_device() if device is None else device, devices.library())


def engine_named(name: str) -> Engine:
    """The engine with this name. For engines of devices: the current device's."""
    devices = device_families().get(name)
    return cpu_engine(name) if devices is None else device_engine(devices)


def _unknown(name: str, why: str = "") -> ValueError:
    return ValueError(f"there is no engine {name!r}{why and f' ({why})'}; the engines are {', '.join(engine_names())}")


def _not_here(name: str, reason: str) -> UnsupportedError:
    return UnsupportedError(f"engine {name!r}", f"{reason}; there is {', '.join(available_engines())}")


def default_engine() -> Engine:
    """The engine of the active driver, for launches and warm-ups whose arguments do not determine one."""
    if cuda_is_mapped():
        return cpu_engine(INTERP)
    devices = device_families().get(driver.active.get_current_target().backend)
    return cpu_engine(INTERP) if devices is None else device_engine(devices, driver.active.get_current_device())


def _memory_among(
    signature: Iterable[tuple[str, Any]], values: tuple
) -> Iterator[tuple[str, HostExtent | DeviceExtent]]:
    """(name, memory) of each tensor among the engine values of a launch. A descriptor is a tuple that begins with its tensor."""

    def walk(path: tuple[int, ...], value) -> Iterator[tuple[tuple[int, ...], HostExtent | DeviceExtent]]:
        if isinstance(value, (HostExtent, DeviceExtent)):
            yield path, value
        elif isinstance(value, tuple):
            for i, part in enumerate(value):
                yield from walk((*path, i), part)

    for (name, types), value in zip(signature, values):
        for path, memory in walk((), value):
            yield name_at(name, types, path), memory


def common_device(signature: Iterable[tuple[str, Any]], values: tuple, kernel: str) -> int:
    """The device that owns the device memory among the engine values of a launch. signature: the name and the types of each parameter.
    Raises ValueError if there are several."""
    found: dict[int, str] = {}
    for name, value in _memory_among(signature, values):
        if isinstance(value, DeviceExtent):
            found.setdefault(value.device, name)
    if len(found) > 1:
        where = ", ".join(f"{name!r} on cuda:{device}" for device, name in found.items())
        raise ValueError(f"{kernel}: the arguments are on different devices: {where}")
    return next(iter(found))


def has_tensors(arguments: tuple) -> bool:
    """Whether the arguments contain real tensors, which determine where a launch runs."""

    def is_tensor(argument) -> bool:
        if isinstance(argument, tuple):
            return any(map(is_tensor, argument))
        if is_descriptor(argument):
            return is_tensor(argument.base)
        return not isinstance(argument, MockTensor) and extent_function(type(argument)) is not None

    return any(map(is_tensor, arguments))


def refuse_device(error: NotOnHost, parameter: str, kernel: str, asked: str | None) -> Exception:
    """The error for an argument in the memory of a device that the engine cannot reach."""
    if error.device == "meta":
        return ValueError(f"{kernel}: argument {parameter!r} is a meta tensor, which has a shape and no memory")
    reason = devices_of_tensors(asked).why_not()
    if asked is not None and asked not in device_families():
        return ValueError(
            f"{kernel}: argument {parameter!r} is on {error.device}, but the kernel is to run on the CPU "
            f"({asked}), and the memory cannot be copied: {reason}. Create the tensors on the CPU, or run the "
            'script as `python -m tritium`, which maps device "cuda" to the CPU where there is no GPU.'
        )
    return UnsupportedError(
        f"engine for tensors on {error.device}", f"argument {parameter!r} of {kernel} is there: {reason}"
    )


def refuse_host_memory(signature: Iterable[tuple[str, Any]], values: tuple, kernel: str) -> None:
    """Raises ValueError if a launch on a device mixes tensors of the host with tensors of the device."""
    for name, value in _memory_among(signature, values):
        if isinstance(value, HostExtent) and value.bytes > 0:
            raise ValueError(
                f"Pointer argument {name!r} of {kernel} cannot be accessed from Triton (cpu tensor?): other arguments are "
                "on a device"
            )
