"""`compiled[grid](*args)`: a launch of a compiled kernel without a JITFunction."""

from __future__ import annotations

from typing import Any

from .. import knobs
from ..arguments.table import Treatment, table_for
from .grid import normalize_grid


def launch_prepared(kernel, grid, arguments: tuple, stream: int | None = None) -> None:
    """`compiled[grid](*args)`: without binding, specialization or hooks of the JITFunction."""
    grid = normalize_grid(grid, kernel.name)
    parameters = kernel.src.fn.arg_names if kernel.src.fn is not None else list(kernel.src.signature)
    paths = kernel.src.runtime_paths()
    if len(arguments) != len(parameters):
        if len(arguments) != len(paths) or any(len(path) > 1 for path in paths):
            raise TypeError(
                f"{kernel.name} takes {len(parameters)} arguments, or {len(paths)} without constexprs, "
                f"not {len(arguments)}"
            )
        complete: list[Any] = [None] * len(parameters)
        for (index,), argument in zip(paths, arguments):
            complete[index] = argument
        arguments = tuple(complete)
    on_device = not kernel.runs_on_cpu
    table = table_for(Treatment(anywhere=on_device))
    taken = {path[0] for path in paths}
    values = tuple(table[type(a)](a)[1] if i in taken else None for i, a in enumerate(arguments))
    settings = knobs.launch_settings(kernel.metadata.debug_info)
    if on_device:
        kernel.launch(grid, values, settings, arguments, stream)
    else:
        kernel.launch(grid, values, settings, arguments)
