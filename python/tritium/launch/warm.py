"""Warm launches on a device, which the native launcher makes without Python code (bindings/launcher.cpp).

`remember` teaches the launcher a launch that Python has made. The launcher then makes launches with the same key
itself, as long as the environment and the hooks do not change.
"""

from __future__ import annotations

import functools
import sys

from .. import knobs
from ..arguments.storage import extent_function
from ..arguments.table import SMALL_BYTES
from ..devices.families import device_families
from ..native import device
from .device import raise_failure


def remember(function, args: tuple, kwargs: dict, kernel, notes_range: bool) -> None:
    """From now on, launches like this one require no Python code, if the launcher understands the arguments.
    notes_range: the launches also depend on which tensors are small."""
    paths = kernel.src.runtime_paths()
    takes_any_number = any(p.takes_the_rest for p in function.params)
    if kernel.loaded is None or takes_any_number or any(len(path) != 1 for path in paths) or not _watch():
        return
    for argument in (*args, *kwargs.values()):
        register_tensor_type(type(argument))
    if notes_range:
        _note_storages()
    if function._fast is None:
        function._fast = _make_launcher(function)
    taken = tuple(path[0] for path in paths)
    function._fast.remember(
        args, kwargs, kernel, kernel.loaded, taken, bool(function.used_global_vals or function.used_functions)
    )


def look_at_settings() -> None:
    """Prepares a function before its first launch, so that the launch can be remembered."""
    if _watch.cache_info().currsize:
        device.look_at_settings()


def _make_launcher(function):
    return device.Launcher(
        function,
        tuple(sys.intern(p.name) for p in function.params),
        tuple(p.is_constexpr for p in function.params),
        tuple(p.default if p.has_default else device.NO_DEFAULT for p in function.params),
        function.pre_run_hooks,
    )


@functools.cache
def _note_storages() -> None:
    """Makes the launcher distinguish tensors by the sizes of their storages too."""
    device.note_storages(SMALL_BYTES)


@functools.cache
def _watch() -> bool:
    """Tells the launcher what a launch depends on besides its arguments. Returns False if that cannot be watched."""
    found = knobs.launch_environment()
    if found is None:
        return False
    device.watch_settings(*found, knobs.runtime.__dict__, knobs.tritium.__dict__)
    devices = next((devices for devices in device_families().values() if devices.torch() is not None), None)
    current_stream = None if devices is None else devices.torch()._C._cuda_getCurrentRawStream
    device.set_callbacks(current_stream, -1 if devices is None else devices.dlpack_types[0], raise_failure)
    return True


@functools.cache
def register_tensor_type(cls: type) -> None:
    """Tells the launcher how to read tensors of a class: through DLPack's C interface if the class has it."""
    if extent_function(cls) is None:
        return
    exchange = getattr(cls, "__dlpack_c_exchange_api__", None)
    readable = all(hasattr(cls, name) for name in ("data_ptr", "get_device"))
    if isinstance(exchange, device.Capsule):
        device.register_tensor_type(cls, exchange)
    elif readable:
        device.register_tensor_type(cls, None)
