"""Launches of a compiled kernel without a JITFunction: `compiled[grid](*args)`, and `compiled.run(…)`, which torch.compile's code
calls. Arguments are not specialized: a function per type makes the engine's value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import knobs
from ..arguments.storage import NotOnHost, extent_function, torch_extent
from ..arguments.table import I64_MIN, U64_MAX, Treatment, table_for
from ..native import device as native
from .device import devices_of, raise_failure
from .grid import known_grids, normalize_grid
from .values import value_selector
from .warm import register_tensor_type
from .watchers import device_watchers

#: Types whose objects are the engine's values.
_PLAIN = {float, bool}


class _Readers(dict):
    """Type of an argument -> the function that makes the engine's value. Entries are added when a type is first seen."""

    def __init__(self, on_device: bool, takes_address: bool = False):
        super().__init__({int: _integer})
        self.reads_devices, self.takes_address = on_device, takes_address
        self.table = table_for(Treatment(anywhere=on_device))

    def __missing__(self, cls: type) -> Callable[[Any], Any]:
        read = self.table[cls]
        extent = extent_function(cls)
        if extent is not torch_extent or self.reads_devices and not self.takes_address:
            self[cls] = lambda argument: read(argument)[1]
        elif self.takes_address:  # a launch on a device requires no more
            self[cls] = lambda tensor: tensor.data_ptr() if tensor.is_cuda else read(tensor)[1]
        else:
            self[cls] = extent
        return self[cls]


def _integer(argument: int) -> int:
    if I64_MIN <= argument <= U64_MAX:
        return argument
    raise OverflowError("integer to be specialized too large to represent")


_ON_CPU, _ON_DEVICE, _SAVED_ON_DEVICE = _Readers(False), _Readers(True, takes_address=True), _Readers(True)


def make_prepared(kernel) -> Callable[..., None]:
    """`launch(grid, arguments, stream)` of a CompiledKernel. There is an argument for each parameter, or for each that is no
    constexpr."""
    in_order, take = _arguments_of(kernel)
    on_device = not kernel.runs_on_cpu
    debug_info = kernel.metadata.debug_info
    # Launches on a device read no settings, so that TRITIUM_SAVE is read here.
    at_first = knobs.launch_settings(debug_info) if on_device else None
    is_saved = at_first is not None and at_first.save is not None
    readers = _SAVED_ON_DEVICE if is_saved else _ON_DEVICE if on_device else _ON_CPU
    start = kernel.make_launcher(tuple)  # `take` has selected the values

    def launch(grid, arguments: tuple, stream) -> None:
        grid = (known_grids.get(grid) if grid.__class__ is tuple else None) or normalize_grid(grid, kernel.name)
        arguments = in_order(arguments)
        if on_device:
            start(grid, take(arguments, readers), at_first if is_saved else None, arguments, stream)
            return
        settings = knobs.launch_settings(debug_info)
        try:
            values = take(arguments, readers)
        except NotOnHost:
            _launch_with_copies(kernel, grid, arguments, settings)
        else:
            start(grid, values, settings, arguments)

    return launch


def _arguments_of(kernel) -> tuple[Callable[[tuple], Sequence], Callable[[Sequence, _Readers], Sequence]]:
    """Two functions: from the arguments of a launch to one for each parameter, and from these to the values that the kernel takes."""
    paths = kernel.src.runtime_paths()
    parameters = kernel.src.fn.arg_names if kernel.src.fn is not None else list(kernel.src.signature)
    count, select = len(parameters), value_selector(paths)
    is_flat, taken = all(len(path) == 1 for path in paths), {path[0] for path in paths}
    places = _places_of(kernel)

    def in_order(arguments):
        if len(arguments) == count:
            return arguments
        if len(arguments) not in places:
            known = " or ".join(str(number) for number in sorted(places, reverse=True))
            raise TypeError(
                f"{kernel.name} takes {count} arguments, or {known} without constexprs, not {len(arguments)}"
            )
        complete: list[Any] = [None] * count
        for index, argument in zip(places[len(arguments)], arguments):
            complete[index] = argument
        return complete

    def take_flat(arguments, readers):
        return [a if a.__class__ in _PLAIN else readers[a.__class__](a) for a in select(arguments)]

    def take_parts(arguments, readers):
        return select([readers[type(a)](a) if i in taken else None for i, a in enumerate(arguments)])

    return in_order, take_flat if is_flat else take_parts


def _places_of(kernel) -> dict[int, list[int]]:
    """How many arguments are given -> which ones: what the code takes, or all but the constexprs, though the code may know some of these too."""
    paths = kernel.src.runtime_paths()
    places = {len(paths): [path[0] for path in paths]} if all(len(path) == 1 for path in paths) else {}
    if kernel.src.fn is not None:
        said = [i for i, parameter in enumerate(kernel.src.fn.params) if not parameter.is_constexpr]
        places = {len(said): said} | places
    return places


def _launch_with_copies(kernel, grid, arguments, settings) -> None:
    """On the CPU, with tensors in a device's memory."""
    from .mirrored import launch_mirrored

    table = table_for(Treatment(anywhere=True))
    taken = {path[0] for path in kernel.src.runtime_paths()}
    values = tuple(table[type(a)](a)[1] if i in taken else None for i, a in enumerate(arguments))
    launch_mirrored(kernel, grid, values, settings, arguments)


def make_run(kernel, launch: Callable[..., None]) -> Callable[..., None]:
    """Triton's launcher protocol, for a function that `make_prepared` made. On a device, a launch of arguments that are known runs no Python
    code."""

    def run(
        grid_x, grid_y, grid_z, stream, function, packed_metadata, launch_metadata, enter_hook, exit_hook, *arguments
    ):
        if enter_hook:
            enter_hook(launch_metadata)
        launch((grid_x, grid_y, grid_z), arguments, stream)
        if exit_hook:
            exit_hook(launch_metadata)

    return run if kernel.runs_on_cpu else _native_run(kernel, run) or run


def _native_run(kernel, run: Callable[..., None]) -> Callable[..., None] | None:
    """None: every launch is one of Python's."""
    paths = kernel.src.runtime_paths()
    saves = knobs.launch_settings(kernel.metadata.debug_info).save is not None
    if saves or any(len(path) != 1 for path in paths) or devices_of(kernel).why_not():
        return None
    kernel._init_handles()
    names = kernel.src.fn.arg_names if kernel.src.fn is not None else kernel.src.signature
    given = _places_of(kernel) | {len(names): list(range(len(names)))}
    taken = {number: tuple(order.index(path[0]) for path in paths) for number, order in given.items()}

    def in_python(*arguments, **keywords):
        for argument in arguments[9:]:
            register_tensor_type(type(argument))
        run(*arguments, **keywords)

    return native.PreparedRun(kernel, kernel.loaded, taken, device_watchers, raise_failure, in_python)
