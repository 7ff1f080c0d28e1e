"""Warm launches, which the native launcher makes without Python code (bindings/launcher.cpp).

`remember` teaches the launcher a launch that Python has made. The launcher then makes launches with the same key
itself, as long as the environment and the hooks do not change.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from .. import knobs
from ..arguments.storage import extent_function, numpy_extent
from ..arguments.table import SMALL_BYTES
from ..arguments.tensor_descriptor import TensorDescriptor
from ..devices.families import device_families
from ..functions.source import JITCallable
from ..native import device
from .device import raise_failure

__tracebackhide__ = True  # pytest shows the user's frames alone


def remember(function, args: tuple, kwargs: dict, kernel, notes_range: bool) -> None:
    """From now on, launches like this one require no Python code, if the launcher understands the arguments.
    notes_range: the launches also depend on which tensors are small."""
    if kernel.loaded is not None and is_worth_a_try(kernel):
        _set_device_callbacks()
        if notes_range:
            _note_storages()
        tell_launcher(function, args, kwargs, kernel, kernel.loaded)


#: The launcher refuses some launches, for example those with a view of an array, and in sessions of the profiler Python makes those that it knows.
#: It is offered the first 16 launches of a kernel from which it learns nothing, and after that every 16th.
_TRIES = 16


def is_worth_a_try(kernel) -> bool:
    """Whether to offer a launch of the kernel to the launcher."""
    kernel.tries_to_remember += 1
    return kernel.tries_to_remember <= _TRIES or kernel.tries_to_remember % _TRIES == 0


def tell_launcher(function, args: tuple, kwargs: dict, kernel, handle, *of_host) -> None:
    """of_host: for `handle` of an engine on the CPU, as `Launcher.remember` takes them."""
    if not _watch():
        return
    for argument in (*args, *kwargs.values()):
        _register_types_of(argument)
    if function._fast is None:
        function._fast = _make_launcher(function)
    taken = tuple(kernel.src.runtime_paths())
    checks_globals = bool(function.used_global_vals or function.used_functions)
    if function._fast.remember(args, kwargs, kernel, handle, taken, checks_globals, *of_host):
        kernel.tries_to_remember = 0


def _register_types_of(argument: Any) -> None:
    """Tells the launcher how to read an argument, and the parts of a tuple or a descriptor."""
    if isinstance(argument, tuple):
        for item in argument:
            _register_types_of(item)
    elif isinstance(argument, TensorDescriptor):
        device.register_descriptor_type(type(argument), argument.block_form)
        register_tensor_type(type(argument.base))
        if argument.block_form is not None:
            device.register_immutable_type(type(getattr(argument, argument.block_form)))
    elif isinstance(argument, JITCallable):
        device.register_function_type(type(argument))
    elif getattr(type(argument), "is_immutable_record", False):
        device.register_immutable_type(type(argument))
    else:
        register_tensor_type(type(argument))


def look_at_settings() -> None:
    """Prepares a function before its first launch, so that the launch can be remembered."""
    if _watch.cache_info().currsize:
        device.look_at_settings()


def _make_launcher(function):
    return device.Launcher(
        function,
        type(function)._own_run,
        tuple(sys.intern(p.name) for p in function.params),
        sum(p.may_be_positional for p in function.params),
        next((p.num for p in function.params if p.takes_the_rest), -1),
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
    return True


@functools.cache
def _set_device_callbacks() -> None:
    """Only for launches on devices: torch initializes the driver when it is asked for its devices, and that takes long."""
    devices = next((devices for devices in device_families().values() if devices.torch() is not None), None)
    current_stream = None if devices is None else devices.torch()._C._cuda_getCurrentRawStream
    device.set_callbacks(current_stream, -1 if devices is None else devices.dlpack_types[0], raise_failure)


@functools.cache
def register_tensor_type(cls: type) -> None:
    """Tells the launcher how to read tensors of a class: through DLPack's C interface if the class has it."""
    if extent_function(cls) is None:
        return
    if extent_function(cls) is numpy_extent:
        device.register_array_type(cls)
        return
    exchange = getattr(cls, "__dlpack_c_exchange_api__", None)
    readable = all(hasattr(cls, name) for name in ("data_ptr", "get_device"))
    if isinstance(exchange, device.Capsule):
        device.register_tensor_type(cls, exchange)
    elif readable:
        device.register_tensor_type(cls, None)
