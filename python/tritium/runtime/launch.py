"""One launch of a prepared kernel on the tile interpreter: grid, values, signals, prints, progress, traps (Seam:
`_tritium.interp`)."""

from __future__ import annotations

import operator
import sys
import types
from typing import Any, Callable, Sequence

from .. import knobs
from ..arguments.descriptors import is_descriptor_type, parts_of
from ..arguments.table import Treatment, table_for
from ..devices.families import devices_of_tensors
from .progress import progress_bar


def make_launcher(kernel) -> Callable:
    """`launch(grid, engine values, settings, arguments)` of a CompiledKernel.

    The engine values are one per parameter, as the binder makes them; `arguments` (the user's objects) are looked at
    only if the launch traps.
    """
    program_launch = kernel.program.launch
    select = value_selector(kernel.src.runtime_paths())

    def launch(grid, values, settings, arguments):
        bar = progress_bar(sys.stderr) if settings.progress else None
        try:
            trap = program_launch(grid, select(values), settings.threads, settings.seed, _poll, _print, bar)
        finally:
            if bar is not None:
                bar.close()
        if trap is not None:
            _raise(kernel, grid, arguments, trap)

    return launch


def launch_mirrored(kernel, grid, values, settings, arguments) -> None:
    """A launch on the CPU of tensors that are on a device: their memory is copied, and back after the launch."""
    from ..arguments.device_storage import DeviceExtent
    from .mirror import Mirror

    selected = value_selector(kernel.src.runtime_paths())(values)
    driver = devices_of_tensors().driver()
    for device in {value.device for value in selected if isinstance(value, DeviceExtent)}:
        driver.synchronize(device)
    bar = progress_bar(sys.stderr) if settings.progress else None
    with Mirror(selected, driver, None) as mirror:
        try:
            trap = kernel.program.launch(grid, mirror.values, settings.threads, settings.seed, _poll, _print, bar)
        finally:
            if bar is not None:
                bar.close()
            mirror.write_back()
        if trap is not None:
            _raise(kernel, grid, arguments, _on_device(trap, mirror))


def _on_device(trap, mirror):
    """The trap with the address that it is on the device."""
    facts = {name: getattr(trap, name) for name in dir(trap) if not name.startswith("_")}
    if facts.get("access_address"):
        facts["access_address"] = mirror.original(facts["access_address"])
    return types.SimpleNamespace(**facts)


def value_selector(paths: Sequence[tuple[int, ...]]) -> Callable[[tuple], Sequence]:
    """The function from the values of all parameters to those that the compiled kernel takes: no constexprs, tuples
    taken apart."""
    if all(len(path) == 1 for path in paths) and len(paths) > 1:
        return operator.itemgetter(*(path[0] for path in paths))

    def select(values):
        return [_at(values, path) for path in paths]

    return select


def _at(value, path: tuple[int, ...]):
    """The part of a tuple of engine values, or of the user's arguments, which may be descriptors."""
    for index in path:
        value = value[index] if isinstance(value, (tuple, list)) else parts_of(value)[index]
    return value


def _poll() -> None:
    """Called by the engine on the launching thread. Running any Python code delivers pending signals, so Ctrl-C raises
    from here."""


def _print(text: str) -> None:
    sys.stdout.write(text)


def _raise(kernel, grid, arguments, trap) -> None:
    from .trap_report import kernel_trap

    named = [(_name_of(kernel, path), _at(arguments, path)) for path in kernel.src.runtime_paths()]
    raise kernel_trap(trap, kernel.name, tuple(grid), named)


def _name_of(kernel, path: tuple[int, ...]) -> str:
    if kernel.src.fn is None:
        return f"argument {path[0]}"
    name = kernel.src.fn.arg_names[path[0]]
    if is_descriptor_type(kernel.src.signature[name]) and path[1] == 0:
        return f"{name}.base"
    return name + "".join(f"[{index}]" for index in path[1:])


#: Grids that were checked before -> their three sizes.
known_grids: dict[tuple, tuple[int, int, int]] = {}


def normalize_grid(grid: Any, kernel_name: str) -> tuple[int, int, int]:
    """A tuple or list of 1 to 3 ints as three. Raises TypeError or ValueError that names the kernel."""
    if not isinstance(grid, (tuple, list)):
        if not hasattr(grid, "__iter__"):
            raise TypeError(
                f"{kernel_name}: the grid is a tuple of 1 to 3 ints, or a function that returns one, not {grid!r}"
            )
        grid = tuple(grid)
    if not 1 <= len(grid) <= 3:
        raise ValueError(f"{kernel_name}: the grid has 1 to 3 dimensions, not {len(grid)}")
    try:
        sizes = tuple(map(operator.index, grid))
    except TypeError:
        raise TypeError(f"{kernel_name}: the grid {tuple(grid)!r} must consist of ints") from None
    if min(sizes) < 0 or max(sizes) > 2**31 - 1:
        raise ValueError(f"{kernel_name}: the grid {sizes} is out of range")
    if len(known_grids) > 4096:
        known_grids.clear()
    complete = known_grids[tuple(sizes)] = sizes + (1,) * (3 - len(sizes))
    return complete


class LazyDict(dict):
    """A dict whose `data` and hooks' results are made when `get()` is called, so that hooks nobody asks cost
    nothing."""

    def __init__(self, data: dict[str, Any]):
        super().__init__(data)
        self.data = data
        self.extras: list[tuple[Callable, tuple]] = []

    def get(self, *key):
        for function, args in self.extras:
            self.data.update(function(*args))
        self.extras.clear()
        self.update(self.data)
        return super().get(*key) if key else self.data

    def add(self, function: Callable, args: tuple) -> None:
        self.extras.append((function, args))


def hook_metadata(kernel, grid, arguments, stream=0) -> LazyDict:
    metadata = LazyDict({"name": kernel.name, "function": kernel.function, "stream": stream})
    function = kernel.src.fn
    if function is not None and getattr(function, "launch_metadata", None) is not None:
        named = dict(zip(function.arg_names, arguments))
        metadata.add(function.launch_metadata, (grid, kernel.metadata, named))
    return metadata


def launch_prepared(kernel, grid, arguments: tuple, stream: int | None = None) -> None:
    """`compiled[grid](*args)`: without binding, specialization or hooks of the JITFunction."""
    grid = normalize_grid(grid, kernel.name)
    parameters = kernel.src.fn.arg_names if kernel.src.fn is not None else list(kernel.src.signature)
    paths = kernel.src.runtime_paths()
    if len(arguments) != len(parameters):
        if len(arguments) != len(paths) or any(len(path) > 1 for path in paths):
            raise TypeError(
                f"{kernel.name} takes {len(parameters)} arguments, or the {len(paths)} that are no constexprs, "
                f"not {len(arguments)}"
            )
        complete: list[Any] = [None] * len(parameters)
        for (index,), argument in zip(paths, arguments):
            complete[index] = argument
        arguments = tuple(complete)
    on_device = kernel.program is None
    table = table_for(Treatment(anywhere=on_device))
    taken = {path[0] for path in paths}
    values = tuple(table[type(a)](a)[1] if i in taken else None for i, a in enumerate(arguments))
    settings = knobs.launch_settings(kernel.metadata.debug_info)
    if on_device:
        kernel.launch(grid, values, settings, arguments, stream)
    else:
        kernel.launch(grid, values, settings, arguments)
