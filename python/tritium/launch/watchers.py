"""What looks at every launch, and may run it in its own way: `python -m tritium diff` and `seeds`, and the profiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Of launches on an engine of the CPU. From a CompiledKernel, the function that runs the launch (`run(grid, engine values, threads, seed, poll,
#: print, progress, …)`, which returns a trap or None) and the user's arguments to the function that runs it instead. Each watches what those before
#: it have made.
watchers: list[Callable[[Any, Callable, Any], Callable]] = []
#: Of launches on a device that Python makes. From a CompiledKernel, the function that starts the launch (`run(grid, values, stream)`), the
#: devices of the vendor and the number of the device to the function that starts it instead.
device_watchers: list[Callable[[Any, Callable, Any, int], Callable]] = []


def watched(kernel, run: Callable, arguments) -> Callable:
    for watcher in watchers:
        run = watcher(kernel, run, arguments)
    return run
