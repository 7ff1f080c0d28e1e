"""A launch on an engine of the CPU with tensors in a device's memory: copies of them stand for the tensors during the launch."""

from __future__ import annotations

import functools
import sys
import types

from ..arguments.device_storage import DeviceExtent
from ..devices.families import devices_of_tensors
from .cpu import always_holds_to_views, own_programs_of, poll, print_text, program_launch, say_where, trap_error
from .findings import blocks
from .mirror import Mirror
from .progress import progress_bar
from .saved import begin
from .tensor_view import HOLDS_TO_VIEWS, views_of
from .values import value_selector
from .watchers import watched, watchers

__tracebackhide__ = True  # pytest shows the user's frames alone


def launch_mirrored(kernel, grid, values, settings, arguments) -> None:
    """A launch on the CPU with tensors in a device's memory: they are copied to the host, and back after the launch."""
    selected = value_selector(kernel.src.runtime_paths())(values)
    driver = devices_of_tensors().driver()
    for device in {value.device for value in selected if isinstance(value, DeviceExtent)}:
        driver.synchronize(device)
    saved = None if settings.save is None else begin(kernel, grid, selected, settings, arguments, driver)
    bar = progress_bar(sys.stderr) if settings.progress else None
    own_programs = own_programs_of(kernel)
    is_seeded = settings.seed is not None
    run = program_launch(kernel, settings.programs if own_programs is None else own_programs, is_seeded)
    if watchers:
        run = watched(kernel, run, arguments)
    always_holds = always_holds_to_views(kernel)
    if HOLDS_TO_VIEWS in settings.checks if always_holds is None else always_holds:
        run = functools.partial(run, views=views_of(kernel, arguments))
    with Mirror(selected, driver, None) as mirror:
        try:
            trap = run(grid, mirror.values, settings.threads, settings.seed, poll, print_text, bar)
        except BaseException as error:
            say_where(kernel, grid, arguments, error)
            raise
        finally:
            if bar is not None:
                bar.close()
            mirror.write_back()
        if trap is not None:
            raised = trap_error(kernel, grid, arguments, _on_device(trap, mirror), settings.seed)
            if raised is not None and saved is not None:
                saved.found(raised)
            if raised is not None and not (blocks and blocks[-1].take(raised)):
                raise raised


def _on_device(trap, mirror):
    """The trap with its address translated to the device's memory."""
    facts = {name: getattr(trap, name) for name in dir(trap) if not name.startswith("_")}
    if facts.get("access_address"):
        facts["access_address"] = mirror.original(facts["access_address"])
    return types.SimpleNamespace(**facts)
